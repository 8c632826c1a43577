package netcode

// tickSet is a bit set of ticks that are less than its size apart. The caller
// removes ticks that leave the span.
type tickSet []uint64

// newTickSet returns a set for n ticks.
func newTickSet(n int) tickSet {
	words := 1
	for words<<6 < n {
		words <<= 1
	}
	return make(tickSet, words)
}

func (s tickSet) size() int { return len(s) << 6 }

func (s tickSet) has(t Tick) bool { return s[int(t>>6)&(len(s)-1)]&(1<<(t&63)) != 0 }
func (s tickSet) add(t Tick)      { s[int(t>>6)&(len(s)-1)] |= 1 << (t & 63) }
func (s tickSet) remove(t Tick)   { s[int(t>>6)&(len(s)-1)] &^= 1 << (t & 63) }
