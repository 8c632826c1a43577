package server

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// draining has the state of a match that drains or ends.
type draining struct {
	asked atomic.Pointer[string] // set by Drain, which any goroutine may call
	// reason is why newcomers are refused, as of the newest Step. It is nil while they are not.
	reason *string
	told   bool // Config.OnDrain was called
	// linger is set when the match is over and reliable messages have not all arrived.
	linger *lingering
}

// lingering is the state of a server that computes no more ticks, and waits for acknowledgements.
type lingering struct {
	code   transport.Code
	reason string
	until  time.Duration
	next   time.Duration // when packets are due
}

// Drain makes the server refuse newcomers with [transport.Refused] and the reason. Players of
// the match stay. A player that lost its connection comes back to its place as before. New
// observers are refused too. Once no player is left and no place is held for one, the next
// Step closes the server, and Run returns nil. Use it to take a process
// out of service while its match ends: call it on SIGTERM, and let Run end by itself.
// [Config].OnDrain may tell the players.
//
// Any goroutine may call Drain, also while Run runs. It takes effect with the next Step. The
// reason of the first call counts.
func (s *Server) Drain(reason string) {
	s.drain.asked.CompareAndSwap(nil, &reason)
}

// Shutdown ends the match like Close, but first waits until every connected player has
// acknowledged the reliable messages that were sent to it, such as the final score. It
// waits for linger at most. Until then the server computes no ticks and lets nobody in, and
// the program must still call Step, as Run does. A linger of 0 or less is Close. From a
// system, handler or hook, Shutdown takes effect at the end of the tick. It returns
// [transport.ErrClosed] when the server is closed or closing already. Like Close, it is not
// safe for concurrent use: pass it to [Server.Do] from another goroutine.
func (s *Server) Shutdown(reason string, linger time.Duration) error {
	if linger <= 0 || s.run.failed {
		return s.Close(reason)
	}
	if s.run.closed || s.run.closing != nil || s.drain.linger != nil {
		return transport.ErrClosed
	}
	if err := s.run.refuses("Shutdown"); err != nil {
		return err
	}
	s.tape.outside(tape.Call{Op: tape.Shutdown, Time: linger, Text: reason})
	begin := func() {
		s.conclusion.concludeMatch()
		s.drain.linger = &lingering{code: transport.Closed, reason: reason, until: s.clock.now + linger}
		s.calls.refuse(transport.ErrClosed)
	}
	if s.run.defers() {
		s.run.closing = begin
	} else {
		s.sim.undraw()
		begin()
	}
	return nil
}

// latch reads at the beginning of a Step whether Drain was called. It reports whether the server begins
// to drain.
func (d *draining) latch() bool {
	if d.reason != nil {
		return false
	}
	d.reason = d.asked.Load()
	return d.reason != nil
}

// draining returns why newcomers are refused. yes is false if they are not.
func (d *draining) draining() (reason string, yes bool) {
	if r := d.reason; r != nil {
		return *r, true
	}
	return "", false
}

// over reports whether the match is over, and returns the code and text with which it ends. That is so
// if the server drains and has no player left; or if it lingers and all that it sent is acknowledged,
// or the time for that has passed.
func (d *draining) over(t time.Duration, in *sessions) (code transport.Code, reason string, over bool) {
	if l := d.linger; l != nil {
		waits := slices.ContainsFunc(in.players, func(p *player) bool { return p.listens() && p.session.conn.Pending() > 0 })
		return l.code, l.reason, !waits || t >= l.until
	}
	reason, yes := d.draining()
	return transport.Closed, reason, yes && len(in.newcomers) == 0 && !slices.ContainsFunc(in.owners, func(p *player) bool { return p != nil })
}

// due reports whether a server that lingers must send packets now.
func (l *lingering) due(t, every time.Duration) bool {
	if t < l.next {
		return false
	}
	l.next = t + every
	return true
}

// listens reports whether messages are sent to a peer: it is connected, or it was kicked and its last
// messages are on their way.
func (p *player) listens() bool {
	return p.connected() || p.session.state == refusing && p.session.kicked
}

// connected reports whether a peer has joined and has a connection.
func (p *player) connected() bool {
	return p.session.state == playing || p.session.state == watching
}

// tell calls Config.OnDrain in the first tick after the server began to drain. It reports whether it
// did.
func (d *draining) tell(f *foretick.Frame, c *panics, onDrain func(*foretick.ServerFrame, string)) bool {
	if d.told || d.reason == nil || onDrain == nil {
		return false
	}
	d.told = true
	defer c.Contain(ecs.Nobody, "OnDrain")
	onDrain(forServer(f), *d.reason)
	return true
}

// sendingAway reports whether a kicked player's last messages are still on their way.
func (s *sessions) sendingAway() bool {
	return slices.ContainsFunc(s.players, func(p *player) bool { return p.session.state == refusing && p.session.kicked })
}

// knowsAll reports whether all messages to a peer that is refused or kicked have arrived, or the time
// for that has passed.
func (p *player) knowsAll(t time.Duration, c *matchClock) bool {
	most := greetingTime
	if p.session.kicked {
		most = game.LastWords
	}
	return p.session.conn.Pending() == 0 || c.lasted(t, p.session.since) > most
}

// end returns the code and text with which a peer is dropped when the match closes: its own if it was
// refused or kicked before.
func (p *player) end(code transport.Code, reason string) (transport.Code, string) {
	if p.session.state == refusing {
		return p.session.kickCode, p.session.kickText
	}
	return code, reason
}
