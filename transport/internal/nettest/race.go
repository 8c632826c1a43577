//go:build race

package nettest

// slower is by how much bounds on time are wider: the race detector makes a handshake many times slower.
const slower = 3
