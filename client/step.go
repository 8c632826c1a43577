package client

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// Step receives packets, predicts the ticks that are due at now, sends the player's commands, and
// returns what to draw. Call it once per rendered frame. now must not go back: if it does, no tick is
// predicted until now is later than ever before. A time of more than 30 s between two Steps, in either
// direction, does not count: the client was hidden, or its clock was set. It panics with
// [foretick.UsageError] in a function that Step calls, such as a system, a handler or a Sampler.
func (c *Client) Step(now time.Time) View {
	if c.stepping {
		misuse.Panicf("foretick: Client.Step in a function that Step calls: a system, a handler, a hook or a Sampler must not call it")
	}
	c.stepping = true
	defer func() { c.stepping = false }()
	c.runStep(now)
	if c.closing {
		_ = c.closeClient()
	}
	return c.view
}

func (c *Client) runStep(now time.Time) View {
	defer c.finishStep(c.inspected.beginStep())
	if !c.begun {
		c.begun, c.start, c.read = true, now, now
	}
	c.readClock(now)
	if c.view.State == Closed {
		return c.view
	}
	c.undraw()
	c.changeTechniques()
	c.receive()
	if c.view.State == Resuming {
		c.link.redial()
	}
	if c.view.State == Closed {
		return c.view
	}
	if c.tracer.wake.Load() {
		c.pollTrace()
	}
	ticks := c.advance()
	if c.tracer.past {
		c.timeline.retrace()
	}
	c.link.sendPackets(ticks, &c.input)
	c.screen.drawShown(c.time)
	c.link.endpoint.Flush()
	return c.view
}

// readClock notes the time of a Step, and whether the client stood still before it: a page was hidden,
// a process stopped, or a clock was set.
func (c *Client) readClock(now time.Time) {
	last := c.now
	c.now = guard.Elapsed(&c.start, last, now)
	c.link.notePassed(now.Sub(c.read), c.now-last)
	c.read = now
}

// advance advances the time and predicts the ticks that are due.
func (c *Client) advance() int {
	if c.link.clock == nil || c.view.State == Resuming {
		c.view.Stalled = false
		return 0
	}
	t := c.link.clock.Advance(c.now)
	if !t.Started {
		return 0
	}
	if c.techniques.NoInterpolation {
		t.Render, _ = c.ghosts.receiver.Newest()
		t.RenderFraction, t.Interpolation = 0, 0
	}
	c.time = t
	c.view.InputDelay = c.inputDelay(t)
	c.view.Lead = t.Lead
	c.stats.InputDelaySum += c.view.InputDelay
	c.stats.LeadSum += t.Lead
	c.stats.InterpolationSum += t.Interpolation
	c.stats.Frames++
	if c.view.InputDelay > 0 {
		c.stats.InputDelayed++
	}
	ahead := int32(t.Predicted - c.timeline.predictor.Tick())
	switch {
	case !c.timeline.predictor.Started():
		if !c.mayStart(t.Predicted) {
			return 0 // a level was entered, and no snapshot of it came yet
		}
		c.view.State = Playing
		c.startOver(t)
		return 0
	case t.Reset || ahead > int32(c.cfg.History):
		c.stats.HardResets++
		if ahead > 0 || float64(-ahead) > float64(c.p.TickRate)/4*t.Speed && c.backTo(t.Predicted) {
			if c.mayStart(t.Predicted) {
				c.startOver(t)
			}
			return 0
		}
		c.unsample(t)
	}
	c.stall(t)
	if c.timeline.ghosts.overdue {
		c.timeline.takeUnpredicted()
	}
	c.ghosts.othersNewest()
	looking := c.screen.looking()
	c.input.readInput(looking)
	n := c.input.commandUpTo(t.Command, looking)
	for int32(t.Predicted-c.timeline.predictor.Tick()) > 0 {
		c.timeline.predictor.Advance()
		n++
		if c.hooks.syncTest > 0 {
			c.timeline.syncTest()
		}
	}
	return n
}

// backTo reports whether the prediction can start over from the newest snapshot when the clock is set
// back to a tick. Then it does not have to stand still until that tick is over. It starts over only if
// the clock goes back by more ticks than the server computes in a quarter of a second, because commands
// of ticks that run again may differ from those already sent.
func (c *Client) backTo(t foretick.Tick) bool {
	newest, ok := c.ghosts.receiver.Newest()
	return ok && int32(t-newest) >= 0
}

