package foretick

import (
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
)

// playerCounts are the corrections that a player's client reported on its connection.
type playerCounts struct {
	connection uint64
	said       reason.Counts
	counted    uint64 // in the figures
}

// takeCounts handles a client's counts of its corrections, in packet b. They go into the figures and
// nowhere else. A client corrects itself at most once for each of the server's ticks, so no more
// than that is counted, whatever it says.
func (s *Server) takeCounts(p *player, body, b []byte) error {
	if p.observing != nil {
		return netcode.ErrMalformed
	}
	var said reason.Counts
	err := s.decode(p, b, func() (err error) { said, err = reason.ParseCounts(body); return err })
	if err != nil || p.session.poisoned {
		return err
	}
	c := &p.counts
	if c.connection != p.session.connection {
		*c = playerCounts{connection: p.session.connection}
	}
	more, ok := said.Since(&c.said)
	if !ok {
		return nil
	}
	c.said = said
	ticks := uint64(max(s.clock.now-p.session.came, 0)/s.clock.interval) + 1
	for i, n := range more {
		n := min(uint64(n), ticks-min(c.counted, ticks))
		c.counted += n
		s.figures.counted.Corrections[i] += n
	}
	return nil
}
