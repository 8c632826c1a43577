package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

// pace says when ticks are due: those to make commands for, those to predict, and in lockstep and for spectators
// the settled ones.
type pace struct {
	clock  *netcode.Clock // clock is nil before the relay's time is known.
	delay  delay
	time   netcode.Time // time is that of the running Step.
	even   bool         // even is true if settled ticks run evenly, and nothing is predicted.
	behind foretick.Tick
}

// hear takes the head of settled ticks that arrived. newest is the newest settled tick.
func (p *pace) hear(l *link, h *settled.Head, newest foretick.Tick) {
	p.clock.Snapshot(l.now, h.Clock, h.Early, h.HasEarly, l.conn.RTT(), 0)
	if p.time.Started {
		p.delay.settled(int(int32(p.time.Command - newest)))
	}
}

// settles returns the newest tick that may be settled now, of those up to newest that were received.
func (p *pace) settles(newest foretick.Tick) foretick.Tick {
	if !p.even {
		return newest
	}
	return earlier(newest, p.time.Render-p.behind)
}

// waits reports whether settled ticks are due that did not arrive.
func (p *pace) waits(newest foretick.Tick) bool {
	return p.even && int32(p.time.Render-p.behind-newest) > 0
}

// predicts returns the tick that is due ahead of the settled ones.
func (p *pace) predicts() foretick.Tick {
	return p.time.Command - foretick.Tick(p.delay.follow(p.time.Command))
}

func earlier(a, b foretick.Tick) foretick.Tick {
	if int32(a-b) < 0 {
		return a
	}
	return b
}
