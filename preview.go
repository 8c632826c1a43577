package foretick

import (
	"errors"
	"math"
	"runtime"
	"time"

	"github.com/foretick/foretick/transport"
)

// Preview runs a game's server and one player of it in one world and one goroutine, without a
// network: for an editor's play button and for single player. Systems, hooks, events,
// messages and requests run as in a match. Nothing is predicted, so nothing is corrected.
//
// In each tick the systems run for everyone: shared ones, those of servers, and those with
// the tag [TagClient]. [Frame.IsServer] is true in them. After the tick the hooks of
// clients run: messages, predicted and confirmed events, levels. Each rendered frame then
// interpolates the entities between the newest two ticks and runs the render systems, whose
// frames belong to a client. Their writes to replicated components are undone.
//
// There is one world, so nothing is hidden: it holds entities that [Frame.SetVisible] and
// [Interest] keep from the player, and fields of every audience. For those rules play over
// package transport/local, which runs both ends. A Preview is not safe for concurrent use.
type Preview struct {
	// The path of the data: Step reads the input, runs a tick of the server with it, keeps
	// the tick's values as words (record), calls the hooks, and draws two records into the
	// world. Before the next tick the world gets its own values back (canvas).
	clientBase
	server  *Server
	input   input
	stage   stage
	seat    *localPlayer
	canvas  canvas
	spawned []spawnedHere // in the running tick

	begun  bool
	epoch  time.Time // the server's start
	last   time.Time // of the newest Step
	scale  float64
	paused bool
	steps  int // ticks that StepTick asked for

	allowance allowance
	packed    []byte // scratch: a request
	rendered  Tick   // number of the newest rendered frame
	shown     shownTime
	level     uint8
	busy      bool // a tick or a frame is on
}

