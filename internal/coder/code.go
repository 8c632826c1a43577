package coder

import "math"

// Kind selects the computation of a word's difference.
type Kind uint8

const (
	Plain Kind = iota // difference of integers, wrapping at 32 bits
	Angle             // difference on a circle
	Float             // difference of float32 bits in the order of the numbers
	Ref               // not a difference: a wire id
	Text              // not a difference: a string
)

// Code describes the coding of one word for one audience.
type Code struct {
	Kind   Kind
	High   bool // High is true for the upper half of a float64, which may not be NaN or infinite.
	Word   int
	Lo, Hi int64 // Lo and Hi bound the allowed values as int32 words. Lo > Hi means that all are allowed.
	Size   int   // Size is the number of bits of the greatest sensible code.
}

const MaxVector = 8 // most words of a vector

// InRun reports whether a word may be part of a run.
func (c *Code) InRun() bool { return (c.Kind == Plain || c.Kind == Angle) && !c.High }

// RunWord returns the word as a run needs it.
func (c *Code) RunWord() RunWord {
	k := RunWord{flag: c.Bit(), mask: -1, least: math.MinInt32, most: math.MaxInt32}
	if c.Lo <= c.Hi {
		k.least, k.most = int32(c.Lo), int32(c.Hi)
		if c.Kind == Angle {
			k.mask, k.half = int32(c.Hi-c.Lo), int32(-c.Lo)
		}
	}
	return k
}

// Residual returns the signed difference from p to v.
func (c *Code) Residual(p, v int32) int32 {
	switch c.Kind {
	case Angle:
		return int32(Wrap(int64(v)-int64(p), c.Hi-c.Lo+1))
	case Float:
		return ordered(v) - ordered(p)
	default:
		return v - p
	}
}

// addResidual is the inverse of Residual. It returns false if the value is not allowed.
func (c *Code) addResidual(p, d int32) (int32, bool) {
	switch c.Kind {
	case Angle:
		n := c.Hi - c.Lo + 1
		return int32((int64(p)+int64(d)-c.Lo)&(n-1) + c.Lo), true
	case Float:
		v := ordered(ordered(p) + d) // ordered is its own inverse
		return v, v&0x7f800000 != 0x7f800000
	}
	v := p + d
	if c.Lo <= c.Hi {
		return v, int64(v) >= c.Lo && int64(v) <= c.Hi // a difference may wrap
	}
	return v, !c.High || v&0x7ff00000 != 0x7ff00000
}

// ordered maps float32 bits to integers in the order of the numbers, and back.
func ordered(v int32) int32 { return v ^ (v>>31)&math.MaxInt32 }

// Holds reports whether the code allows a word.
func (c *Code) Holds(v int32) bool {
	switch {
	case c.Kind == Ref:
		return v == 0
	case c.Kind == Float:
		return v&0x7f800000 != 0x7f800000
	case c.Lo <= c.Hi:
		return int64(v) >= c.Lo && int64(v) <= c.Hi
	}
	return !c.High || v&0x7ff00000 != 0x7ff00000
}
