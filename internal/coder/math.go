package coder

import "math/bits"

// Width returns the number of bits that a value of the range takes.
func Width(lo, hi int64) int { return bits.Len64(uint64(hi - lo)) }

// Wrap brings d into [−n/2, n/2), n being a power of two.
func Wrap(d, n int64) int64 { return (d+n/2)&(n-1) - n/2 }
