//go:build foretick_debug

package inspect

// debugNote marks the bytes of a debug build, which are not those of the game.
const debugNote = " (debug build: several times the usual)"
