//go:build !race

package nettest

// slower is the factor by which time limits are wider.
const slower = 1
