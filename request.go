package foretick

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
)

// Request is a message from a player to the server, apart from its commands: a line of
// chat, a purchase, the choice of a team. It arrives exactly once and in order, also across
// a lost connection if the server holds the player's place. It is not predicted, and costs
// no bytes in ticks without one. Input of every tick belongs in the command: see
// [Protocol.Command]. The net tags of its fields set how they travel, as in a component. It
// cannot hold entity handles. The zero value is ready for [Request.Handle], which registers
// it.
type Request[T any] struct {
	id int // 1 and up
}

// Errors of Request.Send.
var (
	// ErrNotPlaying is returned by [Request.Send] when the client has no place in a match, not yet or no
	// longer, and for an observer. Send the request when client.View.State is Syncing, Playing or Resuming.
	ErrNotPlaying = errors.New("foretick: the client is in no match: send requests while its state is Syncing, Playing or Resuming")
	// ErrTooManyRequests is returned by [Request.Send] when the client has used up its allowance, 32 a
	// second and 64 at once, or its queue is full, as in a long reconnect. This request was not sent: try
	// again later.
	ErrTooManyRequests = errors.New("foretick: too many requests: a client may send 32 a second, and 64 at once")
	// ErrUnknownRequest is returned by [Request.Send] when the server's build of the game does not declare
	// the request. Update one of the two; client.Client.BuildDifference says what else differs.
	ErrUnknownRequest = errors.New("foretick: the server's build of the game does not have this request")
)

// Send queues the request, which leaves with the next packet. c is a client.Client, or a preview
// (package preview), whose next tick handles it. While the client reconnects
// (see client.Config.Redial), the request waits. If the player's place is gone by then,
// waiting requests are dropped and counted in [stats.Client.RequestsDropped]. Errors:
// [ErrNotPlaying], [ErrTooManyRequests], [ErrUnknownRequest]. Send panics with [UsageError]
// for a request that is not declared with [Request.Handle]. Send is not safe for concurrent
// use, like the rest of a client.
func (r *Request[T]) Send(c Requester, v T) error {
	if r.id == 0 {
		misuse.Panicf("foretick: request %s is sent and not declared: call its Handle in Protocol, on both ends", game.TypeNameOf[T]())
	}
	return c.QueueRequest(game.RequestID(r.id), unsafe.Pointer(&v))
}

// Requester is a player's end: a client.Client, or a preview of package preview.
type Requester interface {
	// QueueRequest queues a request. [Request.Send] calls it.
	QueueRequest(id game.RequestID, v unsafe.Pointer) error
}

// Handle declares a request and its handler. Both ends call it as part of the protocol. fn
// runs on the server only: at the beginning of the tick after the request arrived, before
// the tick's systems, and after [Protocol.OnJoin] of a player who just joined. Requests of
// one player keep their order.
//
// A request with a value outside of its tag's range never reaches fn: it is dropped, and
// counted in stats.Server.Malformed. fn must check the rules of the game,
// since nothing that a client sends can be trusted. A program that is only a client may
// pass a nil fn. server.New returns an error for a nil fn.
func (r *Request[T]) Handle(p *Protocol, fn func(f *ServerFrame, player PlayerID, v T)) {
	t := reflect.TypeFor[T]()
	if r == nil {
		p.faultf("Handle is called on a nil Request of %s: use a field of the game, as in g.Buy.Handle", game.TypeName(t))
		return
	}
	if p.late("Handle of request " + game.TypeName(t)) {
		return
	}
	if r.id != 0 {
		p.faultf("request %s is declared twice, or with another Protocol before: declare it once, and build a new game value for each Protocol", game.TypeName(t))
		return
	}
	s, err := schema.Compile(t, schema.Options{Name: game.TypeName(t), Ref: entityType})
	if err == nil {
		err = referless("request", s)
	}
	if err != nil {
		p.addFault(err)
		return
	}
	if len(p.compiled.Requests) == standard.MaxMessages {
		p.faultf("request %s is one too many: a protocol has at most %d", s.Name(), standard.MaxMessages)
		return
	}
	if !p.countFields("request", s) {
		return
	}
	p.label(s.Name(), t)
	handler := "request " + s.Name()
	if fn == nil {
		p.compiled.Mute = append(p.compiled.Mute, s.Name())
	}
	p.compiled.Requests = append(p.compiled.Requests, layout.Request{Name: s.Name(), Schema: s, Cause: handler, Kind: len(p.compiled.Requests)})
	p.compiled.Handlers.Requests = append(p.compiled.Handlers.Requests, func(f *Frame, player PlayerID, payload []byte) error {
		var v T
		if ok, err := f.in().Handlers.ReadRequest(player, payload, func() error { return s.Unpack(payload, unsafe.Pointer(&v)) }); !ok {
			return err
		}
		defer f.in().Handlers.Contain(player, handler)
		fn(f.forServer(), player, v)
		return nil
	})
	r.id = len(p.compiled.Requests)
}
