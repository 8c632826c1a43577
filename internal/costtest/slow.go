//go:build race || js

package costtest

const slower = 10 // for the race detector, and for WebAssembly, whose clock also counts other programs' work
