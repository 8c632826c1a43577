package rollbacktest

import (
	"fmt"
	"time"
)

// Outcome is the result of playing a plan.
type Outcome struct {
	Seed      uint64        // Seed is the seed of the match.
	Trace     [32]byte      // Trace is a digest of the whole match: of all packets and their times.
	Played    time.Duration // Played is the length of the match in virtual time.
	Ticks     uint64        // Ticks counts ticks that ran for the first time, over all peers.
	Reruns    uint64        // Reruns counts ticks that ran again, over all peers.
	Rollbacks uint64        // Rollbacks counts how often a world went back, over all peers.
	Deepest   uint64        // Deepest is the most ticks that a rollback undid.
	Stalls    uint64        // Stalls counts how often a peer waited for an input.
	StandIns  uint64        // StandIns counts inputs that the relay did not have in time.
	Sums      uint64        // Sums counts ticks whose worlds were compared in play.
	Joins     int           // Joins counts players that came to play, also those of the beginning.
	Observers int           // Observers counts spectators that came to watch.
	Leaves    int           // Leaves counts peers that left.
	Hides     int           // Hides counts freezes of a peer.
	Drops     int           // Drops counts lost connections.
	Worlds    uint64        // Worlds counts worlds that were received to join late.
	Replayed  uint64        // Replayed counts ticks of replays whose worlds were compared.

	// ReplayBytes is the size of the longest replay.
	ReplayBytes int
	// Unset has the fields of the command that no player ever set. Unmatched has the systems that matched no row after
	// any tick. Systems that run once a tick, without rows, are left out.
	Unset, Unmatched []string
}

// String returns a one-line summary of the outcome.
func (o Outcome) String() string {
	return fmt.Sprintf("seed %d, trace %x…: %v, %d ticks, %d ran again in %d rollbacks of up to %d, %d stalls, %d stand-ins, %d sums compared, %d joins, %d spectators, %d worlds received, %d leaves, %d hides, %d connections lost; replays of up to %d bytes, %d worlds compared",
		o.Seed, o.Trace[:6], o.Played, o.Ticks, o.Reruns, o.Rollbacks, o.Deepest, o.Stalls, o.StandIns, o.Sums, o.Joins, o.Observers, o.Worlds, o.Leaves, o.Hides, o.Drops, o.ReplayBytes, o.Replayed)
}

// countJoin counts a peer that came.
func (o *Outcome) countJoin(observes bool) {
	if observes {
		o.Observers++
	} else {
		o.Joins++
	}
}

// addPeer adds the counters of a peer that is done.
func (o *Outcome) addPeer(s *seat) {
	st := s.peer.Stats()
	o.Ticks += st.Ticks
	o.Reruns += st.Reruns
	o.Rollbacks += st.Rollbacks
	o.Deepest = max(o.Deepest, st.Deepest)
	o.Stalls += st.Stalls
	o.StandIns += st.StandIns
	o.Worlds += st.Worlds
}

// completeOutcome adds what is still there at the end.
func (m *match) completeOutcome() {
	for _, s := range m.seats {
		m.out.addPeer(s)
	}
	m.out.Played, m.out.Sums = m.net.Now(), m.relay.Stats().Compared
	m.trace.Sum(m.out.Trace[:0])
}
