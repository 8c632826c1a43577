//go:build !race

package nettest

// slower is by how much bounds on time are wider.
const slower = 1
