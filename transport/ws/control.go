package ws

import "github.com/foretick/foretick/transport"

// allowance is how many more control messages a peer may send now. One message costs ticksASecond parts; each tick
// adds rate parts.
type allowance struct {
	parts int
	at    uint32 // when parts was computed, in ticks
	begun bool   // at and parts are set
}

const (
	ticksASecond = 20 // ticks of tickTime in a second
	saved        = 2  // seconds whose messages a silent peer may save up
)

// takeMessage takes the cost of one message, and reports whether that much was left.
func (a *allowance) takeMessage(now uint32, rate int) bool {
	full := saved * ticksASecond * rate
	if passed := now - a.at; !a.begun || passed >= saved*ticksASecond {
		a.parts = full
	} else {
		a.parts = min(full, a.parts+int(passed)*rate)
	}
	a.at, a.begun = now, true
	if a.parts < ticksASecond {
		return false
	}
	a.parts -= ticksASecond
	return true
}

// tolerated drops a peer that sends too many pings, pongs and keep-alives, and reports whether the peer may stay.
func (e *Endpoint) tolerated(p *peer) bool {
	if e.cfg.ControlRate < 0 || p.control.takeMessage(e.clock.Load(), e.cfg.ControlRate) {
		return true
	}
	const reason = "too many pings or keep-alives"
	e.counters.Flooded++
	e.reportEnd(p, transport.Protocol, reason)
	e.sendFarewell(p, transport.Protocol, reason)
	return false
}

// pinged records a ping or pong of a peer, and reports whether to reply to it. The reader calls it,
// without the lock.
func (e *Endpoint) pinged(p *peer) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return (p.state == greeting || p.state == open) && e.tolerated(p)
}
