package foretick

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/transport"
)

// preview is the engine of package preview: a server and one player of it in one world.
type preview struct {
	// The path of the data: Step reads the input, runs a tick of the server with it, keeps
	// the tick's values as words (record), calls the hooks, and draws two records into the
	// world. Before the next tick the world gets its own values back (canvas).
	clientBase
	requestBox
	server  previewServer
	match   previewMatch
	input   input
	stage   stage
	seat    *localPlayer
	canvas  canvas
	spawned []spawnedHere // spawned are those of the running tick.

	begun  bool
	epoch  time.Time // epoch is the server's start.
	last   time.Time // last is the time of the newest Step.
	scale  float64
	paused bool
	steps  int // steps are the ticks that StepTick asked for.

	allowance game.Allowance
	packed    []byte // packed is scratch for a request.
	rendered  Tick   // rendered is the number of the newest rendered frame.
	shown     shownTime
	level     uint8
	busy      bool // busy is true while a tick or a frame is on.
}

// previewServer is the server of a preview, as its program has it.
type previewServer interface {
	Step(now time.Time)
	Close(detail string) error
	Internals() probe.Server
}

// previewMatch is what a preview uses of its server between Steps.
type previewMatch struct {
	sim      *simulation
	clock    *serverClock
	run      *serverRun
	level    *serverLevel
	sessions *sessions
	seats    *seats
	views    *serverViews
	entities *serverEntities
}

// PreviewInternals makes the engine of package preview, whose New games call instead: its
// type is internal. The [Requester] is the engine's player.
func PreviewInternals(server ServerConfig, client ClientConfig) (Requester, probe.Preview[View, Frame, Server], error) {
	p, err := newPreview(server, client)
	if err != nil {
		return nil, nil, err
	}
	return p, p, nil
}

