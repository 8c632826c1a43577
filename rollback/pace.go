package rollback

import (
	"time"

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
	heard  foretick.Tick // heard is the tick of the relay's clock in the newest head that came.
	target foretick.Tick // target is the tick that is due in the running Step, ahead of the settled ones.
}

// hear takes the head of settled ticks that arrived. newest is the newest settled tick.
func (p *pace) hear(l *link, h *settled.Head, newest foretick.Tick) {
	p.heard = h.Clock
	p.clock.Snapshot(l.now, h.Clock, h.Early, h.HasEarly, l.conn.RTT(), 0)
	// While the peer catches up, what it lacks says nothing about the path. After a full message there are more ticks.
	if lacks := int32(h.Clock - newest); p.time.Started && h.Count < settled.MaxTicks && lacks <= int32(p.delay.window)+int32(p.delay.rate/8) {
		p.delay.settled(int(int32(p.time.Command - newest)))
	}
}

// settles returns the newest tick that may be settled now, of those up to newest that were received.
func (p *pace) settles(newest foretick.Tick) foretick.Tick {
	if !p.even {
		return earlier(newest, p.target) // with more input delay than the path needs, a tick waits for its time
	}
	return earlier(newest, p.due())
}

// waits reports whether settled ticks are due that did not arrive.
func (p *pace) waits(newest foretick.Tick) bool { return p.even && int32(p.due()-newest) > 0 }

// due returns the settled tick that is due where settled ticks run evenly. The clock counts on the tick after the
// rendered one to be there, because what is drawn between two states needs both.
func (p *pace) due() foretick.Tick { return p.time.Render + 1 - p.behind }

// advance goes on to a time.
func (p *pace) advance(now time.Duration) {
	p.time = p.clock.Advance(now)
	if p.time.Started && !p.even {
		p.target = p.time.Command - foretick.Tick(p.delay.follow(p.time.Command))
	}
}

func earlier(a, b foretick.Tick) foretick.Tick {
	if int32(a-b) < 0 {
		return a
	}
	return b
}
