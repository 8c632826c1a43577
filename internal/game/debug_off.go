//go:build !foretick_debug

package game

// DebugBuild has both ends hash what is predicted after each shared system.
const DebugBuild = false
