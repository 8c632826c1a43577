//go:build !foretick_debug

package main

// debugBuild says whether these tests run in a build that checks systems: it sends more bytes
// and allocates.
const debugBuild = false
