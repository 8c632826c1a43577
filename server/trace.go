package server

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Limits of traces for both ends.
const (
	traceLate = game.TraceLapse + 10*time.Second // for how long records may still arrive after the last request for a trace

	tracesMost = 4 // how many traces a server has, and as many aside

)

// traceRequests has the traces that a server takes part in.
type traceRequests struct {
	sim      *simulation
	sessions *sessions
	clock    *matchClock
	reports  *correctionReports
	panics   *panics
	tape     *recording
	around   *systemHooks
	// allow is Config.AllowTrace, which may be nil.
	allow func(foretick.PlayerID) bool

	wake     atomic.Bool // something was requested, or a trace is armed
	replayed bool        // a tape has the requests for the match's traces

	mu     sync.Mutex
	layout *trace.Layout // nil before the first trace
	match  traceSet      // the traces that packets carry
	// aside has traces that no packet carries. Nothing in the match depends on them.
	aside traceSet

	looks []tape.Look // scratch
	// recording has the traces of the current tick. It is empty if no system is watched.
	recording []*playerTrace
	steps     game.TraceSteps
}

// takeTrace reads a message about a trace from a player's client, in packet b.
func (t *traceRequests) takeTrace(p *player, body, b []byte) error {
	if p.session.state != playing && p.observing == nil {
		return nil
	}
	a, err := t.traced(p, body)
	if a == nil {
		return err
	}
	return t.panics.decodePeer(p, b, func() error { return a.piece(body) })
}

// Trace returns the port of a player's trace. The records of an aside trace, and of every trace that is
// requested in a replay, are sent to no client. Any goroutine may call it.
func (in *internals) Trace(player foretick.PlayerID, aside bool) *trace.Port {
	t := &in.traces
	if aside || t.replayed {
		return t.portOf(&t.aside, player)
	}
	return t.portOf(&t.match, player)
}

func (t *traceRequests) portOf(set *traceSet, player foretick.PlayerID) *trace.Port {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.layout == nil {
		t.layout = t.sim.p.TraceLayout()
	}
	if set.ports[player] == nil {
		if set.ports == nil {
			set.ports = map[foretick.PlayerID]*trace.Port{}
		}
		set.ports[player] = trace.NewPort(t.layout, &t.wake)
	}
	return set.ports[player]
}

// beginTraces arms and ends traces, and begins the records of a tick.
func (t *traceRequests) beginTraces() {
	t.wake.Store(false) // later requests are for the next tick
	t.pollTraces()
	if !t.armed() {
		return
	}
	t.wake.Store(true)
	t.steps.BeginTick()
	t.recording = append(append(t.recording[:0], t.match.armed...), t.aside.armed...)
	for _, a := range t.recording {
		a.begin(t.sim.frame.Tick)
	}
}

// armed reports whether any trace is armed.
func (t *traceRequests) armed() bool { return len(t.match.armed)+len(t.aside.armed) > 0 }

// traceable reports whether a player can be traced.
func (p *player) traceable() bool {
	return p.observing == nil && (p.session.state == playing || p.session.state == local)
}

// armTrace begins the trace of a player.
func (t *traceRequests) armTrace(set *traceSet, p *player) *playerTrace {
	port := t.portOf(set, p.owner)
	if t.steps.Index == nil {
		t.steps.Index = t.sim.p.SharedIndex()
	}
	a := &playerTrace{sim: t.sim, p: p, port: port, recorder: trace.NewRecorder(port.Layout)}
	set.armed = append(set.armed, a)
	if set == &t.match {
		p.tracing.armed = a
	}
	port.Set(trace.Armed, "")
	t.wake.Store(true)
	t.around.arrangeHooks()
	return a
}