// NewPreview makes a preview. server and client are the game's own configurations, without
// Transport, and client.Protocol may be nil. Fields that only a network needs are not used,
// such as rates, timeouts and History. The error lists every fault.
//
// The player joins in the first tick, which the first Step computes. Build the world before
// it with [Preview.Server].
func NewPreview(server ServerConfig, client ClientConfig) (*Preview, error) {
	var errs []error
	if server.Transport != nil || client.Transport != nil {
		errs = append(errs, errors.New("foretick: NewPreview is given a Transport, and a preview has no network: leave it out, or host a match with package transport/local"))
	}
	if client.Observe {
		errs = append(errs, errors.New("foretick: NewPreview is given ClientConfig.Observe, and one player plays in a preview: leave it out"))
	}
	if client.Protocol == nil {
		client.Protocol = server.Protocol
	}
	if client.Protocol != server.Protocol {
		errs = append(errs, errors.New("foretick: NewPreview is given two Protocols, and a preview has one world: pass that of one game value in both, or in ServerConfig alone"))
	}
	server.Transport, client.Transport = nowhere{}, nowhere{}
	if err := server.check(); err != nil {
		errs = append(errs, err)
	} else if err := client.check(); err != nil {
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
	p := &Preview{server: s, seat: &localPlayer{}, scale: 1}
	p.clientBase = clientBase{
		cfg: client, p: own, world: s.sim.world, view: View{World: s.sim.world}, architecture: runtime.GOARCH, serverArchitecture: runtime.GOARCH,
		frame: Frame{World: s.sim.world, DT: 1 / float32(own.TickRate), rate: own.TickRate, queues: s.sim.frame.queues, client: previewEnd{p}},
	}
	p.losses = newLosses(own, client.Logger, &p.frame.Tick, &p.stats.ValuesOutside, &p.stats.ChangesSwallowed)
	p.input, p.stage = newInput(&p.clientBase), newStage(&p.clientBase)
	p.input.clear()
	p.canvas = newCanvas(s)
	s.run.inner, s.preview = true, p
	return p, nil
}

// Server returns the server inside, to spawn entities before the first Step, for
// [Server.NextLevel], Do and the counters. Do not call its Step: the preview does. Between
// Steps use [Preview.Edit] to change the world: it holds drawn values.
func (p *Preview) Server() *Server { return p.server }

// Step computes the ticks that are due at now, and returns what to draw: the view of a client
// that plays. Call it once per rendered frame, also while paused. now must not go back. At
// most four ticks' time passes in one Step, times the time scale.
func (p *Preview) Step(now time.Time) View {
	if p.view.State == Closed {
		return p.view
	}
	if !p.begun {
		p.begin(now)
	}
	passed := min(max(now.Sub(p.last), 0), maxCatchUp*p.server.clock.interval)
	p.last = now
	p.canvas.undraw()
	p.advance(passed)
	p.draw()
	return p.view
}

// Pause stops the time of the match, or resumes it. While paused, Step still runs the
// render systems, with a DT of 0, and reads no input.
func (p *Preview) Pause(on bool) { p.paused = on }

// StepTick pauses the match, and lets the next Step compute one more tick. That Step reads
// the input and shows the new tick as it is, not between two ticks.
func (p *Preview) StepTick() {
	p.paused = true
	p.steps++
}

// SetTimeScale sets how fast the time of the match runs: 1 is real time, 0.25 a quarter of
// it. The length of a tick stays the same, so the scale changes no result. It panics with
// [UsageError] unless the scale is above 0 and at most 100. Use [Preview.Pause] to stop time.
func (p *Preview) SetTimeScale(scale float64) {
	if !(scale > 0 && scale <= mostScale) {
		misuse("SetTimeScale(%v): use a number above 0 and up to %d; Pause stops time", scale, mostScale)
	}
	p.scale = scale
}

const mostScale = 100

// Edit calls fn on the state of the newest tick, and keeps what fn changes: for an editor that
// moves and spawns things between Steps, also while paused. The next Step shows it. f is the
// server's frame. A change made without Edit to a component that is drawn would be undone.
func (p *Preview) Edit(fn func(f *Frame)) {
	if p.busy {
		misuse("Preview.Edit in a system or hook: change the world there itself")
	}
	p.canvas.undraw()
	fn(&p.server.sim.frame)
	p.server.snap()
	p.canvas.record(p.server.sim.frame.Tick)
}

// Close ends the match: OnLeave runs for the player. After it Step does nothing. A second
// Close returns [transport.ErrClosed].
func (p *Preview) Close() error {
	p.canvas.undraw()
	err := p.server.Close("")
	p.end()
	return err
}

// end notes that the match, or the player's part in it, is over.
func (p *Preview) end() {
	switch gone := p.seat.gone; {
	case p.view.State == Closed:
	case gone != nil:
		p.view.State, p.view.Err = Closed, gone
	case p.server.run.closed:
		p.view.State, p.view.Err = Closed, &transport.DisconnectError{Code: transport.Closed}
	}
}

// begin starts the time of the match. The first tick is due at once.
func (p *Preview) begin(now time.Time) {
	s := p.server
	p.begun, p.epoch, p.last = true, now, now
	p.now = s.clock.due(0)
	p.stepServer(0)
	p.now = s.clock.due(1)
	s.joinLocal(1, p.seat)
	p.view.State, p.view.Player, p.level = Syncing, 1, s.level.epoch
	if p.cfg.OnSession != nil {
		p.cfg.OnSession(Session{Kind: SessionJoined})
	}
	if s.level.named {
		p.enter()
	}
}

// advance computes the ticks that are due once some real time has passed.
func (p *Preview) advance(passed time.Duration) {
	s := p.server
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
	for ; t != last && p.view.State != Closed && !s.Ended(); t++ {
		p.tick(t + 1)
	}
}

// sample reads the input, and makes the commands up to a tick. The player joins in the first
// tick, and gives none for it.
func (p *Preview) sample(last Tick) {
	if p.view.State == Playing {
		looking := screenFrame{number: p.rendered, shown: p.shown, tick: p.view.Tick, fraction: p.view.Fraction}
		p.input.read(looking)
		p.input.commandUpTo(last, looking)
	} else {
		p.input.sampled = last
	}
}

// tick computes a tick, and calls what a client's game is told of it.
func (p *Preview) tick(t Tick) {
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
func (p *Preview) stepServer(t Tick) {
	s := p.server
	s.run.stepping = true
	defer func() { s.run.stepping = false }()
	s.Step(p.epoch.Add(s.clock.due(t)))
}

// draw shows the time of the match in the world, and runs the render systems.
func (p *Preview) draw() {
	if p.view.State != Playing {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	s := p.server
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
	p.stage.tell()
	p.p.schedule.ExecuteRender(p.world, f)
	f.DT = 1 / float32(p.p.TickRate)
}
