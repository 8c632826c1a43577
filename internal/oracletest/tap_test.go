package oracletest

import (
	"io"

	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// tap is an endpoint that adds the datagrams that an end sends to the match's sums.
type tap struct {
	transport.Endpoint
	sums   *sums
	kind   int
	number uint64
}

// Unwrap implements transport.Wrapper.
func (t *tap) Unwrap() transport.Endpoint { return t.Endpoint }

// Send implements transport.Endpoint.
func (t *tap) Send(p transport.PeerID, b []byte) error {
	t.sums.add(t.kind, b, t.number, uint64(p))
	return t.Endpoint.Send(p, b)
}

// Disconnect implements transport.Endpoint.
func (t *tap) Disconnect(p transport.PeerID, c transport.Code, detail string) {
	t.sums.add(t.kind, []byte(detail), t.number, uint64(p), uint64(c))
	t.Endpoint.Disconnect(p, c, detail)
}

// Close implements transport.Endpoint.
func (t *tap) Close(c transport.Code, detail string) error {
	t.sums.add(t.kind, []byte(detail), t.number, uint64(c))
	return t.Endpoint.Close(c, detail)
}

// tapped is a recorder, or the player of a tape, that adds the server's packets to sums.
type tapped struct {
	io.WriterTo
	sums *sums
}

type tappedSink struct {
	tape.Sink
	sums *sums
	tap  *tap
}

func init() {
	sinkOf := tape.SinkOf
	tape.SinkOf = func(recorder any) tape.Sink {
		if t, ok := recorder.(tapped); ok {
			return &tappedSink{Sink: sinkOf(t.WriterTo), sums: t.sums}
		}
		return sinkOf(recorder)
	}
}

// Begin implements tape.Sink.
func (t *tappedSink) Begin(h tape.Head, e transport.Endpoint, random io.Reader) (transport.Endpoint, io.Reader, error) {
	e, random, err := t.Sink.Begin(h, e, random)
	t.tap = &tap{Endpoint: e, sums: t.sums, kind: down}
	return t.tap, random, err
}

// Tick implements tape.Sink.
func (t *tappedSink) Tick(tick uint32, hash uint64) {
	t.sums.add(worlds, nil, uint64(tick), hash)
	t.sums.tick(tick)
	t.Sink.Tick(tick, hash)
}

// Outside implements tape.Sink. A server that closes for a restart resends messages until they
// arrive, at times that no replay has.
func (t *tappedSink) Outside(c tape.Call) {
	if c.Op == tape.Close && transport.Code(c.Number) == transport.Restart {
		t.tap.kind = words
	}
	t.Sink.Outside(c)
}

// Closed implements tape.Sink.
func (t *tappedSink) Closed() {
	t.tap.kind = words
	t.Sink.Closed()
}
