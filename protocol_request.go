package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/schema"
)

// Handle declares a request and its handler. Both ends call it as part of the protocol. fn
// runs on the server only: at the beginning of the tick after the request arrived, before
// the tick's systems, and after [Protocol.OnJoin] of a player who just joined. Requests of
// one player keep their order.
//
// A request with a value outside of its tag's range never reaches fn: it is dropped, and
// counted in stats.Server.Malformed. fn must check the rules of the game,
// since nothing that a client sends can be trusted. A program that is only a client may
// pass a nil fn. NewServer returns an error for a nil fn.
func (r *Request[T]) Handle(p *Protocol, fn func(f *Frame, player PlayerID, v T)) {
	t := reflect.TypeFor[T]()
	if r == nil {
		p.faultf("Handle is called on a nil Request of %s: use a field of the game, as in g.Buy.Handle", typeName(t))
		return
	}
	if p.late("Handle of request " + typeName(t)) {
		return
	}
	if r.id != 0 {
		p.faultf("request %s is declared twice, or with another Protocol before: declare it once, and build a new game value for each Protocol", typeName(t))
		return
	}
	s, err := schema.Compile(t, schema.Options{Name: typeName(t), Ref: entityType})
	if err == nil {
		err = referless("request", s)
	}
	if err != nil {
		p.fault(err)
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
		p.mute = append(p.mute, s.Name())
	}
	p.compiled.Requests = append(p.compiled.Requests, layout.Request{Name: s.Name(), Schema: s, Cause: handler, Kind: len(p.compiled.Requests)})
	p.compiled.handlers.requests = append(p.compiled.handlers.requests, func(f *Frame, player PlayerID, payload []byte) error {
		var v T
		if ok, err := f.server.readRequest(player, payload, func() error { return s.Unpack(payload, unsafe.Pointer(&v)) }); !ok {
			return err
		}
		defer f.server.contain(player, handler)
		fn(f, player, v)
		return nil
	})
	r.id = len(p.compiled.Requests)
}
