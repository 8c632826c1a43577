package snapshot

// desk is what a sender needs only while it makes a snapshot. Senders that share a
// cache share it, so that it stays in the processor's own, and each takes less memory.
type desk struct {
	births   []int32
	cands    []candidate
	places   []uint16   // their turns, see order
	turns    []uint16   // their places, in the order in which they are chosen
	herds    []herdItem // candidates of groups, by group
	first    []herdItem // and those that go before all others
	leaving  []WireID
	runs     []span
	expected []expected
	code     coder // the records that are not in the cache
	again    coder // scratch of the profile
	head     coder // the structure around them
	rc       rangeEncoder
}

// sit takes the cache's desk.
func (s *Sender) sit() {
	s.desk = &s.cache.desk
	for _, c := range []*coder{&s.code, &s.head} {
		c.tab, c.stat = s.src.reg.tab, s.cfg.Statistics
	}
}
