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
	places   []uint16   // places has the place of each candidate: see order.
	turns    []uint16   // turns has the indexes of the candidates in the order of choice.
	herds    []herdItem // herds has the candidates of groups, sorted by group.
	first    []herdItem // first has the candidates that go before all others.
	leaving  []schema.WireID
	runs     []span
	expected []expected
	code     coder.Encoder // code holds the records that are not in the cache.
	again    coder.Encoder // again is memory for records that the profile codes once more.
	prof     *Profile      // prof is set while a record is coded once more to be counted.
	head     coder.Encoder // head holds the parts of a snapshot around its records.
	rc       coder.RangeEncoder
	alone    int // alone is the size in bits of the longest record that fits into a snapshot.
	used     int // used is the size in bits of the chosen records.
	picked   int // picked is the number of pieces in the snapshot.
	load     int // load is the sum of pieceLoad over the pieces in the snapshot.
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
