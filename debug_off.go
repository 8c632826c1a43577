//go:build !foretick_debug

package foretick

// debugBuild has both ends hash what is predicted after each shared system.
const debugBuild = false
