package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// screen is the state of drawing.
type screen struct {
	*clientBase
	input     *input
	ghosts    *ghosts
	predictor *prediction.Predictor
	row       *singletonRow
	parents   *hierarchy
	slides    *slides
	others    others
	own       ownDrawing
	partial   partialTick
	stage     stage

	shown    shownTime
	rendered Tick        // rendered is the number of the newest rendered frame.
	masked   schema.Mask // masked is what maskOf returned last.
	visible  *lagcomp.History
}

// initScreen makes a client's screen, which must not be copied afterwards.
func (tl *timeline) initScreen(sc *screen) (err error) {
	b := tl.clientBase
	*sc = screen{
		clientBase: b, input: tl.input, ghosts: tl.ghosts, predictor: tl.predictor, row: &tl.row, parents: &tl.parents,
		slides: &tl.slides, stage: newStage(b),
		others: others{clientBase: b, ghosts: tl.ghosts, bodies: &tl.bodies, scenes: &tl.scenes, saves: &tl.saves, tester: &tl.tester},
		own: ownDrawing{
			clientBase: b, ghosts: tl.ghosts, predictor: tl.predictor, recorder: &tl.recorder, predicted: &tl.predicted,
			clientOnly: &tl.clientOnly, correction: &tl.correction, names: &tl.names, partial: &sc.partial,
			fades: fades{fade: prediction.Fade{HalfLife: b.cfg.SmoothHalfLife, Limit: b.cfg.SmoothLimit}},
		},
		partial: partialTick{
			clientBase: b, input: tl.input, predictor: tl.predictor, controls: &tl.controls, spawning: &tl.spawning,
			row: &tl.row, parents: &tl.parents,
		},
	}
	sc.visible, err = lagcomp.NewHistory(sc.framesKept())
	return err
}

// delayedFrames is the number of rendered frames that are kept where inputs are delayed: more
// than half a second of them, at 360 a second.
const delayedFrames = 256

func (sc *screen) clearScreen() {
	sc.own.fades.clearFades()
	sc.slides.clearSlides()
	sc.own.drawn = false
}

// looking returns the frame that is on the screen.
func (sc *screen) looking() screenFrame {
	return screenFrame{number: sc.rendered, shown: sc.shown, tick: sc.view.Tick, fraction: sc.view.Fraction}
}

// undraw replaces the drawn values in the predicted rows with the predicted ones.
func (c *Client) undraw() {
	if c.screen.own.drawn {
		c.timeline.present()
		c.screen.own.drawn = false
	}
	c.screen.others.missed()
}

// drawShown writes the values to show into the world.
func (sc *screen) drawShown(now netcode.Time) {
	if sc.view.State != Playing {
		sc.stage.callAppearances()
		return
	}
	since := sc.now - sc.shown.at
	// The view changes only here: a command sampled in this Step was given by a player
	// looking at the last rendered frame.
	sc.view.RenderTick, sc.view.RenderFraction = now.Render, now.RenderFraction
	sc.view.Fraction, sc.view.Tick = now.Fraction, sc.predictor.Tick()
	if sc.cfg.NoPrediction {
		sc.view.Fraction, sc.view.Tick = now.RenderFraction, now.Render+1
	}
	if sc.showsAhead() {
		sc.view.Fraction = float32(int(sc.view.Fraction*rewind.OffsetSteps)) / rewind.OffsetSteps
	}
	sc.partial.whole = sc.view.Fraction
	// The time is rounded to the precision of a command, so that the server rewinds to
	// exactly this frame.
	fraction := uint8(sc.view.RenderFraction * 256)
	sc.shown = shownTime{tick: sc.view.RenderTick, fraction: fraction, at: sc.now}
	sc.partial.clearDrawn()
	if sc.cfg.PartialTicks {
		sc.own.drawn = sc.partial.runPartial(sc.looking()) || sc.own.drawn
	}
	sc.others.drawOthers(sc.view.RenderTick, float32(fraction)/256)
	sc.own.drawOwn(since)
	sc.slides.drawSlides(now, since)
	sc.row.give()
	sc.parents.applyParents()
	sc.recordVisible()
	if sc.cfg.NoPrediction {
		sc.showEvents(sc.view.Tick)
	}
	f := &sc.frame
	f.Tick, f.DT = sc.view.Tick, float32(since.Seconds())
	sc.rendering = true
	sc.stage.callAppearances()
	sc.p.schedule.ExecuteRender(sc.world, f)
	sc.rendering = false
	f.DT = 1 / float32(sc.p.TickRate)
}

