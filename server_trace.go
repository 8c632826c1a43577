package foretick

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
)

// Numbers of traces that both ends keep to.
const (
	traceLapse   = 30 * time.Second            // after nobody looks
	traceRefresh = 5 * time.Second             // between two Asks that are answered
	traceRepeat  = 500 * time.Millisecond      // … that are not
	traceRefused = 3 * time.Second             // between two that are refused
	traceLate    = traceLapse + 10*time.Second // how long records may still come after the end

	serverTraceMost = 4 // traces of a server, and as many aside

	traceAskRate, traceAskBurst = 4, 8 // Asks and Stops of a client, a second and at once
)

// serverTraces are the traces that a server takes part in.
type serverTraces struct {
	wake     atomic.Bool // somebody asks for something, or a trace is armed
	replayed bool        // a tape says what was asked of the match's traces

	mu     sync.Mutex
	layout *trace.Layout // nil until the first
	match  traceSet      // which the packets carry
	aside  traceSet      // which no packet carries, and nothing of the match depends on

	looks     []tape.Look    // scratch
	recording []*playerTrace // in the tick that runs; empty: no system is watched
	steps     traceSteps
}

// Trace returns the port of a player's trace. The records of an aside trace, and of every
// trace that is asked for in a replay, go to no client. Any goroutine may call it.
func (in serverInternals) Trace(player PlayerID, aside bool) *trace.Port {
	t := &in.s.traces
	if aside || t.replayed {
		return in.s.tracePort(&t.aside, player)
	}
	return in.s.tracePort(&t.match, player)
}

func (s *Server) tracePort(set *traceSet, player PlayerID) *trace.Port {
	t := &s.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.layout == nil {
		t.layout = s.p.traceLayout()
	}
	if set.ports[player] == nil {
		if set.ports == nil {
			set.ports = map[PlayerID]*trace.Port{}
		}
		set.ports[player] = trace.NewPort(t.layout, &t.wake)
	}
	return set.ports[player]
}

// beginTraces arms and ends traces, and begins the records of a tick.
func (s *Server) beginTraces() {
	t := &s.traces
	t.wake.Store(false) // what is asked from here on is for the next tick
	s.pollTraces()
	if !t.armed() {
		return
	}
	t.wake.Store(true)
	t.steps.begin()
	t.recording = append(append(t.recording[:0], t.match.armed...), t.aside.armed...)
	for _, a := range t.recording {
		a.begin(s.sim.frame.Tick)
	}
}

// armed reports whether any trace is.
func (t *serverTraces) armed() bool { return len(t.match.armed)+len(t.aside.armed) > 0 }

// traceable reports whether a player may be traced at all.
func (p *player) traceable() bool {
	return p.observing == nil && (p.session.state == playing || p.session.state == local)
}

// arm begins the trace of a player.
func (s *Server) arm(set *traceSet, p *player) *playerTrace {
	t, port := &s.traces, s.tracePort(set, p.owner)
	if t.steps.index == nil {
		t.steps.index = s.p.sharedIndex()
	}
	a := &playerTrace{s: s, p: p, port: port, recorder: trace.NewRecorder(port.Layout)}
	set.armed = append(set.armed, a)
	if set == &t.match {
		p.tracing.armed = a
	}
	port.Set(trace.Armed, "")
	t.wake.Store(true)
	return a
}

// disarm ends a trace.
func (s *Server) disarm(set *traceSet, a *playerTrace) {
	set.armed = slices.DeleteFunc(set.armed, func(x *playerTrace) bool { return x == a })
	if set == &s.traces.match {
		a.p.tracing.armed = nil
	}
	a.port.Set(trace.Off, "")
	if !a.watched { // nobody here will read it
		a.port.Client.Free()
		a.port.Server.Free()
	}
}

// before is called before each system of a tick that is recorded.
func (t *serverTraces) before(system int) {
	after, before := t.steps.before(system)
	t.take(after)
	t.take(before)
}

func (t *serverTraces) take(step int) {
	for _, a := range t.recording {
		if step >= 0 {
			a.take(step)
		}
	}
}

