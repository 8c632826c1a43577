package client

import (
	"encoding/binary"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/transport"
)

// preview is the engine of package preview: a server and one of its players in one world.
type preview struct {
	// Step reads the input, runs a tick of the server with it, records the tick's values as words,
	// calls the hooks, and draws values between two records into the world. Before the next tick,
	// canvas restores the tick's values in the world.
	base
	requestBox
	match   seat.Match
	input   input
	stage   stage
	seat    *seat.Player
	canvas  canvas
	spawned []spawnedHere // spawned in the running tick

	begun  bool
	epoch  time.Time // when the server started
	last   time.Time // when the newest Step was
	scale  float64
	paused bool
	steps  int // how many ticks StepTick asked for

	allowance game.Allowance
	packed    []byte        // scratch for a request
	rendered  foretick.Tick // the number of the newest rendered frame
	shown     shownTime
	level     uint8
	busy      bool // a tick or a frame is being computed
}

// CheckPreview is for package preview, and clients do not call it. It refuses a wrong configuration,
// and fills in the defaults.
func (*internals) CheckPreview(cfg *Config) error {
	if err := cfg.checkConfig(); err != nil {
		return err
	}
	if cfg.Verify != nil {
		return compiledOf(cfg.Protocol).Registry.Verify(false, cfg.Verify)
	}
	return nil
}

// NewPreview is for package preview, and clients do not call it. It makes the player of a preview from
// a checked configuration.
func (*internals) NewPreview(cfg Config, m seat.Match) foretick.Requester {
	return newPreview(cfg, m)
}

// newPreview makes the player of a preview from a checked configuration.
func newPreview(cfg Config, m seat.Match) *preview {
	own, w := compiledOf(cfg.Protocol), m.World()
	p := &preview{match: m, seat: &seat.Player{}, scale: 1}
	p.base = base{
		cfg: cfg, p: own, build: own, world: w, view: View{World: w}, architecture: runtime.GOARCH, serverArchitecture: runtime.GOARCH,
		frame: foretick.Frame{World: w, DT: 1 / float32(own.TickRate)}, frames: game.NewState(w, own.TickRate, m.Queues()),
	}
	p.running = bindFrame(&p.frame, p.frames)
	p.requestBox = game.NewAsker(p.queueRequest)
	p.frames.Attach(previewEnd{p})
	p.losses = game.NewLosses(&own.Facts, cfg.Logger, w, &p.frame.Tick, p.running, &p.stats.ValuesOutside, &p.stats.ChangesSwallowed)
	p.input, p.stage = newInput(&p.base), newStage(&p.base)
	p.input.clearInput()
	p.canvas = newCanvas(own, m)
	m.Show(p)
	return p
}

// Step implements probe.Preview.
func (p *preview) Step(now time.Time) View {
	if p.view.State == Closed {
		return p.view
	}
	if !p.begun {
		p.begin(now)
	}
	passed := min(max(now.Sub(p.last), 0), game.MaxCatchUp*p.match.Interval())
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
		misuse.Panicf("foretick: SetTimeScale(%v): use a number above 0 and up to %d; Pause stops time", scale, mostScale)
	}
	p.scale = scale
}

const mostScale = 100

// Edit implements probe.Preview.
func (p *preview) Edit(fn func(f *foretick.ServerFrame)) {
	if p.busy {
		misuse.Panicf("foretick: Preview.Edit in a system or hook: change the world there itself")
	}
	p.canvas.undraw()
	p.match.Edit(fn)
	p.canvas.recordEdit(p.match.Tick())
}

// Close implements probe.Preview.
func (p *preview) Close() error {
	p.canvas.undraw()
	err := p.match.Close()
	p.end()
	return err
}

// end checks whether the match, or the player's part in it, is over.
func (p *preview) end() {
	switch gone := p.seat.Gone; {
	case p.view.State == Closed:
	case gone != nil:
		p.view.State, p.view.Err = Closed, gone
		if !p.match.Closed() {
			p.match.Leave() // no further tick does it
		}
	case p.match.Closed():
		p.view.State, p.view.Err = Closed, &transport.DisconnectError{Code: transport.Closed}
	}
}

