package netcode

import "golang.org/x/exp/constraints"

// Tick counts steps of the simulation at a fixed rate.
type Tick = uint32

// Seq numbers the packets of one direction of a connection. It wraps; compare
// with [Newer].
type Seq = uint16

// Newer reports whether a comes after b on a circle of numbers: a is ahead of b
// by less than half the circle (serial number arithmetic, RFC 1982). Equal
// numbers, and numbers exactly half the circle apart, are not newer either way.
func Newer[S constraints.Unsigned](a, b S) bool {
	d := a - b
	return d != 0 && d <= ^S(0)>>1
}

// Distance returns how many steps a is ahead of b on a circle of numbers;
// negative when a is behind b. Exactly half the circle counts as behind.
func Distance[S constraints.Unsigned](a, b S) int {
	if d := a - b; d <= ^S(0)>>1 {
		return int(d)
	}
	return -int(b - a)
}
