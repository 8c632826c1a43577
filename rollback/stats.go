package rollback

import "github.com/foretick/foretick/internal/counts"

// Stats counts what a peer did since it was made.
type Stats struct {
	Ticks     uint64 // Ticks counts ticks that ran for the first time.
	Reruns    uint64 // Reruns counts ticks that ran again.
	Rollbacks uint64 // Rollbacks counts how often the world went back.
	Deepest   uint64 // Deepest is the most ticks that a rollback undid.
	Stalls    uint64 // Stalls counts how often the match waited for an input.
	// StalledSteps counts the Steps in which the match waited.
	StalledSteps uint64
	StandIns     uint64 // StandIns counts own inputs that the relay did not have in time.
	Sums         uint64 // Sums counts worlds that were summed, to compare them with other peers'.
	Desyncs      uint64 // Desyncs counts messages of the relay that a world differs from another peer's.
	Worlds       uint64 // Worlds counts worlds that were received to join late.
	Connections  uint64 // Connections counts connections to the relay.
	Malformed    uint64 // Malformed counts packets of the relay that could not be read.
	BytesIn      uint64 // BytesIn counts the bytes of datagrams that arrived.
	BytesOut     uint64 // BytesOut counts the bytes of datagrams that were sent.

	waiting bool
}

// String returns all counters that are not zero, on one line.
func (s Stats) String() string { return counts.Line(s) }

// count counts what a view shows.
func (s *Stats) count(v *View) {
	if v.Waiting {
		s.StalledSteps++
		if !s.waiting {
			s.Stalls++
		}
	}
	s.waiting = v.Waiting
}

// Stats returns the figures of the peer.
func (p *Peer) Stats() Stats {
	s, c, l := p.stats, &p.sim.counts, &p.link.counts
	s.Ticks, s.Reruns, s.Rollbacks, s.Deepest = c.ticks-c.again, c.again, c.rollbacks, c.deepest
	s.Sums = p.sim.sums.taken
	s.Connections, s.Malformed, s.BytesIn, s.BytesOut = l.connections, l.malformed, l.bytesIn, l.bytesOut
	return s
}
