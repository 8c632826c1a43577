package foretick

import (
	"errors"
	"reflect"
	"time"
	"unsafe"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// Request is something that a player tells the server beside its commands: a line
// of chat, a purchase, the choice of a team. It arrives exactly once, in the order
// sent, and survives the loss of a connection whose place is held; it is not
// predicted, and costs no bytes in ticks without one. What a player does with its
// body in every tick belongs into the command (see [Protocol.Command]). Its fields
// travel as their net tags say, like a component's, but for handles of entities,
// which it cannot carry. The zero value is ready for [Request.Handle], which registers it.
type Request[T any] struct {
	id int // 1 and up
}

// requestType is a request's row in the protocol.
type requestType struct {
	schema *snapshot.Schema
	name   string
	cause  string // what its handler is called among causes
	kind   int    // as it travels; −1: the server's build has not got it
	deaf   bool   // there is no function
	handle func(f *Frame, player PlayerID, payload []byte) error
}

const (
	// RequestRate is how many requests a second a client may send on end.
	RequestRate = 32
	// RequestBurst is how many it may send at once.
	RequestBurst = 64

	// What a stall of the network held back comes at once: as much as a client
	// queues.
	requestsHeld  = 512
	requestsSpare = RequestRate / 16 // a second, for a clock that runs fast
)

// Errors of Request.Send, beside [ErrUnregistered].
var (
	// ErrNotIn: the client has no place in a match, yet or any more.
	ErrNotIn = errors.New("foretick: the client is in no match: send requests while its state is Syncing, Playing or Resuming")
	// ErrTooMany: the request is beyond what a client may send; it was not sent.
	// Try again later.
	ErrTooMany = errors.New("foretick: too many requests: a client may send 32 a second, and 64 at once")
	// ErrNotThere: the server's build of the game does not have the request; see
	// [Client.BuildDifference].
	ErrNotThere = errors.New("foretick: the server's build of the game does not have this request")
)

// Handle declares a request and what the server does with it. Both ends call it,
// as part of the protocol; fn runs on the server only, at the beginning of the tick
// after the request came, before its systems, and behind [Protocol.OnJoin] for a
// player who was just let in. Requests of one player keep their order. A value
// outside of what its tags allow does not get this far; what the rules of the game
// say, fn must ask: nothing that comes from a client can be trusted. A program that is a
// client alone may leave fn nil; NewServer refuses that.
func (r *Request[T]) Handle(p *Protocol, fn func(f *Frame, player PlayerID, v T)) {
	t := reflect.TypeFor[T]()
	if r == nil {
		p.faultf("OnRequest is given a nil Request of %s: pass its address, as in &g.Buy", typeName(t))
		return
	}
	if p.late("OnRequest of request " + typeName(t)) {
		return
	}
	if r.id != 0 {
		p.faultf("request %s is declared twice, or with another Protocol before: declare it once, and build a new game value for each Protocol", typeName(t))
		return
	}
	s, err := snapshot.Compile(t, snapshot.SchemaOptions{Name: typeName(t), Ref: entityType})
	if err == nil {
		err = referless("request", s)
	}
	if err != nil {
		p.fault(err)
		return
	}
	if len(p.requests) == maxMessages {
		p.faultf("request %s is one too many: a protocol has at most %d", s.Name(), maxMessages)
		return
	}
	if !p.countFields("request", s) {
		return
	}
	handler := "request " + s.Name()
	p.requests = append(p.requests, requestType{schema: s, name: s.Name(), cause: handler, kind: len(p.requests), deaf: fn == nil, handle: func(f *Frame, player PlayerID, payload []byte) error {
		var v T
		p := f.server.player(player)
		err := f.server.decode(p, payload, func() error { return s.Unpack(payload, unsafe.Pointer(&v)) })
		if err != nil || p.poisoned {
			return err
		}
		defer f.server.contain(player, handler)
		fn(f, player, v)
		return nil
	}})
	r.id = len(p.requests)
}

// Requests is how many kinds of requests the game has declared.
func (p *Protocol) Requests() int { return len(p.requests) }

// Send queues the request; it leaves with the next packet. While the connection is
// lost and the client tries to come back (see [ClientConfig.Redial]) it waits. Where
// the place was given up meanwhile, what waited goes with it
// ([ClientStats.RequestsDropped]). Errors: [ErrUnregistered], [ErrNotIn],
// [ErrTooMany], [ErrNotThere]. Like all of a client it is not safe for concurrent use.
func (r *Request[T]) Send(c *Client, v T) error {
	if r.id == 0 {
		return ErrUnregistered
	}
	return c.request(&c.p.requests[r.id-1], unsafe.Pointer(&v))
}

// request queues a request for the server.
func (c *Client) request(r *requestType, v unsafe.Pointer) error {
	q := c.queue()
	switch {
	case q == nil || c.view.State < Syncing || c.view.State == Closed:
		return ErrNotIn
	case r.kind < 0:
		return ErrNotThere
	case !c.allowance.take(c.now, RequestRate, RequestBurst):
		return ErrTooMany
	}
	c.losses.sent(r.name, r.schema, v)
	c.scratch = r.schema.Pack(v, c.scratch[:0])
	if q.SendOn(channelMain, c.view.Tick, uint8(r.kind), c.scratch) != nil {
		return ErrTooMany // the queue is full; longer than it may be nothing declared is
	}
	c.stats.Requests++
	if c.cfg.OnRequest != nil {
		c.cfg.OnRequest(RequestSent{uint8(r.kind), c.scratch})
	}
	return nil
}

// queue is where requests wait: the connection, or the one that was lost.
func (c *Client) queue() *netcode.Conn {
	if c.kept != nil {
		return c.kept
	}
	return c.conn
}

// takeOver sends on a new connection what the server has not got of the lost one's.
// own says that the client is back in its own place.
func (c *Client) takeOver(own bool, taken uint32) {
	kept := c.kept
	c.kept = nil
	switch {
	case kept == nil:
	case !own:
		c.stats.RequestsDropped += uint64(kept.PendingOn(channelMain))
	case errors.Is(c.conn.TakeOver(kept, channelMain, int64(taken)), netcode.ErrTaken):
		c.stats.Malformed++
		_ = c.conn.TakeOver(kept, channelMain, netcode.Forgotten) // with which it cannot fail
	}
}

// allowance is a token bucket. The zero value is full.
type allowance struct {
	spent float64 // of the burst
	at    time.Duration
}

// permits tells whether one more may be taken.
func (a *allowance) permits(now time.Duration, rate, burst float64) bool {
	a.spent, a.at = max(a.spent-(now-a.at).Seconds()*rate, 0), now
	return a.spent+1 <= burst
}

func (a *allowance) take(now time.Duration, rate, burst float64) bool {
	if !a.permits(now, rate, burst) {
		return false
	}
	a.spent++
	return true
}

// asking is a request that the next tick handles.
type asking struct {
	kind       uint8
	from, upto int // in player.askedBytes
}

// takeRequests takes in the requests that a player's allowance permits. The others
// wait in the connection, as they are acknowledged: a request is never lost for having
// come too soon.
func (s *Server) takeRequests(t time.Duration, p *player) {
	for p.conn != nil && p.allowance.permits(t, RequestRate+requestsSpare, RequestBurst+requestsHeld) {
		if !s.takeRequest(p) {
			return
		}
	}
}

// drainRequests takes in all that wait, as the connection goes: the player's next one
// begins behind them. They are of its allowance all the same.
func (s *Server) drainRequests(p *player) {
	for !p.poisoned && s.takeRequest(p) {
	}
}

// takeRequest takes in the next request, if there is one.
func (s *Server) takeRequest(p *player) bool {
	r, ok := p.conn.NextReliableOn(channelMain)
	if !ok {
		return false
	}
	p.allowance.spent++
	if err := s.ask(p, r); err != nil {
		s.malformed(p, err)
	}
	return true
}

// ask takes a player's request in.
func (s *Server) ask(p *player, r netcode.Reliable) error {
	if p.state != playing || int(r.Kind) >= len(s.p.requests) {
		return netcode.ErrMalformed
	}
	p.requests++
	from := len(p.askedBytes)
	p.askedBytes = append(p.askedBytes, r.Payload...)
	p.askings = append(p.askings, asking{r.Kind, from, len(p.askedBytes)})
	return nil
}

// handleRequest runs the game's handler, and notes whose predicted state it changed.
func (s *Server) handleRequest(p *player, kind uint8, payload []byte) error {
	o := &s.effects.outside
	o.look(effectOutside)
	o.by = s.p.requestCause(int(kind))
	if debugBuild {
		s.losses.running = s.p.requests[kind].cause
	}
	err := s.p.requests[kind].handle(&s.frame, p.owner, payload)
	s.losses.running = ""
	o.look(o.by)
	o.by = effectOutside
	return err
}

// handleRequests runs the game's handlers of what players asked since the last tick.
func (s *Server) handleRequests() {
	for _, p := range s.owners {
		if p == nil {
			continue
		}
		if s.takeRequests(s.now, p); len(p.askings) == 0 {
			continue
		}
		for _, a := range p.askings {
			if p.kicked {
				break
			}
			payload := p.askedBytes[a.from:a.upto]
			if s.cfg.OnRequest != nil {
				s.cfg.OnRequest(RequestTaken{By: p.owner, Session: p.session, Kind: a.kind, Payload: payload})
			}
			if err := s.handleRequest(p, a.kind, payload); err != nil {
				s.malformed(p, err)
				continue
			}
			if p.poisoned {
				s.kick(p, transport.Malformed, poisonedText)
				break
			}
			s.stats.Requests++
			p.stats.Requests++
		}
		p.askings, p.askedBytes = p.askings[:0], p.askedBytes[:0]
	}
}
