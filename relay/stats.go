package relay

import (
	"errors"
	"sync"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
)

// Stats are a relay's figures. The first five are of now. All others count since New, over all
// matches.
type Stats struct {
	Tick      netcode.Tick // Tick is the newest settled tick of the match.
	Players   int          // Players is how many players are in the match, with those whose places are held.
	Held      int          // Held is how many players of the match have no connection.
	Observers int          // Observers is how many peers watch.
	Waiting   int          // Waiting is how many peers wait for a world.

	Ticks uint64 // Ticks counts settled ticks.
	// Waited counts ticks that settled because Config.Wait was over. Each of them held up all players.
	Waited uint64
	// StoodIn counts inputs that came too late or not at all, so that another one was used.
	StoodIn uint64
	Late    uint64 // Late counts inputs that were dropped because their tick was settled.

	Joined  uint64 // Joined counts players that joined a match.
	Left    uint64 // Left counts players that left a match.
	Resumed uint64 // Resumed counts how often a player came back to its place.
	Refused uint64 // Refused counts peers that were refused.
	Worlds  uint64 // Worlds counts worlds that were passed on to peers that joined late.
	// WorldsFailed counts peers that were dropped because no world reached them in time. They were told why.
	WorldsFailed uint64
	Lies         uint64 // Lies counts worlds that were refused because most players have another one.
	Compared     uint64 // Compared counts ticks whose sums of the players' worlds were compared.
	Differed     uint64 // Differed counts ticks in Compared in which a player's world differed.
	Malformed    uint64 // Malformed counts packets and messages that were dropped because they could not be read.

	PacketsIn, PacketsOut uint64 // PacketsIn and PacketsOut count packets received and sent.
	BytesIn, BytesOut     uint64 // BytesIn and BytesOut count their bytes, without the transport's headers.
}

// String returns all figures that are not zero, on one line.
func (s Stats) String() string { return counts.Line(s) }

// add adds what the parts of a match have counted.
func (s *Stats) add(m *match) {
	s.Ticks += uint64(m.settling.newest)
	s.Waited += m.settling.waited
	s.StoodIn += m.places.stoodIn
	s.Late += m.places.lateInputs()
	s.Joined += m.places.joins
	s.Left += m.places.leaves
	s.Worlds += m.worlds.passed
	s.WorldsFailed += m.worlds.failed
	s.Lies += m.worlds.lies
	s.Compared += m.sums.compared
	s.Differed += m.sums.differed
}

// shownStats are the figures that other goroutines see.
type shownStats struct {
	mu sync.Mutex
	s  Stats
}

// show publishes the figures for other goroutines.
func (r *Relay) show() {
	s := r.counted
	if m := r.match; m != nil {
		s.add(m)
		s.Tick, s.Players, s.Waiting = m.settling.newest, m.settling.players(), len(m.worlds.queue)+len(m.worlds.taking)
		for i := range m.places.all {
			if pl := &m.places.all[i]; pl.joined && pl.guest == nil {
				s.Held++
			}
		}
	}
	s.Observers = r.guests.observers()
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	r.shown.s = s
}

// Stats returns the figures as of the newest Step. Any goroutine may call it.
func (r *Relay) Stats() Stats {
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	return r.shown.s
}

// Figures fills dst with those figures that servers have too, for a host. Any goroutine may call it.
func (r *Relay) Figures(dst *stats.Server) {
	s := r.Stats()
	*dst = stats.Server{Players: s.Players - s.Held, Held: s.Held, Observing: s.Observers}
	dst.Ticks, dst.InputsMissing, dst.Malformed = s.Ticks, s.StoodIn, s.Malformed
	dst.PacketsIn, dst.PacketsOut, dst.BytesIn, dst.BytesOut = s.PacketsIn, s.PacketsOut, s.BytesIn, s.BytesOut
	dst.Joined, dst.Left, dst.Resumed, dst.Refused = s.Joined, s.Left, s.Resumed, s.Refused
}

// isMalformed returns 1 for an error that says that bytes could not be read.
func isMalformed(err error) int {
	if errors.Is(err, netcode.ErrMalformed) {
		return 1
	}
	return 0
}