// inputDelay returns the time from the newest command to its effect on the screen, compared
// with a command whose tick is predicted at once.
func (c *Client) inputDelay(t netcode.Time) time.Duration {
	tick := time.Second / time.Duration(c.p.TickRate)
	if !c.cfg.NoPrediction {
		return time.Duration(int32(t.Command-t.Predicted)) * tick
	}
	part := time.Duration((t.Fraction - t.RenderFraction) * float32(tick))
	return max(0, time.Duration(int32(t.Command-t.Render-1))*tick+part)
}

// mayStart reports whether the prediction can start from the newest snapshot. If the server waits for a
// late command, its snapshot may lack the player's own entities.
func (c *Client) mayStart(t foretick.Tick) bool {
	newest, _ := c.ghosts.receiver.Newest()
	return c.ghosts.reaches(t) && c.tellsOwn(newest)
}

// tellsOwn reports whether the snapshot of t may have the player's own entities. A server that waits
// for a late command leaves them out.
func (c *Client) tellsOwn(t foretick.Tick) bool {
	_, all, own := c.ghosts.receiver.Complete(t)
	return c.input.late == 0 || all || own
}

// startOver restarts the prediction from the newest snapshot. It makes no commands for the ticks
// between.
func (c *Client) startOver(t netcode.Time) {
	c.input.sampled = t.Command // the server learns with a later command that an entity appeared now
	c.timeline.jump(t.Predicted)
	c.screen.own.fades.clearFades()
}

// unsample discards the commands of ticks that are later than a clock that was set back, except those
// that were used in predictions. A server that was stopped refused commands of such late ticks, or has
// commands that the player gave seconds ago. New ones replace them.
func (c *Client) unsample(t netcode.Time) {
	last := t.Command
	if k := c.timeline.predictor.Tick(); int32(k-last) > 0 {
		last = k
	}
	if int32(c.input.sampled-last) > 0 {
		c.input.sampled = last
	}
}

// stallTicks is for how many ticks the server must be silent before the limit of the history counts as
// a stall. If only the round trip is longer than the history, there is input delay, and snapshots still
// arrive.
const stallTicks = 10

// stall notes whether the prediction waits for the server. The clock keeps the prediction within the
// history, counted from the newest snapshot.
func (c *Client) stall(t netcode.Time) {
	newest, _ := c.ghosts.receiver.Newest()
	silent := (c.now - c.link.heard) * time.Duration(c.p.TickRate) / time.Second
	full := int32(t.Predicted-newest) >= int32(c.cfg.History) && int32(t.Command-newest) > int32(c.cfg.History)
	stalled := full && silent > stallTicks
	if stalled && !c.view.Stalled {
		c.stats.Stalls++
	}
	c.view.Stalled = stalled
}

// catchUp predicts the ticks up to that of a snapshot, in case the input delay is as long as the
// inputs' lead. The commands of these ticks were made, and their events must not be lost.
func (c *Client) catchUp(t foretick.Tick) {
	p := c.timeline.predictor
	if c.cfg.InputDelay == 0 && c.cfg.DelayAbove == 0 || int32(t-p.Tick()) <= 0 || int32(c.input.sampled-t) < 0 || int32(t-p.Tick()) > int32(c.cfg.History) {
		return
	}
	c.ghosts.othersNewest()
	for int32(t-p.Tick()) > 0 {
		p.Advance()
	}
}

// Sampler reads a player's input into a command; make one with [Sample].
type Sampler interface {
	sample(v View, dst unsafe.Pointer)
	handle() ecs.Handle
	fault() string // the part that is missing; "": none
}

type sampler[T any] struct {
	c  *ecs.Component[T]
	fn func(View) T
}

func (s sampler[T]) sample(v View, dst unsafe.Pointer) { *(*T)(dst) = s.fn(v) }

func (s sampler[T]) handle() ecs.Handle { return s.c }

func (s sampler[T]) fault() string {
	switch {
	case s.c == nil:
		return "Sample is given a nil component: pass the address of the command's"
	case s.fn == nil:
		return "Sample has no function: give it one that reads the input"
	}
	return ""
}

// interrupted is a sampler that can be switched off.
type interrupted struct {
	Sampler
	wanted func() bool
}

