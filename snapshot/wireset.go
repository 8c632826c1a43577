package snapshot

import "math/bits"

// wireSet is a set of wire ids, a bit for each.
type wireSet []uint64

func (b wireSet) has(w WireID) bool { return b[w>>6]>>(w&63)&1 != 0 }

func (b wireSet) add(w WireID) { b[w>>6] |= 1 << (w & 63) }

func (b wireSet) drop(w WireID) { b[w>>6] &^= 1 << (w & 63) }

func (b wireSet) put(w WireID, is bool) {
	if is {
		b.add(w)
	} else {
		b.drop(w)
	}
}

// nextWire returns the first number at or after w in a set of that many words, of
// which f gives each, or −1.
func nextWire(words int, w int, f func(i int) uint64) int {
	for i := w >> 6; i < words; i++ {
		m := f(i)
		if i == w>>6 {
			m &= ^uint64(0) << (w & 63)
		}
		if m != 0 {
			return i<<6 + bits.TrailingZeros64(m)
		}
	}
	return -1
}
