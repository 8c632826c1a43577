//go:build foretick_debug

package flight

var debugBuild = true