// A client with ClientConfig.NoPrediction draws its own entities in the past, like all
// others. Nothing is rolled back, so there is no predicted state. Its events are those of
// the ticks that snapshots prove: each is run once more on the state before it, with the
// player's command, and its results are dropped. The events wait until the screen shows
// their tick.

// actUpTo raises the events of the ticks since the last snapshot, up to that of t.
func (tl *timeline) actUpTo(t Tick) {
	from := tl.acted
	tl.acted = t
	if d := int32(t - from); from != 0 && d > 0 && d <= int32(tl.cfg.History) {
		tl.act(from, t)
	}
}

// act runs the ticks after from, up to t, on the player's own entities as the server had
// them in from. Events are all that remains.
func (tl *timeline) act(from, t Tick) {
	tl.ghosts.othersNewest()
	tl.saves.own.Save(0)
	for _, g := range tl.ghosts.receiver.Ghosts() {
		if e := ecs.Entity(g.Data); tl.ghosts.owns(g) && tl.world.Alive(e) {
			if s, ok := g.At(from); ok {
				tl.writeState(g, s, from)
			} else if g.Gone != 0 && int32(g.Gone-from) <= 0 {
				tl.world.Manager().Destroy(e) // it is drawn for a while yet
			}
		}
	}
	for k := from + 1; int32(k-t) <= 0; k++ {
		tl.actTick(k)
	}
	tl.saves.own.Restore(0)
	tl.spawning.forgetPractised()
}

// actTick is Step without records. What is spawned lasts for the tick: the server sends it.
func (tl *timeline) actTick(t Tick) {
	f := &tl.frame
	f.Tick, f.Replay = t, false
	tl.row.give()
	tl.parents.applyParents()
	tl.controls.fillCommand(t)
	for _, q := range f.state.queues {
		q.begin(t)
	}
	tl.spawning.beginSpawns(t)
	if debugBuild {
		tl.losses.beginTick()
		tl.trails.ours.Begin(t)
	}
	tl.practice = true
	tl.world.WatchOutside(false)
	tl.p.schedule.ExecutePlayer(tl.world, f, tl.view.Player)
	tl.world.WatchOutside(true)
	tl.spawning.endSpawns()
	tl.practice = false
	for _, q := range f.state.queues {
		q.end(f.state, f)
	}
}

// showEvents calls the handlers of the events that waited for the screen to show their tick.
func (b *clientBase) showEvents(t Tick) {
	f := &b.frame
	was := f.Tick
	for _, q := range f.state.queues {
		q.show(f.state, f, &f.Tick, t)
	}
	f.Tick = was
}

// recordVisible records the hitboxes of this rendered frame, for Frame.Rewind.
func (sc *screen) recordVisible() {
	sc.rendered++
	sc.visible.Begin(sc.rendered)
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if g.Data == 0 || PlayerID(g.Owner) == sc.view.Player {
			continue
		}
		e := ecs.Entity(g.Data)
		sc.ghosts.hitboxes.Fit(sc.maskOf(e))
		at := func(comp int) unsafe.Pointer { return sc.world.Pointer(e, sc.p.Components[comp].ID) }
		if vs := sc.ghosts.hitboxes.BuildFrom(at); len(vs) > 0 {
			sc.visible.Put(g.Data, uint32(g.Owner), 0, vs...)
		}
	}
	sc.visible.End()
}

// maskOf returns the replicated components of a local entity.
func (sc *screen) maskOf(e ecs.Entity) schema.Mask {
	var set schema.MaskBuilder
	for i := range sc.p.Components {
		if sc.world.Pointer(e, sc.p.Components[i].ID) != nil {
			set.Set(i)
		}
	}
	sc.masked = set.MaskLike(sc.masked)
	return sc.masked
}