// endTrace ends a trace.
func (t *traceRequests) endTrace(set *traceSet, a *playerTrace) {
	set.armed = slices.DeleteFunc(set.armed, func(x *playerTrace) bool { return x == a })
	if set == &t.match {
		a.p.tracing.armed = nil
	}
	t.around.arrangeHooks()
	a.port.Set(trace.Off, "")
	if !a.watched { // nothing here will read it
		a.port.Client.Free()
		a.port.Server.Free()
	}
}

// BeforeSystem records the steps before a system, if the tick is recorded.
func (t *traceRequests) BeforeSystem(_ *game.SystemRun, system int) {
	if len(t.recording) > 0 {
		after, before := t.steps.Before(system)
		t.take(after)
		t.take(before)
	}
}

// AfterSystem notes the step after a system. The step is recorded once the system's commands were
// applied.
func (t *traceRequests) AfterSystem(_ *game.SystemRun, system int) {
	if len(t.recording) > 0 {
		t.steps.After(system)
	}
}

func (t *traceRequests) take(step int) {
	for _, a := range t.recording {
		if step >= 0 {
			a.take(step)
		}
	}
}

// traceSettles and traceBegins are traceRequests for a player's part that runs again. Between the two,
// the hook laterRuns sets what others did in the tick.
type (
	traceSettles struct{ *traceRequests }
	traceBegins  struct{ of *traceRequests }
)

func (t traceSettles) BeforeSystem(*game.SystemRun, int) {
	if len(t.recording) > 0 {
		t.take(t.steps.DueStep())
	}
}

func (t traceBegins) BeforeSystem(_ *game.SystemRun, system int) {
	if len(t.of.recording) > 0 {
		t.of.take(t.of.steps.Ahead(system))
	}
}

func (traceBegins) AfterSystem(*game.SystemRun, int) {}

// end completes the records of the tick.
func (t *traceRequests) end() {
	t.take(t.steps.DueStep())
	for _, a := range t.recording {
		a.take(a.port.Layout.End())
		a.port.Server.Put(a.recorder.Record())
	}
	t.recording = t.recording[:0]
}

// beginRerun begins records of a tick that runs again for a player's late command.
func (t *traceRequests) beginRerun(p *player, tick foretick.Tick) {
	t.steps.BeginTick()
	for _, set := range [...]*traceSet{&t.match, &t.aside} {
		if a := set.of(p); a != nil {
			t.recording = append(t.recording, a)
			a.begin(tick)
		}
	}
}

// traced handles a message about a trace from a client. If it is a piece of the client's records, it
// returns the trace that waits for the piece. Any error counts as a fault of the peer.
func (t *traceRequests) traced(p *player, b []byte) (of *playerTrace, err error) {
	if p.observing != nil || len(b) == 0 {
		return nil, netcode.ErrMalformed
	}
	now := t.clock.now
	switch b[0] {
	case trace.Ask, trace.Stop:
		if !p.tracing.asks.TakeOne(now, game.TraceAskRate, game.TraceAskBurst) {
			return nil, netcode.ErrMalformed
		}
		if b[0] == trace.Stop {
			if p.tracing.armed != nil {
				p.tracing.armed.client = 0
			}
			return nil, nil
		}
		return nil, t.askedToTrace(p, b)
	case trace.Piece:
		a := p.tracing.armed
		if a == nil || a.operator <= now {
			if now >= p.tracing.late {
				return nil, netcode.ErrMalformed // no records were requested
			}
			return nil, nil
		}
		a.heard = now
		return a, nil
	}
	return nil, netcode.ErrMalformed
}

// askedToTrace handles a client's request for a trace.
func (t *traceRequests) askedToTrace(p *player, b []byte) error {
	r, err := trace.ParseAsk(b)
	if err != nil {
		return err
	}
	set := &t.match
	a := set.of(p)
	switch {
	case !t.mayTrace(p):
		p.tracing.refused = trace.NotAllowed
		return nil
	case a == nil && len(set.armed) == tracesMost:
		p.tracing.refused = trace.TooMany
		return nil
	case a == nil:
		a = t.armTrace(set, p)
	}
	p.tracing.refused = 0
	a.client = t.clock.now + game.TraceLapse
	if a.operator <= t.clock.now {
		a.request, a.nobody = r, false
	}
	return nil
}

