package server

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// requests handles the requests of players to the game. Those that have arrived are handled in the next
// tick.
type requests struct {
	sim      *simulation
	sessions *sessions
	panics   *panics
	clock    *matchClock
	hooks    *peerHooks
	late     *late.Room
}

// takeRequests takes as many waiting requests as a player's allowance permits. The others wait in the
// connection, and are acknowledged already: a request is never lost because it came too soon.
func (r *requests) takeRequests(t time.Duration, p *player) {
	for p.session.conn != nil && p.requests.allowance.Permits(t, game.RequestRate+requestsSpare, game.RequestBurst+requestsHeld) {
		if !r.takeRequest(p) {
			return
		}
	}
}

// drainRequests takes all waiting requests when the connection ends, because the player's next
// connection continues after them. They still count against its allowance.
func (r *requests) drainRequests(p *player) {
	for !p.session.poisoned && r.takeRequest(p) {
	}
}

// takeRequest takes the next request, if there is one.
func (r *requests) takeRequest(p *player) bool {
	one, ok := p.session.conn.NextReliableOn(standard.ChannelMain)
	if !ok {
		return false
	}
	p.requests.allowance.Spent++
	if p.session.kicked && p.session.state == refusing {
		return true // the player sent it before it knew of the kick
	}
	if err := r.queueRequest(p, one); err != nil {
		p.countMalformed(r.sim.stats, err)
	}
	return true
}

// queueRequest queues a player's request for the next tick.
func (r *requests) queueRequest(p *player, one netcode.Reliable) error {
	if p.session.state != playing || int(one.Kind) >= len(r.sim.p.Requests) {
		return netcode.ErrMalformed
	}
	p.requests.taken++
	p.requests.add(one.Kind, one.Payload)
	return nil
}

// handleRequest runs the game's handler, and notes the players whose predicted state it
// changed.
func (r *requests) handleRequest(p *player, kind uint8, payload []byte) error {
	o := &r.sim.writes.outside
	o.look(game.CauseOutside)
	o.by = r.sim.p.RequestCause(int(kind))
	if game.DebugBuild {
		r.sim.running.Name = r.sim.p.Requests[kind].Cause
	}
	err := r.sim.p.Handlers.Requests[kind](&r.sim.frame, p.owner, payload)
	r.sim.running.Name = ""
	o.look(o.by)
	o.by = game.CauseOutside
	return err
}

// handleRequests runs the game's handlers for the requests that have arrived since the last tick.
func (r *requests) handleRequests() {
	for _, p := range r.sessions.owners {
		if p != nil {
			r.takeRequests(r.clock.now, p)
			r.handleRequestsOf(p)
		}
	}
}

// handleRequestsOf runs the handlers for the requests of a player, which may have left since.
func (r *requests) handleRequestsOf(p *player) {
	for _, a := range p.requests.askings {
		if p.session.kicked {
			break
		}
		payload := p.requests.askedBytes[a.from:a.upto]
		for _, fn := range r.hooks.request {
			fn(probe.RequestTaken{By: p.owner, Session: p.session.number, Kind: a.kind, Payload: payload})
		}
		if err := r.handleRequest(p, a.kind, payload); err != nil {
			p.countMalformed(r.sim.stats, err)
			continue
		}
		r.late.KeepRequest(p.owner, a.kind, payload)
		if p.session.poisoned {
			r.sessions.kick(p, transport.Malformed, poisonedText)
			break
		}
		r.sim.stats.Requests++
		p.stats.Requests++
	}
	p.requests.askings, p.requests.askedBytes = p.requests.askings[:0], p.requests.askedBytes[:0]
}

// handleLastRequests handles the requests of players that have left since the last tick, before OnLeave
// runs for them.
func (r *requests) handleLastRequests() {
	for _, p := range r.sessions.asked {
		r.sessions.owners[p.owner], p.session.state = p, away // the handlers may look the player up
		r.handleRequestsOf(p)
		r.sessions.owners[p.owner] = nil
	}
	clear(r.sessions.asked)
	r.sessions.asked = r.sessions.asked[:0]
}

// ReadRequest reads a request with fn. It reports whether the request can be handled.
func (r *requests) ReadRequest(player foretick.PlayerID, payload []byte, fn func() error) (ok bool, err error) {
	p := r.sessions.player(player)
	err = r.panics.decodePeer(p, payload, fn)
	return err == nil && !p.session.poisoned, err
}

// playerRequests are a player's requests for the next tick.
type playerRequests struct {
	askings    []asking
	askedBytes []byte
	taken      uint32 // how many requests were taken since the place's token was given
	allowance  game.Allowance
}

// asking is a request that the next tick handles.
type asking struct {
	kind       uint8
	from, upto int // the bytes of the request in askedBytes
}

// add adds a request.
func (r *playerRequests) add(kind uint8, payload []byte) {
	from := len(r.askedBytes)
	r.askedBytes = append(r.askedBytes, payload...)
	r.askings = append(r.askings, asking{kind, from, len(r.askedBytes)})
}

// requestsHeld is how many requests may arrive at once after a network stall: the length of the
// client's queue.
const requestsHeld = 512

const requestsSpare = game.RequestRate / 16 // a second, for a client's clock that runs fast