func newPreview(server ServerConfig, client ClientConfig) (*preview, error) {
	var errs []error
	if server.Transport != nil || client.Transport != nil {
		errs = append(errs, errors.New("preview: New is given a Transport, and a preview has no network: leave it out, or host a match with package transport/local"))
	}
	if client.Observe {
		errs = append(errs, errors.New("preview: New is given ClientConfig.Observe, and one player plays in a preview: leave it out"))
	}
	if client.Protocol == nil {
		client.Protocol = server.Protocol
	}
	if client.Protocol != server.Protocol {
		errs = append(errs, errors.New("preview: New is given two Protocols, and a preview has one world: pass that of one game value in both, or in ServerConfig alone"))
	}
	server.Transport, client.Transport = nowhere{}, nowhere{}
	if err := server.check(); err != nil {
		errs = append(errs, err)
	} else if err := client.checkConfig(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	own := &server.Protocol.compiled
	if client.Verify != nil {
		if err := own.Registry.Verify(false, client.Verify); err != nil {
			return nil, err
		}
	}
	server.Tags = append(append([]string{TagClient, TagRender}, server.Tags...), client.Tags...)
	s, err := newServer(server)
	if err != nil {
		return nil, err
	}
	p := &preview{server: s, match: previewMatch{&s.sim, &s.clock, &s.run, &s.level, &s.sessions, &s.seats, &s.views, &s.entities}, seat: &localPlayer{}, scale: 1}
	p.clientBase = clientBase{
		cfg: client, p: own, world: s.sim.world, view: View{World: s.sim.world}, architecture: runtime.GOARCH, serverArchitecture: runtime.GOARCH,
		frame: Frame{World: s.sim.world, DT: 1 / float32(own.TickRate)}, frames: game.NewFrameState(s.sim.world, own.TickRate, s.sim.frames.Queues),
	}
	p.running = bindFrame(&p.frame, p.frames)
	p.requestBox = game.NewAsker(p.queueRequest)
	p.frames.Attach(previewEnd{p})
	p.losses = game.NewLosses(&own.Facts, client.Logger, s.sim.world, &p.frame.Tick, p.running, &p.stats.ValuesOutside, &p.stats.ChangesSwallowed)
	p.input, p.stage = newInput(&p.clientBase), newStage(&p.clientBase)
	p.input.clearInput()
	p.canvas = newCanvas(&s.sim)
	s.run.inner, s.sim.screen = true, p
	return p, nil
}

// Server implements probe.Preview.
func (p *preview) Server() *Server { return p.server.(*Server) } // newPreview made it

// Step implements probe.Preview.
func (p *preview) Step(now time.Time) View {
	if p.view.State == Closed {
		return p.view
	}
	if !p.begun {
		p.begin(now)
	}
	passed := min(max(now.Sub(p.last), 0), maxCatchUp*p.match.clock.interval)
	p.last = now
	p.canvas.undraw()
	p.advance(passed)
	p.draw()
	return p.view
}

// Pause implements probe.Preview.
func (p *preview) Pause(on bool) { p.paused = on }

// StepTick implements probe.Preview.
func (p *preview) StepTick() {
	p.paused = true
	p.steps++
}

// SetTimeScale implements probe.Preview.
func (p *preview) SetTimeScale(scale float64) {
	if !(scale > 0 && scale <= mostScale) {
		misuse.Panicf("SetTimeScale(%v): use a number above 0 and up to %d; Pause stops time", scale, mostScale)
	}
	p.scale = scale
}

const mostScale = 100

// Edit implements probe.Preview.
func (p *preview) Edit(fn func(f *Frame)) {
	if p.busy {
		misuse.Panicf("Preview.Edit in a system or hook: change the world there itself")
	}
	p.canvas.undraw()
	fn(&p.match.sim.frame)
	p.match.sim.roundTick(true)
	p.canvas.record(p.match.sim.frame.Tick)
}

// Close implements probe.Preview.
func (p *preview) Close() error {
	p.canvas.undraw()
	err := p.server.Close("")
	p.end()
	return err
}

// end notes that the match, or the player's part in it, is over.
func (p *preview) end() {
	switch gone := p.seat.gone; {
	case p.view.State == Closed:
	case gone != nil:
		p.view.State, p.view.Err = Closed, gone
	case p.match.run.closed:
		p.view.State, p.view.Err = Closed, &transport.DisconnectError{Code: transport.Closed}
	}
}

// begin starts the time of the match. The first tick is due at once.
func (p *preview) begin(now time.Time) {
	s := &p.match
	p.begun, p.epoch, p.last = true, now, now
	p.now = s.clock.due(0)
	p.stepServer(0)
	p.now = s.clock.due(1)
	s.seats.joinLocal(1, p.seat)
	p.view.State, p.view.Player, p.level = Syncing, 1, s.level.epoch
	if p.cfg.OnSession != nil {
		p.cfg.OnSession(Session{Kind: SessionJoined})
	}
	if s.level.named {
		p.enter()
	}
}

// advance computes the ticks that are due once some real time has passed.
func (p *preview) advance(passed time.Duration) {
	s := &p.match
	t := s.sim.frame.Tick
	last := t
	switch {
	case p.paused:
		if last += Tick(p.steps); p.steps > 0 {
			p.now = s.clock.due(last+1) - 1
		}
	default:
		p.now += time.Duration(math.Round(float64(passed) * p.scale))
		for s.clock.due(last+1) <= p.now {
			last++
		}
	}
	if !p.paused || p.steps > 0 {
		p.sample(last)
	}
	p.steps = 0
	for ; t != last && p.view.State != Closed && !s.sim.ended(); t++ {
		p.tick(t + 1)
	}
}

// sample reads the input, and makes the commands up to a tick. The player joins in the first
// tick, and gives none for it.
func (p *preview) sample(last Tick) {
	if p.view.State == Playing {
		looking := screenFrame{number: p.rendered, shown: p.shown, tick: p.view.Tick, fraction: p.view.Fraction}
		p.input.readInput(looking)
		p.input.commandUpTo(last, looking)
	} else {
		p.input.sampled = last
	}
}

// tick computes a tick, and calls what a client's game is told of it.
func (p *preview) tick(t Tick) {
	p.busy = true
	defer func() { p.busy = false }()
	p.seat.command = nil
	if in := p.input.history.Find(t); in != nil {
		p.seat.command = in.value
		p.seat.claim.Tick, p.seat.claim.Fraction = in.whole.A, in.whole.F
	}
	p.stepServer(t)
	p.canvas.record(t)
	p.told(t)
	p.view.State = Playing
	p.end()
}

// stepServer runs the server up to a tick.
func (p *preview) stepServer(t Tick) {
	s := &p.match
	s.run.stepping = true
	defer func() { s.run.stepping = false }()
	p.server.Step(p.epoch.Add(s.clock.due(t)))
}

// draw shows the time of the match in the world, and runs the render systems.
func (p *preview) draw() {
	if p.view.State != Playing {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	s := &p.match
	t := s.sim.frame.Tick
	part := float32(p.now-s.clock.due(t)) / float32(s.clock.interval)
	part = float32(int(min(max(part, 0), 1)*256)) / 256 // as a command carries it
	since := p.now - p.shown.at
	p.rendered++
	p.view.Tick, p.view.Fraction = t, part
	p.view.RenderTick, p.view.RenderFraction = t-1, part
	if part == 1 {
		p.view.RenderTick, p.view.RenderFraction = t, 0
	}
	p.shown = shownTime{tick: p.view.RenderTick, fraction: uint8(p.view.RenderFraction * 256), at: p.now}
	p.canvas.draw(part)
	f := &p.frame
	f.Tick, f.DT = t, float32(since.Seconds())
	p.stage.callAppearances()
	p.p.Schedule.ExecuteRender(p.world, f)
	f.DT = 1 / float32(p.p.TickRate)
}

// told calls what a client's game is told of a tick: the level, its messages, what its player
// spawned, and the events of its player.
func (p *preview) told(t Tick) {
	f := &p.frame
	f.Tick = t
	for i := 0; i < len(p.seat.inbox); i++ {
		p.message(t, p.seat.inbox[i])
	}
	p.seat.inbox, p.seat.bytes = p.seat.inbox[:0], p.seat.bytes[:0]
	for _, s := range p.spawned {
		p.tellSpawn(s.calls.OnPredicted, s.e)
		p.tellSpawn(s.calls.OnConfirmed, s.e)
	}
	clear(p.spawned)
	p.spawned = p.spawned[:0]
	for _, q := range p.frames.Queues {
		q.Show(p.frames, f, &f.Tick, t)
	}
	if p.level != p.match.level.epoch {
		p.enter()
	}
}

// enter tells the game of a level, as a client that enters it.
func (p *preview) enter() {
	p.level = p.match.level.epoch
	p.frame.Tick = p.match.level.tick
	for _, fn := range p.p.Handlers.Levels {
		fn(&p.frame, p.match.level.data)
	}
}

// message passes a message to the game.
func (p *preview) message(t Tick, m localMessage) {
	payload := p.seat.bytes[m.from:m.upto]
	if m.channel == standard.ChannelMain && m.kind == game.KindRefused {
		if p.cfg.OnRefused != nil {
			p.cfg.OnRefused(binary.LittleEndian.Uint32(payload), string(payload[4:]))
		}
		return
	}
	of := &p.p.Messages[m.kind]
	_ = p.p.Handlers.Messages[of.Own](of.Schema, &p.frame, t, payload) // it was packed by the same schema
}

// request queues a request of the player for the next tick.
func (p *preview) queueRequest(id game.RequestID, v unsafe.Pointer) error {
	at := p.match.sessions.player(p.view.Player)
	switch r := &p.p.Requests[id-1]; {
	case at == nil || at.local != p.seat:
		return ErrNotIn
	case !p.allowance.TakeOne(p.now, requestRate, requestBurst):
		return ErrTooMany
	default:
		p.losses.Sent(r.Name, r.Schema, v)
		p.packed = r.Schema.Pack(v, p.packed[:0])
		at.requests.add(uint8(r.Kind), p.packed)
		return nil
	}
}

// spawnedHere is an entity that a shared system spawned for the player.
type spawnedHere struct {
	e     ecs.Entity
	calls *game.Spawn[*Frame]
}

// undraw implements localScreen.
func (p *preview) undraw() {
	if !p.busy {
		p.canvas.undraw()
	}
}

// noteTeleport implements localScreen.
func (p *preview) noteTeleport(e ecs.Entity) { p.canvas.cut = append(p.canvas.cut, e) }

// noteSpawn implements localScreen.
func (p *preview) noteSpawn(e ecs.Entity, owner PlayerID, prefab int) {
	if owner == p.view.Player && !p.p.Prefabs[prefab].ClientOnly() {
		p.spawned = append(p.spawned, spawnedHere{e, p.spawnConfig(prefab)})
	}
}

// shows implements localScreen: whether a client of the player would predict the events of an entity: its
// own, and those of shared physics objects.
func (p *preview) shows(by ecs.Entity, owner PlayerID) bool {
	switch {
	case !p.match.sim.writes.sharedRuns():
		return false
	case owner == ecs.Nobody:
		k := p.p.PrefabNamed(p.p.Identity.Find(p.world, by))
		return k != nil && k.Common
	}
	return owner == p.view.Player
}

// previewEnd is what the frames of render systems and of a client's hooks ask in a preview.
type previewEnd struct{ p *preview }

var _ interface {
	game.Spawner
	game.Viewer
} = previewEnd{}

func (previewEnd) SpawnBy(_ ecs.Entity, k *ecs.Prefab) ecs.Entity {
	misuse.Panicf("SpawnBy of prefab %q in a render system or a client's hook: spawn in a Shared or Server system", k.Name())
	return ecs.None
}

func (previewEnd) Destroy(ecs.Entity) bool                    { return false }
func (previewEnd) Teleport(ecs.Entity) bool                   { return false }
func (previewEnd) IsServer() bool                             { return false }
func (previewEnd) Spawn(*ecs.Prefab, PlayerID) ecs.Entity     { return ecs.None }
func (previewEnd) Simulates(ecs.Entity) bool                  { return false }
func (previewEnd) ShownBefore(PlayerID) uint8                 { return 0 }
func (previewEnd) Raised(ecs.Entity, PlayerID, int) game.Fate { return 0 } // only ticks raise events

func (e previewEnd) PrefabOf(of ecs.Entity) *ecs.Prefab { return e.p.match.entities.PrefabOf(of) }

func (e previewEnd) Final() Tick { return e.p.match.entities.Final() }

// seen returns what the frame on the screen shows.
func (e previewEnd) seen() game.Sight {
	s, v := &e.p.match, &e.p.view
	p := s.sessions.player(v.Player)
	if p == nil {
		return game.Sight{Bare: len(s.sim.p.Hitboxes) == 0}
	}
	t := s.sim.frame.Tick
	return s.views.sightOf(p.shooter.ViewBehind(t+1, float32(t+1-v.RenderTick)-v.RenderFraction))
}

func (e previewEnd) Rewind(PlayerID) game.Sight                { return e.seen() }
func (e previewEnd) RewindBehind(PlayerID, float32) game.Sight { return e.seen() }
func (e previewEnd) Present() game.Sight                       { return e.seen() }
func (e previewEnd) Moment(Tick) game.Sight                    { return e.seen() }

// StateHash implements probe.Preview.
func (p *preview) StateHash() uint64 {
	p.canvas.undraw()
	return p.server.Internals().StateHash()
}

// nowhere is the endpoint of a server without a network.
type nowhere struct{}

func (nowhere) Recv([]transport.Event) int                          { return 0 }
func (nowhere) Ready() <-chan struct{}                              { return nil }
func (nowhere) Send(transport.PeerID, []byte) error                 { return transport.ErrNoPeer }
func (nowhere) Flush()                                              {}
func (nowhere) Disconnect(transport.PeerID, transport.Code, string) {}
func (nowhere) Info(transport.PeerID, *transport.Info) bool         { return false }
func (nowhere) Close(transport.Code, string) error                  { return nil }
