package ws

import (
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/pulse"
)

// tend is the endpoint's timer: it sends keep-alives, checks timeouts, and drops connections.
func (e *Endpoint) tend() {
	pulse.Run(e.done, tickTime, tickTime, func(passed uint32) {
		if passed > 0 {
			e.tendOnce(e.clock.Add(passed))
		}
	})
}

func (e *Endpoint) tendOnce(now uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for p := range e.conns {
		switch {
		case p.state == open:
			e.tendPeer(p, now)
		case p.state == over || int32(now-p.until) < 0:
		case p.state == greeting && e.dial != nil:
			e.reportEnd(p, transport.Timeout, "no answer")
			e.cut(p)
			e.cancel()
		default:
			if p.state == greeting {
				e.counters.Unsaid++
			}
			e.cut(p)
		}
	}
}

func (e *Endpoint) tendPeer(p *peer, now uint32) {
	silent, alive, timeout := now-p.heard, ticks(e.cfg.KeepAlive), ticks(e.cfg.Timeout)
	switch {
	case silent >= timeout:
		e.reportEnd(p, transport.Timeout, "nothing heard")
		e.sendFarewell(p, transport.Timeout, "")
	case p.writing != 0 && now-p.writing >= timeout:
		e.counters.Stalled++
		e.reportEnd(p, transport.Overflow, "takes nothing of what it is sent")
		e.sendFarewell(p, transport.Overflow, "")
	case silent >= 2*alive && now-p.asked >= askEvery: // ask, since a browser's timers pause in hidden pages
		p.asked, p.alive, p.ask = now, true, true
		p.signalWake()
	case now-p.sent >= alive:
		p.alive = true
		p.signalWake()
	}
}