// seen implements Frame.Rewind. For a tick of the simulation it returns the rendered frame
// that its command was given on, for a render system the newest.
func (sc *screen) seen(t Tick) HitView {
	if sc.rendered == 0 {
		return HitView{bare: len(sc.p.Hitboxes) == 0}
	}
	drawn, ahead, whole := sc.rendered, rewind.Keys{}, rewind.Keys{}
	looked := lagcomp.Claim{Tick: sc.shown.tick, Fraction: float32(sc.shown.fraction) / 256}
	if in := sc.input.history.Find(t); in != nil && !sc.rendering && in.frame != 0 {
		drawn, ahead, whole = in.frame, in.ahead, in.whole
		looked = lagcomp.Claim{Tick: whole.A, Fraction: whole.F}
	}
	seen := rewind.View{
		Past: sc.visible.At(drawn, 0), Claimed: looked, Used: looked,
		Filter: lagcomp.Filter{ExcludeOwner: uint32(sc.view.Player), Life: everyLife},
	}
	return HitView{seen: seen, screen: sc, bare: len(sc.p.Hitboxes) == 0, ahead: ahead, whole: whole, Claimed: looked, Used: looked}
}

// everyLife allows hits on everything that was on the screen, whatever happened to it
// since.
func everyLife(lagcomp.ID, uint32) bool { return true }

// drawnApart reports whether an entity was last drawn with other values than those of the
// snapshots around the render time, because one of them had left it out.
func (sc *screen) drawnApart(id lagcomp.ID) bool {
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if g.Data == id && !sc.ghosts.ahead(g) {
			return !sc.ghosts.whole(g, sc.shown.tick, -1) || !sc.ghosts.whole(g, sc.shown.tick+1, 1)
		}
	}
	return false
}

// drawnWorld returns the world that is drawn, and the player.
func (sc *screen) drawnWorld() (w *ecs.World, own PlayerID) { return sc.world, sc.view.Player }

// shownThen returns a component's value in the rendered frame of a view. While a tick is
// computed, the rows hold another value.
func (sc *screen) shownThen(ahead, whole rewind.Keys, e ecs.Entity, id ecs.ID) (value shownValue, ok bool) {
	i := sc.p.Index(id)
	if i < 0 || ahead.B == 0 {
		return shownValue{}, false
	}
	if value, ok = sc.own.shownAhead(ahead, e, i); !ok && slices.Contains(sc.ghosts.others, i) {
		return sc.shownBehind(whole, e, i)
	}
	return value, ok
}

// shownBehind returns a component's value in the frame rendered at a time, for an entity
// drawn in the past whose rows have newer values since. It returns false if nothing is
// known.
func (sc *screen) shownBehind(at rewind.Keys, e ecs.Entity, comp int) (value shownValue, ok bool) {
	g := sc.ghosts.receiver.Find(schema.WireID(wireRefs{sc.ghosts}.Net(uint64(e))))
	if g == nil || g.Data != uint64(e) {
		return shownValue{}, false
	}
	gf, ok := sc.ghosts.statesAround(g, at.A, at.F)
	if !ok || gf.from.Component(comp) == nil {
		return shownValue{}, false
	}
	return shownValue{sc.p.Components[comp].Schema, gf.from.Audience, gf.knots(comp), gf.from.Grid(comp), wireRefs{sc.ghosts}}, true
}

// What frames ask of the client: see end, spawner, viewer and screenEnd. Systems, handlers and
// hooks reach the client through them alone.

// A frame looks for the optional interfaces of its end, which no compiler checks.
var _ interface {
	spawner
	viewer
	screenEnd
} = (*Client)(nil)

func (c *Client) isServer() bool { return false }

func (c *Client) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	return c.timeline.spawning.spawnBy(by, k)
}

func (c *Client) destroy(e ecs.Entity) bool { return c.timeline.spawning.destroyPredicted(e) }

// spawn panics if a shared system runs: only the server spawns without a spawner.
func (c *Client) spawn(k *ecs.Prefab, _ PlayerID) ecs.Entity {
	if c.timeline.spawning.stepping {
		misuse("a shared system spawns prefab %q without a spawner: "+fixSpawn, k.Name())
	}
	return ecs.None
}

// final returns the newest tick whose commands the server answered.
func (c *Client) final() Tick {
	t, _ := c.ghosts.receiver.Newest()
	return c.input.answered(t)
}

