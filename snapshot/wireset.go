package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/schema"
)

// wireSet is a set of wire ids, a bit for each.
type wireSet []uint64

func (b wireSet) has(w schema.WireID) bool { return b[w>>6]>>(w&63)&1 != 0 }

func (b wireSet) add(w schema.WireID) { b[w>>6] |= 1 << (w & 63) }

func (b wireSet) drop(w schema.WireID) { b[w>>6] &^= 1 << (w & 63) }

func (b wireSet) put(w schema.WireID, is bool) {
	if is {
		b.add(w)
	} else {
		b.drop(w)
	}
}

// nextWire returns the first number at or after w in a set of the given words, or −1. f
// returns each word.
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
