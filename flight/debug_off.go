//go:build !foretick_debug

package flight

var debugBuild = false
