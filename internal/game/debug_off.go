//go:build !foretick_debug

package game

// DebugBuild makes both ends hash predicted state after each shared system.
const DebugBuild = false
