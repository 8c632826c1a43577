package foretick

import (
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// lapsed is why a connection ends after a silence that its numbers do not span.
const lapsed = "silent for longer than packet numbers last: ClientConfig.Redial brings the player back"

// mostLevels is how many levels a player may miss on one connection: a quarter of the circle of
// their epochs.
const mostLevels = 64

// lapsed reports whether a player that is heard again was away for too long to understand what
// this connection sends, or to be understood.
func (p *player) lapsed() bool { return p.session.conn.Lapsed() || p.outbox.levels > mostLevels }

// dropLapsed ends the connection of a player that lapsed, and holds its place. One that cannot
// have sent so many packets since it was heard broke a rule.
func (s *Server) dropLapsed(t time.Duration, p *player) {
	least := netcode.LongestSilence * s.clock.interval / packetsTick
	if p.outbox.levels <= mostLevels && p.session.conn.Silent(t) < least && s.clock.rested(guard.DefaultTimeout) {
		p.faults.why = "a sequence number that is far away"
		s.offend(p)
		return
	}
	s.drop(p, transport.Timeout, lapsed)
}
