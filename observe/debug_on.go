//go:build foretick_debug

package observe

// debugBuild lets a panic in the reading of a packet through.
const debugBuild = true
