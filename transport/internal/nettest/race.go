//go:build race

package nettest

// slower is the factor by which time limits are wider: the race detector makes a handshake many
// times slower.
const slower = 3
