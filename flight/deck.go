package flight

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// Limits of one Step of a tape.
const (
	maxStepBytes   = 64 << 20
	maxStepRecords = 1 << 20
)

// portion holds the tape's records of one Step, or those before the first Step.
type portion struct {
	at     time.Duration
	bytes  int
	n      int
	events []event
	infos  []peerInfo
	random [][]byte // each with its flag as the first byte
	sends  []sendFault
	values [][]byte
	grants []tape.Grant
	ticks  []tickRecord
	end    tickRecord // records of a tick whose end has not been read, or that did not end
	calls  []tape.Call
	panic  *Panic
}

// event is an event of Recv, and how long before the Step it arrived.
type event struct {
	transport.Event
	age time.Duration
}

// tickRecord holds the tape's records of a tick.
type tickRecord struct {
	run   []tape.Queued // functions of Server.Do and edits at the end of the tick
	calls []tape.Call   // calls of the server by these functions
	looks []tape.Look
	delta foretick.Tick // ticks since the previous record
	hash  uint64        // hash of the world
	sum   uint32        // sum of the packets sent
}

type sendFault struct {
	at   uint64
	code byte
}

// addRecord adds a record of a Step.
func (p *portion) addRecord(kind byte, b []byte) error {
	p.bytes += len(b)
	if p.n++; p.n > maxStepRecords || p.bytes > maxStepBytes {
		return errors.New("a Step has more records than any Step needs")
	}
	s := scan{b: b}
	switch kind {
	case recConnected:
		p.events = append(p.events, event{Event: transport.Event{Kind: transport.Connected, Peer: s.peer()}})
	case recData, recWaited:
		e := event{Event: transport.Event{Kind: transport.Data, Peer: s.peer()}}
		if kind == recWaited {
			e.age = time.Duration(min(s.uvarint(), math.MaxInt64))
		}
		e.Data = slices.Clone(s.b)
		p.events = append(p.events, e)
	case recDisconnected:
		e := event{Event: transport.Event{Kind: transport.Disconnected, Peer: s.peer(), Code: transport.Code(s.uvarint())}}
		e.Reason = string(s.b)
		p.events = append(p.events, e)
	case recInfo:
		in, err := readInfo(b)
		p.infos = append(p.infos, in)
		return err
	case recSendError:
		p.sends = append(p.sends, sendFault{s.uvarint(), s.byte()})
	case recRandom:
		if s.byte(); !s.bad { // the flag of a source that failed
			p.random = append(p.random, slices.Clone(b))
		}
	case recValue:
		s.byte()
		p.values = append(p.values, slices.Clone(s.b))
	case recGrant:
		g, err := readGrant(b)
		p.grants = append(p.grants, g)
		return err
	case recDo:
		p.end.run = append(p.end.run, tape.Queued{Name: string(b), Own: -1})
	case recEdit:
		name, e, err := readEdit(b)
		p.end.run = append(p.end.run, tape.Queued{Name: name, Edit: e, Own: -1})
		return err
	case recCall:
		c, err := readCall(b)
		if c.Queued {
			p.end.calls = append(p.end.calls, c)
		} else {
			p.calls = append(p.calls, c)
		}
		return err
	case recLook:
		l, err := readLook(b)
		p.end.looks = append(p.end.looks, l)
		return err
	case recTick:
		p.end.delta, p.end.hash, p.end.sum = foretick.Tick(s.uvarint()), s.uint64(), s.uint32()
		p.ticks = append(p.ticks, p.end)
		p.end = tickRecord{}
	case recPanic:
		pn, err := readPanic(b)
		p.panic = pn
		return err
	}
	return s.err()
}

// deck gives a replayed server what is on the tape, and compares what the server does with the
// tape. It is the server's endpoint, its source of randomness and its recorder.
type deck struct {
	r   *Replay
	now portion // records of the current Step

	// How many of now's records the server has got, by kind. faults counts those of now.sends.
	infos  int
	events int
	random int
	values int
	grants int
	ticks  int
	faults int

	outside  [][]byte // values recorded between Steps that the server has not got yet
	begun    bool     // the server uses the deck as its recorder
	inStep   bool
	step     time.Time // time of the current Step
	applying bool      // the replay is making a call of the tape
	sends    sends
	tick     foretick.Tick
	panicked *Panic
	ready    chan struct{}
}

// loadStep sets the records that the server gets in the next Step.
func (d *deck) loadStep(p portion) {
	d.now = p
	d.infos, d.events, d.random, d.values, d.grants, d.ticks, d.faults = 0, 0, 0, 0, 0, 0, 0
}

// next returns the next element of a list and advances at. ok is false at the end of the list.
func next[T any](list []T, at *int) (one T, ok bool) {
	if *at == len(list) {
		return one, false
	}
	*at++
	return list[*at-1], true
}

// WriteTo makes a deck fit into server.Config.Recorder. Nobody writes a replay.
func (d *deck) WriteTo(io.Writer) (int64, error) { return 0, nil }

// Begin implements tape.Sink.
func (d *deck) Begin(h tape.Head, _ transport.Endpoint, _ io.Reader) (transport.Endpoint, io.Reader, error) {
	d.begun = true
	return d, d, d.r.checkHead(h)
}

// Step implements tape.Sink.
func (d *deck) Step(now time.Time, _ func() uint64) { d.inStep, d.sends.n, d.step = true, 0, now }

// Stepped implements tape.Sink.
func (d *deck) Stepped() { d.inStep = false }

// Panicked implements tape.Sink.
func (d *deck) Panicked(tick uint32, value any, stack []byte) {
	d.panicked = &Panic{Tick: tick, Text: fmt.Sprint(value), Stack: string(stack)}
}