// mayTrace returns whether a player may have a trace. In a replay it returns the recorded result.
func (t *traceRequests) mayTrace(p *player) (may bool) {
	if !t.tape.replays() {
		may = t.allowsTrace(p)
	}
	t.tape.recordValue(&may)
	return may
}

// allowsTrace asks the game. If that panics, the trace is refused.
func (t *traceRequests) allowsTrace(p *player) bool {
	if t.allow == nil {
		return p.loopback()
	}
	defer t.panics.Contain(ecs.Nobody, "AllowTrace")
	return t.allow(p.owner)
}

// isLoopback reports whether an address of a transport is this machine's own.
func isLoopback(address string) bool {
	if address == "local" { // transport/local: the server's own process
		return true
	}
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// writeTrace puts the messages about a player's trace into the player's packet.
func (p *player) writeTrace(now time.Duration) {
	if p.tracing.refused != 0 && p.outbox.draft.packet.Message(game.MessageTrace, []byte{trace.Refused, p.tracing.refused}) {
		p.tracing.refused = 0
	}
	if p.tracing.stop && p.outbox.draft.packet.Message(game.MessageTrace, []byte{trace.Stop}) {
		p.tracing.stop = false
	}
	if p.tracing.armed != nil {
		p.tracing.armed.write(now)
	}
}

// traceSet has the ports of players that were traced, and their armed traces.
type traceSet struct {
	ports map[foretick.PlayerID]*trace.Port
	armed []*playerTrace
}

// of returns a player's armed trace, or nil if it has none.
func (set *traceSet) of(p *player) *playerTrace {
	for _, a := range set.armed {
		if a.p == p && p != nil {
			return a
		}
	}
	return nil
}

// pollTraces handles what the server's own program requested of the traces, and ends those that no end
// uses any more. Requests for the match's traces are recorded: the traces' packets make clients send
// records, and these are input of the match.
func (t *traceRequests) pollTraces() {
	for _, set := range [...]*traceSet{&t.match, &t.aside} {
		looks := t.lookedAt(set)
		if set == &t.match {
			looks = t.reports.askReports(looks)
			t.looks = looks
		}
		if r := t.tape.sink; r != nil && set == &t.match {
			looks = r.Looked(looks)
		}
		for i := range looks {
			t.look(set, &looks[i])
		}
		for i := len(set.armed) - 1; i >= 0; i-- {
			a := set.armed[i]
			if !a.p.traceable() || t.sessions.player(a.p.owner) != a.p || max(a.client, a.operator) <= t.clock.now {
				t.endTrace(set, a)
			}
		}
	}
}

// lookedAt returns what was requested of the ports of a set since the last call, in the order of the
// players.
func (t *traceRequests) lookedAt(set *traceSet) []tape.Look {
	looks := t.looks[:0]
	t.mu.Lock()
	for player, port := range set.ports {
		if state, _ := port.Status(); state == trace.Off || state == trace.No {
			continue
		}
		if told := port.Poll(); told.Looked || told.Stop {
			looks = append(looks, tape.Look{Player: uint16(player), Looked: told.Looked, Stop: told.Stop, Renamed: told.Renamed, Entities: told.Entities})
		}
	}
	t.mu.Unlock()
	slices.SortFunc(looks, func(a, b tape.Look) int { return cmp.Compare(a.Player, b.Player) })
	for i := range looks {
		l := &looks[i]
		a := set.of(t.sessions.player(foretick.PlayerID(l.Player)))
		if l.Renamed = l.Renamed || a == nil || a.operator <= t.clock.now; !l.Renamed {
			l.Entities = nil // the trace has the entities already
		}
	}
	t.looks = looks
	return looks
}

// look handles a request of the server's own program for a player's trace.
func (t *traceRequests) look(set *traceSet, l *tape.Look) {
	p, now := t.sessions.player(foretick.PlayerID(l.Player)), t.clock.now
	if l.Reports {
		t.reports.askReport(p)
	}
	a := set.of(p)
	switch {
	case l.Looked && a == nil && (p == nil || !p.traceable()):
		t.refuse(set, l, "the player does not play")
		return
	case l.Looked && a == nil && len(set.armed) == tracesMost:
		t.refuse(set, l, "the server has four traces already: end one of them")
		return
	case l.Looked && a == nil:
		a = t.armTrace(set, p)
	case a == nil:
		return
	}
	if l.Looked {
		a.operator, a.watched = now+game.TraceLapse, true
		if set == &t.match {
			p.tracing.late = a.operator + traceLate
		}
	}
	if l.Renamed && a.operator > now {
		a.rename(l.Entities)
		a.asked = 0
	}
	if l.Stop && a.operator > now {
		a.operator = 0
		if set == &t.match {
			p.tracing.stop = true
		}
	}
}

// refuse reports to the program why there is no trace.
func (t *traceRequests) refuse(set *traceSet, l *tape.Look, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if port := set.ports[foretick.PlayerID(l.Player)]; port != nil { // a tape may name players that never existed
		port.Set(trace.No, why)
	}
}

// playerTrace is an armed trace of a player, on the server. One of the set aside has no client.
type playerTrace struct {
	sim      *simulation
	p        *player
	port     *trace.Port
	recorder *trace.Recorder
	request  trace.Request
	// nobody is true if the program requested only entities that the player does not own.
	nobody bool
	// shape is the structure of the player's part when its entities were listed.
	shape uint64

	// client is until when the player's client uses the trace. It is 0 if it does not.
	client   time.Duration
	operator time.Duration // until when the server's own program uses the trace
	watched  bool          // the server's own program has used the trace

	scratch   []byte
	sender    trace.Sender    // sends the server's records to the client
	assembler trace.Assembler // assembles the client's records
	asked     time.Duration   // when the client was last asked for its records
	heard     time.Duration   // when one of the client's records last arrived
}

// Net returns the name of a referenced entity on the player's client, or 0 if the client cannot see it.
// It implements schema.Refs.
func (t *playerTrace) Net(entity uint64) uint32 {
	e := ecs.Entity(entity)
	id := t.sim.p.Identity.Find(t.sim.world, e)
	if id == nil || t.p.interest.hides[e] {
		return 0
	}
	name, _ := t.sim.nameFor(t.p, e, id)
	return name
}

// Entity is never called.
func (t *playerTrace) Entity(uint32) uint64 { return 0 }

// nameFor returns the name of an entity on a player's connection, and the audiences that the player
// receives of it. The name is 0 if the client does not know the entity.
func (m *simulation) nameFor(p *player, e ecs.Entity, id *game.NetworkID) (name uint32, audience schema.Audience) {
	own, net := m.world.Owner(e) == p.owner, snapshot.NetID(id.Net)
	var wire schema.WireID
	shown := false
	switch {
	case p.local != nil:
		if wire, _, shown = p.local.Knows(net); own {
			audience = schema.ToOwner
		}
	case p.outbox.sender != nil:
		wire, shown = p.outbox.sender.Wire(net)
		audience = p.outbox.sender.Audience(net)
	}
	if own && id.Origin != 0 && id.Maker == uint16(p.owner) {
		if !shown {
			audience = schema.ToOwner // the client spawned the entity, and receives no more than its owner does
		}
		return id.Origin, audience
	}
	if shown {
		return uint32(wire), audience
	}
	return 0, 0
}

// may reports whether the player may trace an entity: it owns the entity, predicts it and receives it.
func (t *playerTrace) may(e ecs.Entity) bool {
	return t.sim.world.Owner(e) == t.p.owner && !t.p.interest.hides[e] && !t.sim.clientOnly(e)
}

// list adds the player's entities that were requested and are not in the record yet.
func (t *playerTrace) list() {
	t.shape = ecs.Engine(t.sim.world).Structure(t.p.owner)
	if t.nobody {
		return
	}
	var c game.Candidates
	for _, rows := range t.sim.entities.Owned(t.sim.world, t.p.owner) {
		ids := t.sim.p.Identity.Slice(rows)
		for i := range ids {
			id, e := &ids[i], rows.Entity(i)
			if t.sim.p.Prefabs[id.Prefab].Interpolated && !id.Ahead || !t.may(e) {
				continue
			}
			if name, audience := t.sim.nameFor(t.p, e, id); name != 0 && t.request.Wants(name) {
				c.Offer(game.Candidate{Entity: e, Name: name, Prefab: int(id.Prefab), Audience: audience})
			}
		}
	}
	c.AddTo(t.recorder)
}

// begin begins the record of the tick that will run.
func (t *playerTrace) begin(tick foretick.Tick) {
	t.recorder.Begin(tick)
	t.list()
	t.take(trace.Start())
}

// take records the player's entities at a step.
func (t *playerTrace) take(step int) {
	t.recorder.At(step)
	if step != trace.Start() && ecs.Engine(t.sim.world).Structure(t.p.owner) != t.shape {
		t.list()
	}
	for i := range t.recorder.Entities() {
		switch e := ecs.Entity(t.recorder.Handle(i)); {
		case e == 0:
		case !t.may(e):
			t.recorder.Gone(i)
		default:
			t.sim.p.RecordEntity(t.sim.world, t.recorder, i, t, step == trace.Start())
		}
	}
}

// rename sets the entities that the server's program requested.
func (t *playerTrace) rename(handles []uint64) {
	t.request, t.nobody = trace.Request{}, len(handles) > 0
	for _, h := range handles {
		id := t.sim.p.Identity.Find(t.sim.world, ecs.Entity(h))
		if id == nil || !t.may(ecs.Entity(h)) {
			continue
		}
		if name, _ := t.sim.nameFor(t.p, ecs.Entity(h), id); name != 0 {
			t.request.Names[t.request.N] = name
			t.request.N++
			t.nobody = false
		}
	}
}

// write puts the messages of the trace into the packet that is being built, after its snapshot.
func (t *playerTrace) write(now time.Duration) {
	pk, b := t.p.outbox.draft.packet, t.scratch[:0]
	if t.operator > now && t.asks(now) && pk.Message(game.MessageTrace, trace.AppendAsk(b, t.request.Names[:t.request.N])) {
		t.asked = now
	}
	if t.client > now {
		if b = t.sender.Append(b, &t.port.Server, pk.Room(), t.sim.frame.Tick); len(b) > 0 {
			pk.Message(game.MessageTrace, b)
		}
	}
	t.scratch = b[:0]
}

// piece adds a piece of the client's records.
func (t *playerTrace) piece(b []byte) error {
	return t.assembler.Add(b, t.port.Layout, &t.port.Client)
}

// asks reports whether the client must be asked again for its records.
func (t *playerTrace) asks(now time.Duration) bool {
	every := game.TraceRefresh
	if t.heard <= t.asked {
		every = game.TraceRepeat
	}
	return t.asked == 0 || now-t.asked >= every
}

// loopback reports whether a player's address is this machine's, or the player has no address because
// it plays in the server's own process.
func (p *player) loopback() bool { return p.local != nil || isLoopback(p.session.address) }

// playerTracing is a player's part of the traces on the server.
type playerTracing struct {
	armed *playerTrace // nil: the player has no trace
	// late is until when the client's records may arrive. It is 0 if none were requested.
	late time.Duration
	asks game.Allowance // limits the client's requests to begin and stop a trace
	// refused is why the client's last request was refused, until the client is told. It is 0 if it was
	// not.
	refused byte
	stop    bool // the client must be told to stop
}
