package netcode

// tickSet is a set of ticks that lie less than its size from one another: a bit
// for each. Who leaves the span must be removed.
type tickSet []uint64

// newTickSet makes one for n ticks.
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
