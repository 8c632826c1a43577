//go:build !foretick_debug

package flight

const debugBuild = false