// begin starts the time of the match. The first tick is due at once.
func (p *preview) begin(now time.Time) {
	m := p.match
	p.begun, p.epoch, p.last = true, now, now
	p.now = m.Due(0)
	m.Step(p.epoch, 0)
	p.now = m.Due(1)
	m.Join(1, p.seat)
	p.view.State, p.view.Player, p.level = Syncing, 1, m.Level().Epoch
	if p.cfg.OnSession != nil {
		p.cfg.OnSession(Session{Kind: SessionJoined})
	}
	if m.Level().Named {
		p.enter()
	}
}

// advance computes the ticks that become due as real time passes.
func (p *preview) advance(passed time.Duration) {
	m := p.match
	t := m.Tick()
	last := t
	switch {
	case p.paused:
		if last += foretick.Tick(p.steps); p.steps > 0 {
			p.now = m.Due(last+1) - 1
		}
	default:
		p.now += time.Duration(math.Round(float64(passed) * p.scale))
		for m.Due(last+1) <= p.now {
			last++
		}
	}
	if !p.paused || p.steps > 0 {
		p.sample(last)
	}
	p.steps = 0
	for ; t != last && p.view.State != Closed && !m.Ended(); t++ {
		p.tick(t + 1)
	}
}

// sample reads the input, and makes the commands up to a tick. The player joins in the first tick, and
// has no command in it.
func (p *preview) sample(last foretick.Tick) {
	if p.view.State == Playing {
		looking := screenFrame{number: p.rendered, shown: p.shown, tick: p.view.Tick, fraction: p.view.Fraction}
		p.input.readInput(looking)
		p.input.commandUpTo(last, looking)
	} else {
		p.input.sampled = last
	}
}

// tick computes a tick, and calls a client's hooks for it.
func (p *preview) tick(t foretick.Tick) {
	p.busy = true
	defer func() { p.busy = false }()
	p.seat.Command = nil
	if in := p.input.history.Find(t); in != nil {
		p.seat.Command = in.value
		p.seat.Claim.Tick, p.seat.Claim.Fraction = in.whole.A, in.whole.F
	}
	p.match.Step(p.epoch, t)
	p.canvas.record(t)
	p.told(t)
	p.view.State = Playing
	p.end()
}