// ranBefore and runs are before, in a tick that runs again: what others did in the tick is set
// in between.
func (t *serverTraces) ranBefore() {
	if len(t.recording) > 0 {
		t.take(t.steps.settle())
	}
}

func (t *serverTraces) runs(system int) {
	if len(t.recording) > 0 {
		t.take(t.steps.ahead(system))
	}
}

// end completes the records of the tick.
func (t *serverTraces) end() {
	t.take(t.steps.settle())
	for _, a := range t.recording {
		a.take(a.port.Layout.End())
		a.port.Server.Put(a.recorder.Record())
	}
	t.recording = t.recording[:0]
}

// beginRerun records a tick again that runs again for a player's late command.
func (t *serverTraces) beginRerun(p *player, tick Tick) {
	t.steps.begin()
	for _, set := range [...]*traceSet{&t.match, &t.aside} {
		if a := set.of(p); a != nil {
			t.recording = append(t.recording, a)
			a.begin(tick)
		}
	}
}

// traced handles a trace's message from a client. If it is a piece of the client's records, it
// returns the trace that waits for it. Any error counts as a fault.
func (s *Server) traced(p *player, b []byte) (of *playerTrace, err error) {
	if p.observing != nil || len(b) == 0 {
		return nil, netcode.ErrMalformed
	}
	now := s.clock.now
	switch b[0] {
	case trace.Ask, trace.Stop:
		if !p.tracing.asks.take(now, traceAskRate, traceAskBurst) {
			return nil, netcode.ErrMalformed
		}
		if b[0] == trace.Stop {
			if p.tracing.armed != nil {
				p.tracing.armed.client = 0
			}
			return nil, nil
		}
		return nil, s.askedToTrace(p, b)
	case trace.Piece:
		a := p.tracing.armed
		if a == nil || a.operator <= now {
			if now >= p.tracing.late {
				return nil, netcode.ErrMalformed // nobody asked for it
			}
			return nil, nil
		}
		a.heard = now
		return a, nil
	}
	return nil, netcode.ErrMalformed
}

// askedToTrace handles a client's Ask.
func (s *Server) askedToTrace(p *player, b []byte) error {
	r, err := trace.ParseAsk(b)
	if err != nil {
		return err
	}
	set := &s.traces.match
	a := set.of(p)
	switch {
	case !s.mayTrace(p):
		p.tracing.refused = trace.NotAllowed
		return nil
	case a == nil && len(set.armed) == serverTraceMost:
		p.tracing.refused = trace.TooMany
		return nil
	case a == nil:
		a = s.arm(set, p)
	}
	p.tracing.refused = 0
	a.client = s.clock.now + traceLapse
	if a.operator <= s.clock.now {
		a.request, a.nobody = r, false
	}
	return nil
}

// mayTrace returns whether a player may have a trace. A replay has the recorded answer.
func (s *Server) mayTrace(p *player) (may bool) {
	if s.sink == nil || !s.sink.Replays() {
		may = s.allowsTrace(p)
	}
	s.Record(&may)
	return may
}

// allowsTrace asks the game. A panic refuses the trace.
func (s *Server) allowsTrace(p *player) bool {
	if s.cfg.AllowTrace == nil {
		return p.loopback()
	}
	defer s.contain(ecs.Nobody, "AllowTrace")
	return s.cfg.AllowTrace(p.owner)
}

// isLoopback reports whether a transport's address is this machine's own.
func isLoopback(address string) bool {
	if address == "local" { // transport/local: the server's own process
		return true
	}
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// writeTrace puts what a trace has to say into a player's packet.
func (s *Server) writeTrace(p *player) {
	if p.tracing.refused != 0 && p.outbox.draft.packet.Message(messageTrace, []byte{trace.Refused, p.tracing.refused}) {
		p.tracing.refused = 0
	}
	if p.tracing.stop && p.outbox.draft.packet.Message(messageTrace, []byte{trace.Stop}) {
		p.tracing.stop = false
	}
	if p.tracing.armed != nil {
		p.tracing.armed.write(s.clock.now)
	}
}
