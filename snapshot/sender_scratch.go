package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// senderScratch is memory that a sender needs only while it makes a snapshot. Senders with the
// same cache share it. So it stays in the processor's cache, and each sender takes less
// memory.
type senderScratch struct {
	births   []int32
	cands    []candidate
	places   []uint16   // their turns, see order
	turns    []uint16   // their places, in the order of choice
	herds    []herdItem // candidates of groups, by group
	first    []herdItem // and those that go before all others
	leaving  []schema.WireID
	runs     []span
	expected []expected
	code     coder.Encoder // the records that are not in the cache
	again    coder.Encoder // scratch of the profile
	prof     *Profile      // while a record is coded once more to be counted
	head     coder.Encoder // the structure around them
	rc       coder.RangeEncoder
	alone    int // bits of the longest record that fits into a snapshot
	used     int // bits of the chosen records
	picked   int // pieces in the snapshot
	load     int // see pieceLoad
}

// borrowScratch uses the cache's scratch.
func (s *Sender) borrowScratch() {
	s.senderScratch = &s.cache.scratch
	var stat *coder.Tally
	if st := s.cfg.Statistics; st != nil {
		stat = &st.counts
	}
	for _, c := range []*coder.Encoder{&s.code, &s.head} {
		c.Tables, c.Tally = s.src.reg.Tables, stat
	}
}

// counts reports whether something is counted while records are made.
func (s *Sender) counts() bool { return s.code.Tally != nil || s.prof != nil }
