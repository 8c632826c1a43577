//go:build !foretick_debug

package observe

// debugBuild makes a panic while a packet is read end the program, instead of the connection.
const debugBuild = false