// Tick implements tape.Sink.
func (d *deck) Tick(tick uint32, hash uint64) {
	sum := d.sends.sum()
	t, ok := next(d.now.ticks, &d.ticks)
	switch {
	case !ok && d.now.panic != nil && d.now.panic.Tick == tick:
		d.r.passed = true
		return // the code no longer panics in this tick
	case !ok:
		d.r.differ(tick, "the replay computes a tick that the match did not compute in this Step")
	case d.tick+t.delta != tick:
		d.r.differ(tick, "the tape has tick %d here", d.tick+t.delta)
	case t.hash != hash:
		d.r.differState(tick, "the world's hash is %016x, and %016x on the tape", hash, t.hash)
	case t.sum != sum && d.r.sameBuild():
		d.r.differState(tick, "the world is the same, but the packets sent to players differ")
	}
	d.tick = tick
	d.r.ticked(tick)
}

// Outside implements tape.Sink. Game.New may make calls before the first Step. Those on the tape
// are then not made again.
func (d *deck) Outside(c tape.Call) {
	if d.r.srv != nil || d.applying || d.inStep {
		return
	}
	for i, on := range d.r.setup {
		if on.Op == c.Op && on.Player == c.Player && on.Text == c.Text && string(on.Data) == string(c.Data) {
			d.r.setup = slices.Delete(d.r.setup, i, i+1)
			return
		}
	}
	d.r.differ(0, "%v is called before the first Step, and was not when the tape was recorded", c.Op)
}

// running returns the tape's records of the tick that runs.
func (d *deck) running() *tickRecord {
	if d.ticks < len(d.now.ticks) {
		return &d.now.ticks[d.ticks]
	}
	return &d.now.end
}

// Queued implements tape.Sink.
func (d *deck) Queued(_ uint32, waiting []tape.Queued) (run []tape.Queued, replaced bool) {
	t := d.running()
	for i, q := range t.run {
		own := slices.IndexFunc(waiting, func(w tape.Queued) bool { return w.Name == q.Name && w.Own >= 0 })
		switch {
		case own >= 0: // the replayed game itself called Server.Do
			q.Own = own
			waiting[own].Own = -1
		case q.Edit == nil:
			q.Run = d.r.function(q.Name, i, t.calls)
		}
		run = append(run, q)
	}
	return run, true
}

// Value implements tape.Sink.
func (d *deck) Value([]byte) (value []byte, replaced bool) {
	if !d.inStep {
		if len(d.outside) == 0 {
			d.r.differ(d.tick, "Server.Record is called between Steps more often than on the tape")
			return nil, false
		}
		value, d.outside = d.outside[0], d.outside[1:]
		return value, true
	}
	value, ok := next(d.now.values, &d.values)
	if !ok {
		d.r.differ(d.tick+1, "Server.Record is called more often than on the tape")
	}
	return value, ok
}

// Observed implements tape.Sink.
func (d *deck) Observed(func() tape.Grant) tape.Grant {
	g, ok := next(d.now.grants, &d.grants)
	if !ok {
		d.r.differ(d.tick+1, "server.Config.Observe is asked more often than on the tape")
		return tape.Grant{Refused: true}
	}
	return g
}

// Touched implements tape.Sink.
func (d *deck) Touched() {}

// Replays implements tape.Sink.
func (d *deck) Replays() bool { return true }

// Looked implements tape.Sink.
func (d *deck) Looked([]tape.Look) []tape.Look { return d.running().looks }

// Report implements tape.Sink.
func (d *deck) Report(string) {}

// Closed implements tape.Sink.
func (d *deck) Closed() {}

// Recv implements transport.Endpoint.
func (d *deck) Recv(ev []transport.Event) (n int) {
	for n < len(ev) {
		e, ok := next(d.now.events, &d.events)
		if !ok {
			break
		}
		if ev[n] = e.Event; e.age > 0 {
			ev[n].At = d.step.Add(-e.age)
		}
		n++
	}
	return n
}

// Ready implements transport.Endpoint.
func (d *deck) Ready() <-chan struct{} { return d.ready }

// Send implements transport.Endpoint.
func (d *deck) Send(p transport.PeerID, b []byte) error {
	d.sends.addSend(p, b)
	if d.faults < len(d.now.sends) && d.now.sends[d.faults].at == d.sends.n {
		d.faults++
		return sendError(d.now.sends[d.faults-1].code)
	}
	return nil
}

// Flush implements transport.Endpoint.
func (d *deck) Flush() {}

// Disconnect implements transport.Endpoint.
func (d *deck) Disconnect(transport.PeerID, transport.Code, string) {}

// Info implements transport.Endpoint.
func (d *deck) Info(p transport.PeerID, out *transport.Info) bool {
	if !d.inStep {
		return false
	}
	in, ok := next(d.now.infos, &d.infos)
	if !ok || in.peer != p {
		d.r.differ(d.tick+1, "the server asks for peer %v, which the tape does not have here", p)
		return false
	}
	*out = in.info
	return in.known
}

// Close implements transport.Endpoint.
func (d *deck) Close(transport.Code, string) error { return nil }

// Read gives the server the recorded bytes of randomness.
func (d *deck) Read(b []byte) (int, error) {
	if d.random == len(d.now.random) {
		d.r.differ(d.tick+1, "the server takes more bytes of randomness than the tape has")
		return 0, io.ErrUnexpectedEOF
	}
	chunk := d.now.random[d.random]
	d.random++
	n := copy(b, chunk[1:])
	if chunk[0] != 0 {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}
