package foretick

import (
	"time"

	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// takeRequests takes the requests that a player's allowance permits. The others wait in the
// connection, already acknowledged: a request is never lost for coming too soon.
func (s *Server) takeRequests(t time.Duration, p *player) {
	for p.session.conn != nil && p.requests.allowance.permits(t, requestRate+requestsSpare, requestBurst+requestsHeld) {
		if !s.takeRequest(p) {
			return
		}
	}
}

// drainRequests takes all waiting requests when the connection ends: the player's next
// connection starts after them. They still count against its allowance.
func (s *Server) drainRequests(p *player) {
	for !p.session.poisoned && s.takeRequest(p) {
	}
}

// takeRequest takes the next request, if there is one.
func (s *Server) takeRequest(p *player) bool {
	r, ok := p.session.conn.NextReliableOn(standard.ChannelMain)
	if !ok {
		return false
	}
	p.requests.allowance.spent++
	if p.session.kicked && p.session.state == refusing {
		return true // asked before it knew
	}
	if err := s.ask(p, r); err != nil {
		s.malformed(p, err)
	}
	return true
}

// ask queues a player's request for the next tick.
func (s *Server) ask(p *player, r netcode.Reliable) error {
	if p.session.state != playing || int(r.Kind) >= len(s.p.Requests) {
		return netcode.ErrMalformed
	}
	p.requests.taken++
	p.requests.add(r.Kind, r.Payload)
	return nil
}

// handleRequest runs the game's handler, and notes the players whose predicted state it
// changed.
func (s *Server) handleRequest(p *player, kind uint8, payload []byte) error {
	o := &s.sim.writes.outside
	o.look(causeOutside)
	o.by = s.p.requestCause(int(kind))
	if debugBuild {
		s.sim.losses.running = s.p.Requests[kind].Cause
	}
	err := s.p.handlers.requests[kind](&s.sim.frame, p.owner, payload)
	s.sim.losses.running = ""
	o.look(o.by)
	o.by = causeOutside
	return err
}

// handleRequests runs the game's handlers of what players asked since the last tick.
func (s *Server) handleRequests() {
	for _, p := range s.sessions.owners {
		if p != nil {
			s.takeRequests(s.clock.now, p)
			s.handleRequestsOf(p)
		}
	}
}

// handleRequestsOf runs the handlers of what a player asked, which may have left since.
func (s *Server) handleRequestsOf(p *player) {
	for _, a := range p.requests.askings {
		if p.session.kicked {
			break
		}
		payload := p.requests.askedBytes[a.from:a.upto]
		s.hooks.asked(p.owner, a.kind, payload)
		for _, fn := range s.hooks.request {
			fn(probe.RequestTaken{By: p.owner, Session: p.session.number, Kind: a.kind, Payload: payload})
		}
		if err := s.handleRequest(p, a.kind, payload); err != nil {
			s.malformed(p, err)
			continue
		}
		s.late.world.asked(p, a.kind, payload)
		if p.session.poisoned {
			s.sessions.kick(p, transport.Malformed, poisonedText)
			break
		}
		s.stats.Requests++
		p.stats.Requests++
	}
	p.requests.askings, p.requests.askedBytes = p.requests.askings[:0], p.requests.askedBytes[:0]
}
