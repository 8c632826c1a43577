package foretick

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/ecs"
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

	serverTraceMost = 4 // traces of a server

	traceAskRate, traceAskBurst = 4, 8 // Asks and Stops of a client, a second and at once
)

// serverTraces are the traces that a server takes part in.
type serverTraces struct {
	wake atomic.Bool // somebody asks for something, or a trace is armed

	mu     sync.Mutex
	layout *trace.Layout            // nil until the first
	ports  map[PlayerID]*trace.Port // of players that were traced

	armed     []*playerTrace
	recording []*playerTrace // in the tick that runs; empty: no system is watched
	steps     traceSteps
}

// Trace returns the port of a player's trace. Any goroutine may call it.
func (in serverInternals) Trace(player PlayerID) *trace.Port { return in.s.tracePort(player) }

func (s *Server) tracePort(player PlayerID) *trace.Port {
	t := &s.traces
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.layout == nil {
		t.layout, t.ports = s.p.traceLayout(), map[PlayerID]*trace.Port{}
	}
	if t.ports[player] == nil {
		t.ports[player] = trace.NewPort(t.layout, &t.wake)
	}
	return t.ports[player]
}

// beginTraces arms and ends traces, and begins the records of a tick.
func (s *Server) beginTraces() {
	t := &s.traces
	t.wake.Store(false) // what is asked from here on is for the next tick
	s.pollTraces()
	if len(t.armed) == 0 {
		return
	}
	t.wake.Store(true)
	t.steps.begin()
	t.recording = append(t.recording[:0], t.armed...)
	for _, a := range t.recording {
		a.begin(s.sim.frame.Tick)
	}
}

// pollTraces reads what was asked of the ports, and ends traces that nobody looks at.
func (s *Server) pollTraces() {
	t, now := &s.traces, s.clock.now
	t.mu.Lock()
	players := make([]PlayerID, 0, serverTraceMost)
	for player, port := range t.ports {
		if state, _ := port.Status(); state != trace.Off && state != trace.No {
			players = append(players, player)
		}
	}
	t.mu.Unlock()
	slices.Sort(players)
	for _, player := range players {
		s.pollTrace(s.tracePort(player), s.sessions.player(player), now)
	}
	for i := len(t.armed) - 1; i >= 0; i-- {
		a := t.armed[i]
		if !a.p.traceable() || s.sessions.player(a.p.owner) != a.p || max(a.client, a.operator) <= now {
			s.disarm(a)
		}
	}
}

// pollTrace reads what the server's own program asked of a port.
func (s *Server) pollTrace(port *trace.Port, p *player, now time.Duration) {
	told := port.Poll()
	a := s.armedFor(p)
	switch {
	case told.Looked && a == nil && (p == nil || !p.traceable()):
		port.Set(trace.No, "the player does not play")
		return
	case told.Looked && a == nil && len(s.traces.armed) == serverTraceMost:
		port.Set(trace.No, "the server has four traces already: end one of them")
		return
	case told.Looked && a == nil:
		a = s.arm(p)
		told.Renamed = true
	case a == nil:
		return
	}
	if told.Looked {
		a.operator, a.watched = now+traceLapse, true
		if r := s.sink; r != nil && !port.IsAlone() {
			r.Traced()
		}
	}
	if told.Renamed && a.operator > now {
		a.rename(told.Entities)
		a.asked = 0
	}
	if told.Stop && a.operator > now {
		a.operator, p.tracing.stop = 0, true
	}
}

// traceable reports whether a player may be traced at all.
func (p *player) traceable() bool {
	return p.observing == nil && (p.session.state == playing || p.session.state == local)
}

// armedFor returns a player's trace, nil if it has none.
func (s *Server) armedFor(p *player) *playerTrace {
	for _, a := range s.traces.armed {
		if a.p == p && p != nil {
			return a
		}
	}
	return nil
}

// arm begins the trace of a player.
func (s *Server) arm(p *player) *playerTrace {
	port := s.tracePort(p.owner)
	if s.traces.steps.index == nil {
		s.traces.steps.index = s.p.sharedIndex()
	}
	a := &playerTrace{s: s, p: p, port: port, recorder: trace.NewRecorder(port.Layout)}
	s.traces.armed = append(s.traces.armed, a)
	p.tracing.armed = a
	port.Set(trace.Armed, "")
	s.traces.wake.Store(true)
	return a
}

// disarm ends a trace.
func (s *Server) disarm(a *playerTrace) {
	s.traces.armed = slices.DeleteFunc(s.traces.armed, func(x *playerTrace) bool { return x == a })
	a.p.tracing.armed = nil
	a.p.tracing.ended = s.clock.now
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
	t.recording = append(t.recording[:0], p.tracing.armed)
	p.tracing.armed.begin(tick)
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
			if p.tracing.ended == 0 || now-p.tracing.ended > traceLate {
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
	a := s.armedFor(p)
	switch {
	case !s.mayTrace(p):
		p.tracing.refused = trace.NotAllowed
		return nil
	case a == nil && len(s.traces.armed) == serverTraceMost:
		p.tracing.refused = trace.TooMany
		return nil
	case a == nil:
		a = s.arm(p)
	}
	p.tracing.refused = 0
	a.client = s.clock.now + traceLapse
	if a.operator <= s.clock.now {
		a.request, a.nobody = r, false
	}
	return nil
}

// mayTrace asks the game whether a player may have a trace. A panic refuses it.
func (s *Server) mayTrace(p *player) (may bool) {
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