// draw draws the match at the present time into the world, and runs the render systems.
func (p *preview) draw() {
	if p.view.State != Playing {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	m := p.match
	t := m.Tick()
	part := float32(p.now-m.Due(t)) / float32(m.Interval())
	part = float32(int(min(max(part, 0), 1)*256)) / 256 // as precisely as a command has it
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

// told calls the hooks that a client calls for a tick: for the level, its messages, the player's
// spawns, and the player's events.
func (p *preview) told(t foretick.Tick) {
	f := &p.frame
	f.Tick = t
	for i := 0; i < len(p.seat.Inbox); i++ {
		p.message(t, p.seat.Inbox[i])
	}
	p.seat.Inbox, p.seat.Bytes = p.seat.Inbox[:0], p.seat.Bytes[:0]
	for _, s := range p.spawned {
		p.tellSpawn(s.calls.OnPredicted, s.e)
		p.tellSpawn(s.calls.OnConfirmed, s.e)
	}
	clear(p.spawned)
	p.spawned = p.spawned[:0]
	for _, q := range p.frames.Queues {
		q.Show(p.frames, f, &f.Tick, t)
	}
	if p.level != p.match.Level().Epoch {
		p.enter()
	}
}

// enter calls the game's handlers of a level, as a client does when it enters the level.
func (p *preview) enter() {
	l := p.match.Level()
	p.level = l.Epoch
	p.frame.Tick = l.Tick
	for _, fn := range p.p.Handlers.Levels {
		fn(&p.frame, l.Data)
	}
}

// message passes a message to the game.
func (p *preview) message(t foretick.Tick, m seat.Message) {
	payload := p.seat.Bytes[m.From:m.Upto]
	if m.Channel == standard.ChannelMain && m.Kind == game.KindRefused {
		if p.cfg.OnRefused != nil {
			p.cfg.OnRefused(binary.LittleEndian.Uint32(payload), string(payload[4:]))
		}
		return
	}
	of := &p.p.Messages[m.Kind]
	_ = p.p.Handlers.Messages[of.Own](of.Schema, &p.frame, t, payload) // it was packed by the same schema
}

// queueRequest queues a request of the player for the next tick.
func (p *preview) queueRequest(id game.RequestID, v unsafe.Pointer) error {
	r := &p.p.Requests[id-1]
	switch {
	case !p.match.Sits(p.view.Player, p.seat):
		return foretick.ErrNotPlaying
	case !p.allowance.TakeOne(p.now, game.RequestRate, game.RequestBurst):
		return foretick.ErrTooManyRequests
	}
	p.losses.Sent(r.Name, r.Schema, v)
	p.packed = r.Schema.Pack(v, p.packed[:0])
	p.match.Request(p.view.Player, uint8(r.Kind), p.packed)
	return nil
}

// spawnedHere is an entity that a shared system spawned for the player.
type spawnedHere struct {
	e     ecs.Entity
	calls *game.Spawn[*foretick.Frame]
}

// Undraw implements Screen.
func (p *preview) Undraw() {
	if !p.busy {
		p.canvas.undraw()
	}
}

// NoteTeleport implements Screen.
func (p *preview) NoteTeleport(e ecs.Entity) { p.canvas.cut = append(p.canvas.cut, e) }

// NoteSpawn implements Screen.
func (p *preview) NoteSpawn(e ecs.Entity, owner foretick.PlayerID, prefab int) {
	if owner == p.view.Player && !p.p.Prefabs[prefab].ClientOnly() {
		p.spawned = append(p.spawned, spawnedHere{e, p.spawnConfig(prefab)})
	}
}

// Shows implements Screen. A client of the player would predict the events of its own entities, and of
// shared physics objects.
func (p *preview) Shows(by ecs.Entity, owner foretick.PlayerID) bool {
	switch {
	case !p.match.SharedRuns():
		return false
	case owner == ecs.Nobody:
		k := p.p.PrefabNamed(p.p.Identity.Find(p.world, by))
		return k != nil && k.Common
	}
	return owner == p.view.Player
}

// previewEnd answers, in a preview, what render systems and a client's hooks ask of their frames.
type previewEnd struct{ p *preview }

var _ interface {
	game.Spawner
	game.Viewer
} = previewEnd{}

func (previewEnd) SpawnBy(_ ecs.Entity, k *ecs.Prefab) ecs.Entity {
	misuse.Panicf("foretick: SpawnBy of prefab %q in a render system or a client's hook: spawn in a Shared or Server system", k.Name())
	return ecs.None
}

func (previewEnd) Destroy(ecs.Entity) bool                             { return false }
func (previewEnd) Teleport(ecs.Entity) bool                            { return false }
func (previewEnd) IsServer() bool                                      { return false }
func (previewEnd) Spawn(*ecs.Prefab, foretick.PlayerID) ecs.Entity     { return ecs.None }
func (previewEnd) Simulates(ecs.Entity) bool                           { return false }
func (previewEnd) ShownBefore(foretick.PlayerID) uint8                 { return 0 }
func (previewEnd) Raised(ecs.Entity, foretick.PlayerID, int) game.Fate { return 0 } // only ticks raise events

func (e previewEnd) PrefabOf(of ecs.Entity) *ecs.Prefab { return e.p.match.PrefabOf(of) }

func (e previewEnd) Final() foretick.Tick { return e.p.match.Final() }

// seen returns the view of the frame on the screen.
func (e previewEnd) seen() game.Sight {
	v := &e.p.view
	return e.p.match.Sight(v.Player, v.RenderTick, v.RenderFraction)
}

func (e previewEnd) Rewind(foretick.PlayerID) game.Sight                { return e.seen() }
func (e previewEnd) RewindBehind(foretick.PlayerID, float32) game.Sight { return e.seen() }
func (e previewEnd) Present() game.Sight                                { return e.seen() }
func (e previewEnd) Moment(foretick.Tick) game.Sight                    { return e.seen() }