func (c *Client) raised(by ecs.Entity, owner PlayerID, _ int) eventFate {
	switch {
	case c.frame.partial || c.frame.blind:
		return 0 // the whole tick raises it
	case owner == ecs.ClientOnly:
		if c.timeline.clientOnly.ranBefore(c.frame.Tick) {
			return 0
		}
		return eventTold // it is never rolled back, and neither is what it raises
	case c.ghosts.anothers(by):
		return 0 // the server sends its result
	}
	return eventPredicted
}

// shownBefore returns the offset of the command that the frame's tick runs with, 0: none.
func (c *Client) shownBefore(player PlayerID) uint8 {
	if c.frame.partial {
		return c.screen.partial.offset
	}
	if in := c.input.history.Find(c.frame.Tick); in != nil && player == c.view.Player {
		return in.offset
	}
	return 0
}

func (c *Client) drawsPartly(rows ecs.Rows, components *schema.MaskBuilder) {
	c.screen.partial.noteWritten(rows, components)
}

// simulates reports whether the client runs shared systems for an entity in the frame's tick.
func (c *Client) simulates(e ecs.Entity) bool {
	switch o := c.world.PartOf(e); {
	case c.cfg.NoPrediction || !c.world.Alive(e) || o == ecs.Nobody:
		return false
	case o == ecs.ClientOnly:
		return c.p.ClientOnly && !c.timeline.clientOnly.ranBefore(c.frame.Tick)
	default:
		return o == c.view.Player || o == ecs.Common || slices.ContainsFunc(c.timeline.saves.remotes, func(r remotePlayer) bool { return r.owner == o })
	}
}

func (c *Client) prefabOf(e ecs.Entity) *ecs.Prefab {
	if k := c.ownPrefab(c.p.identity.Find(c.world, e)); k != nil {
		return k.ECS
	}
	return nil
}

func (c *Client) decoded() { c.link.decoded() }

func (c *Client) predictedSum() uint32 { return c.timeline.predicted.predictedSum() }

// All views are what the screen shows.
func (c *Client) rewind(PlayerID) HitView                { return c.screen.seen(c.frame.Tick) }
func (c *Client) rewindBehind(PlayerID, float32) HitView { return c.screen.seen(c.frame.Tick) }
func (c *Client) present() HitView                       { return c.screen.seen(c.frame.Tick) }
func (c *Client) moment(Tick) HitView                    { return c.screen.seen(c.frame.Tick) }

// teleport notes a teleport in the tick that is being predicted.
func (c *Client) teleport(e ecs.Entity) bool {
	if c.frame.partial {
		return c.p.identity.Find(c.world, e) != nil
	}
	if c.rendering || c.p.identity.Find(c.world, e) == nil {
		return false
	}
	c.timeline.recorder.cut = append(c.timeline.recorder.cut, e)
	if !c.frame.Replay {
		c.screen.own.fades.dropFades(e)
	}
	return true
}

// beforeSystem is called before each system.
func (c *Client) beforeSystem(f *Frame, system int) {
	if c.frame.partial || c.frame.blind {
		return
	}
	c.timeline.settleTrail()
	if c.tracer.recording {
		c.tracer.traceSystem(system)
	}
	if c.hooks.syncTest > 0 {
		c.timeline.tester.beforeSystem()
	}
	if debugBuild && c.firstRun() {
		c.losses.beforeSystem(f, system)
	}
}

// afterSystem is called after each system.
func (c *Client) afterSystem(f *Frame, system int) {
	if c.frame.blind {
		c.timeline.looks.noteLook(system, c.world.Peeked())
		return
	}
	if c.frame.partial {
		return
	}
	if c.tracer.recording {
		c.tracer.steps.after(system)
	}
	if c.hooks.syncTest > 0 {
		c.timeline.tester.afterSystem(system)
	}
	if debugBuild && !c.rendering {
		c.timeline.trails.due = true
	}
	if debugBuild && c.firstRun() {
		c.losses.afterSystem(f, system)
	}
}

// firstRun reports whether a system runs in a tick for the first time, over components
// of this build's own.
func (c *Client) firstRun() bool { return !c.rendering && !c.frame.Replay && !c.p.OtherBuild }

// newHitboxes makes the builder of hitboxes for a world's entities.
func (p *compiled) newHitboxes() *rewind.Hitboxes {
	g := p.rewindGame()
	return rewind.NewHitboxes(&g)
}