func (s interrupted) sample(v View, dst unsafe.Pointer) {
	if s.wanted() {
		s.Sampler.sample(v, dst)
	}
}

// overheard is a sampler with a function that reads or changes its commands.
type overheard struct {
	Sampler
	fn func(shown foretick.Tick, command unsafe.Pointer)
}

func (s overheard) sample(v View, dst unsafe.Pointer) {
	s.Sampler.sample(v, dst)
	s.fn(v.Tick, dst)
}

// Sample makes a Sampler from a function that reads the player's input. fn is called once a
// frame, with the View that the screen shows: its World holds the entities where they were
// drawn, so fn may aim by them. The next tick takes the values read last, and sets every
// one-shot field (tag oneshot) that was set in any frame since the last tick. So a press
// and release between two ticks acts once. Fields with the tag sum, such as the travel of a
// mouse, are added up over all frames since the last tick, whatever the frame rate. A tick
// takes at most what the field's range holds, and the next ticks take the rest. Of a rest that
// takes more than a quarter of a second, the excess is lost, and counted in [Client.Losses].
// While a menu is open, return the zero command.
//
// Tag the fields of an aim with press, as in `net:"angle,bits=16,press"`. The tick takes
// them from the last frame that set a one-shot, and the server judges the shot by what the
// screen showed in that frame. All other fields come from the last frame before the tick. If
// some one-shots do not aim (a jump), tag the one that aims with press too: then only that
// one counts.
//
// Without any press tag, the server judges a shot by the last frame before the tick. If the
// command in that frame is still the same as in the frame of the press, it judges by the
// frame of the press.
func Sample[T any](c *ecs.Component[T], fn func(v View) T) Sampler { return sampler[T]{c, fn} }

// inspected is the state that package inspect adds to a client.
type inspected struct {
	tap   atomic.Pointer[probe.Tap] // nil while nobody inspects the client
	clock func() time.Duration      // the clock of Run; nil: that of the tap
	began time.Duration             // when the Step began
}

// beginStep returns the tap for the Step that begins. It is nil if there is none.
func (in *inspected) beginStep() *probe.Tap {
	tap := in.tap.Load()
	if tap != nil {
		in.began = in.time(tap)
	}
	return tap
}

// time reads the clock. It returns 0 without a clock.
func (in *inspected) time(tap *probe.Tap) time.Duration {
	switch {
	case in.clock != nil:
		return in.clock()
	case tap.Clock != nil:
		return tap.Clock()
	}
	return 0
}

// finishStep ends a Step: it publishes the counts, and calls the tap.
func (c *Client) finishStep(tap *probe.Tap) {
	if tap == nil {
		c.post()
		return
	}
	took := c.inspected.time(tap) - c.inspected.began
	c.post()
	tap.Call(probe.Tapped{Tick: c.view.Tick, Took: took})
}

func (in *internals) Tap() *probe.Tap        { return in.inspected.tap.Load() }
func (in *internals) SetTap(tap *probe.Tap)  { in.inspected.tap.Store(tap) }
func (in *internals) Layout() *layout.Layout { return &in.build.Layout }

func (in *internals) Label(component, field string) schema.Label {
	return in.build.Labels.Of(component, field)
}

func (in *internals) Graph() (text, dot string) { return in.cfg.Protocol.Graph() }

func (in *internals) Systems() []ecs.SystemInfo {
	return in.build.Schedule.Systems()
}

func (in *internals) Audiences() []string { return in.build.Audiences }

func (in *internals) Named(e ecs.Entity) (net uint32, prefab string, ok bool) {
	id := in.p.Identity.Find(in.world, e)
	if k := in.ownPrefab(id); k != nil && k.ECS != nil {
		return id.Net, k.ECS.Name(), true
	}
	return 0, "", false
}

// Explained puts fn before the game's own OnMisprediction.
func (in *internals) Explained(fn func(prediction.Misprediction)) {
	c := (*Client)(in)
	if c.hooks.explained {
		c.cfg.OnMisprediction, c.hooks.explained, c.hooks.explain = c.hooks.explain, false, nil
	}
	if fn == nil {
		return
	}
	game := c.cfg.OnMisprediction
	c.hooks.explained, c.hooks.explain = true, game
	c.cfg.OnMisprediction = func(m prediction.Misprediction) {
		fn(m)
		if game != nil {
			game(m)
		}
	}
}
