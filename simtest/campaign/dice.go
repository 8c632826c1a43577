package campaign

import "math/rand/v2"

// dice makes the random decisions of rogues. They are drawn from a seed, or read
// from the bytes of a fuzzer.
type dice struct {
	rand  *rand.Rand // source of decisions; nil: they are read from bytes
	bytes []byte
}

func newDice(seed, stream uint64) *dice { return &dice{rand: rand.New(rand.NewPCG(seed, stream))} }

// spent reports whether a fuzzer's bytes are used up.
func (d *dice) spent() bool { return d.rand == nil && len(d.bytes) == 0 }

// bits draws a number of n bits, 1 to 64.
func (d *dice) bits(n int) uint64 {
	if d.rand != nil {
		return d.rand.Uint64() >> (64 - n)
	}
	v := uint64(0)
	for at := 0; at < n && len(d.bytes) > 0; at += 8 {
		v |= uint64(d.bytes[0]) << at
		d.bytes = d.bytes[1:]
	}
	return v & (1<<n - 1) // 1<<64 is 0, and 0−1 has all bits set
}

// n draws a number below n.
func (d *dice) n(n int) int {
	switch {
	case n < 2:
		return 0
	case d.rand != nil:
		return d.rand.IntN(n)
	case n <= 1<<8:
		return int(d.bits(8)) % n
	}
	return int(d.bits(16)) % n
}

// one returns true once in n times on average.
func (d *dice) one(n int) bool { return d.n(n) == 0 }

// low draws a number below n, with a preference for small ones.
func (d *dice) low(n int) int { return d.n(d.n(n) + 1) }

// edges are distances at which arithmetic on a circle of 16 or 32 bits, a window
// or a buffer may go wrong.
var edges = [...]uint32{
	0, 1, 2, 8, 30, 31, 32, 33, 34, 60, 62, 63, 64, 65, 118, 119, 120, 121, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049,
	4095, 4096, 4097, 8191, 8192, 8193, 1<<15 - 33, 1<<15 - 2, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1<<16 - 1, 1 << 16,
	1<<31 - 2, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 2, 1<<32 - 1,
}

// number draws a number near x, an extreme one, or any.
func (d *dice) number(x uint32) uint32 {
	switch d.n(8) {
	case 0:
		return uint32(d.bits(32))
	case 1, 2:
		return edges[d.n(len(edges))]
	case 3:
		return x - edges[d.n(len(edges))]
	}
	return x + edges[d.n(len(edges))]
}

func (d *dice) number16(x uint16) uint16 { return uint16(d.number(uint32(x))) }

// long draws a number of up to 64 bits.
func (d *dice) long() uint64 {
	if d.one(2) {
		return d.bits(64) >> d.n(64)
	}
	return uint64(1)<<d.n(64) + [...]uint64{0, ^uint64(0), 1}[d.n(3)]
}

// appendBytes appends n bytes: random ones, all equal, or zeros.
func (d *dice) appendBytes(b []byte, n int) []byte {
	switch d.n(4) {
	case 0:
		for range n {
			b = append(b, byte(d.bits(8)))
		}
	case 1:
		for range n {
			b = append(b, 0xff)
		}
	default:
		for range n {
			b = append(b, 0)
		}
	}
	return b
}
