package client

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// screen is the state of drawing.
type screen struct {
	*base
	input     *input
	ghosts    *ghosts
	predictor *prediction.Predictor
	row       *game.SingletonRow
	parents   *game.Hierarchy
	slides    *slides
	others    others
	own       ownDrawing
	partial   partialTick
	stage     stage

	shown    shownTime
	rendered foretick.Tick // the number of the newest rendered frame
	masked   schema.Mask   // the newest result of maskOf
	visible  *lagcomp.History
}

// initScreen makes a client's screen, which must not be copied afterwards.
func (tl *timeline) initScreen(sc *screen) (err error) {
	b := tl.base
	*sc = screen{
		base: b, input: tl.input, ghosts: tl.ghosts, predictor: tl.predictor, row: &tl.row, parents: &tl.parents,
		slides: &tl.slides, stage: newStage(b),
		others: others{base: b, ghosts: tl.ghosts, bodies: &tl.bodies, scenes: &tl.scenes, saves: &tl.saves, tester: &tl.tester},
		own: ownDrawing{
			base: b, ghosts: tl.ghosts, predictor: tl.predictor, recorder: &tl.recorder, predicted: &tl.predicted,
			clientOnly: &tl.clientOnly, correction: &tl.correction, names: &tl.names, partial: &sc.partial, slides: &tl.slides,
			fades: fades{fade: prediction.Fade{HalfLife: b.cfg.SmoothHalfLife, Limit: b.cfg.SmoothLimit}},
		},
		partial: partialTick{
			base: b, input: tl.input, predictor: tl.predictor, controls: &tl.controls, spawning: &tl.spawning,
			row: &tl.row, parents: &tl.parents,
		},
	}
	sc.visible, err = lagcomp.NewHistory(sc.framesKept())
	return err
}

// delayedFrames is the number of rendered frames that are kept if inputs are delayed: more than half a
// second of them, at 360 a second.
const delayedFrames = 256

func (sc *screen) clearScreen() {
	sc.own.fades.clearFades()
	sc.slides.clearSlides()
	sc.own.drawn = false
}

// looking returns the frame that is on the screen.
func (sc *screen) looking() screenFrame {
	return screenFrame{number: sc.rendered, shown: sc.shown, tick: sc.view.Tick, fraction: sc.view.Fraction, slides: len(sc.slides.items) > 0}
}

// undraw replaces the drawn values in the predicted rows with the predicted ones.
func (c *Client) undraw() {
	if c.screen.own.drawn {
		c.timeline.present()
		c.screen.own.drawn = false
	}
	c.screen.others.missed()
}

// drawShown draws the present frame into the world.
func (sc *screen) drawShown(now netcode.Time) {
	if sc.view.State != Playing {
		sc.stage.callAppearances()
		return
	}
	since := sc.now - sc.shown.at
	// The view changes only here: the player gave a command sampled in this Step while looking at the
	// last rendered frame.
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
	sc.row.Give()
	sc.parents.ApplyParents()
	sc.recordVisible()
	if sc.cfg.NoPrediction {
		sc.showEvents(sc.view.Tick)
	}
	f := &sc.frame
	f.Tick, f.DT = sc.view.Tick, float32(since.Seconds())
	sc.rendering = true
	sc.stage.callAppearances()
	sc.p.Schedule.ExecuteRender(sc.world, f)
	sc.rendering = false
	f.DT = 1 / float32(sc.p.TickRate)
}

// A client with Config.NoPrediction draws its own entities in the past, like all others. Nothing is
// rolled back, so there is no predicted state. Its events are those of the ticks that snapshots
// confirm. Each such tick runs once more from the state before it, with the player's command, and its
// results are discarded. The events wait until the screen shows their tick.

// actUpTo raises the events of the ticks since the last snapshot, up to that of t.
func (tl *timeline) actUpTo(t foretick.Tick) {
	from := tl.acted
	tl.acted = t
	if d := int32(t - from); from != 0 && d > 0 && d <= int32(tl.cfg.History) {
		tl.act(from, t)
	}
}

// act runs the ticks after from, up to t, on the player's own entities, beginning with the server's
// state of from. Only the events of these runs remain.
func (tl *timeline) act(from, t foretick.Tick) {
	tl.ghosts.othersNewest()
	tl.saves.own.Save(0)
	for _, g := range tl.ghosts.receiver.Ghosts() {
		if e := ecs.Entity(g.Data); tl.ghosts.owns(g) && tl.world.Alive(e) {
			if s, ok := g.At(from); ok {
				tl.writeState(g, s, from)
			} else if g.Gone != 0 && int32(g.Gone-from) <= 0 {
				ecs.Engine(tl.world).Manager().Destroy(e) // it is still drawn for a while
			}
		}
	}
	for k := from + 1; int32(k-t) <= 0; k++ {
		tl.actTick(k)
	}
	tl.saves.own.Restore(0)
	tl.spawning.forgetPractised()
}

// actTick is like Step, without records. Its spawns exist only in the tick, since the server sends the
// real entities.
func (tl *timeline) actTick(t foretick.Tick) {
	f := &tl.frame
	f.Tick, f.Replay = t, false
	tl.row.Give()
	tl.parents.ApplyParents()
	tl.controls.fillCommand(t)
	for _, q := range tl.frames.Queues {
		q.Begin(t)
	}
	tl.spawning.beginSpawns(t)
	if game.DebugBuild {
		tl.losses.BeginTick()
		tl.trails.ours.Begin(t)
	}
	tl.practice = true
	ecs.Engine(tl.world).WatchOutside(false)
	tl.p.Schedule.ExecutePlayer(tl.world, f, tl.view.Player)
	ecs.Engine(tl.world).WatchOutside(true)
	tl.spawning.endSpawns()
	tl.practice = false
	for _, q := range tl.frames.Queues {
		q.End(tl.frames, f)
	}
}

// showEvents calls the handlers of the events whose tick the screen now shows.
func (b *base) showEvents(t foretick.Tick) {
	f := &b.frame
	was := f.Tick
	for _, q := range b.frames.Queues {
		q.Show(b.frames, f, &f.Tick, t)
	}
	f.Tick = was
}

// recordVisible records the hitboxes of this rendered frame, for Frame.Rewind.
func (sc *screen) recordVisible() {
	sc.rendered++
	sc.visible.Begin(sc.rendered)
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if g.Data == 0 || foretick.PlayerID(g.Owner) == sc.view.Player {
			continue
		}
		e := ecs.Entity(g.Data)
		sc.ghosts.hitboxes.Fit(sc.maskOf(e))
		at := func(comp int) unsafe.Pointer { return ecs.Engine(sc.world).Pointer(e, sc.p.Components[comp].ID) }
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
		if ecs.Engine(sc.world).Pointer(e, sc.p.Components[i].ID) != nil {
			set.Set(i)
		}
	}
	sc.masked = set.MaskLike(sc.masked)
	return sc.masked
}

// seen implements Frame.Rewind. For a tick of the simulation it returns the rendered frame in which the
// tick's command was given, for a render system the newest.
func (sc *screen) seen(t foretick.Tick) game.Sight {
	if sc.rendered == 0 {
		return game.Sight{Bare: len(sc.p.Hitboxes) == 0}
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
	return game.Sight{Seen: seen, Screen: sc, Bare: len(sc.p.Hitboxes) == 0, Ahead: ahead, Whole: whole}
}

// everyLife allows hits on every entity that was on the screen, even if it got another life since.
func everyLife(lagcomp.ID, uint32) bool { return true }

// DrawnApart reports whether an entity was last drawn with other values than those of the snapshots
// around the render time, because one of these had left it out.
func (sc *screen) DrawnApart(id lagcomp.ID) bool {
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if g.Data == id && !sc.ghosts.ahead(g) {
			return !sc.ghosts.whole(g, sc.shown.tick, -1) || !sc.ghosts.whole(g, sc.shown.tick+1, 1)
		}
	}
	return false
}

// DrawnWorld returns the world that is drawn, and the player.
func (sc *screen) DrawnWorld() (w *ecs.World, own foretick.PlayerID) { return sc.world, sc.view.Player }

// ShownThen returns a component's value in the rendered frame of a view, if the rows have another value: the
// view is of an earlier frame than the newest, or a tick is computed that reads the component of others.
func (sc *screen) ShownThen(ahead, whole rewind.Keys, e ecs.Entity, id ecs.ID) (value game.ShownValue, ok bool) {
	i := sc.p.Index(id)
	if i < 0 || ahead.B == 0 {
		return game.ShownValue{}, false
	}
	value, ok = sc.own.shownAhead(ahead, e, i)
	if !ok && (whole != sc.shown.keys() || slices.Contains(sc.ghosts.others, i)) {
		return sc.shownBehind(whole, e, i)
	}
	return value, ok
}

// shownBehind returns a component's value in the frame that was rendered at a time, for an entity drawn
// in the past. It returns false if no value is known.
func (sc *screen) shownBehind(at rewind.Keys, e ecs.Entity, comp int) (value game.ShownValue, ok bool) {
	g := sc.ghosts.receiver.Find(schema.WireID(wireRefs{sc.ghosts}.Net(uint64(e))))
	if g == nil || g.Data != uint64(e) {
		return game.ShownValue{}, false
	}
	gf, ok := sc.ghosts.statesAround(g, at.A, at.F)
	if !ok || gf.from.Component(comp) == nil {
		return game.ShownValue{}, false
	}
	return game.ShownValue{Schema: sc.p.Components[comp].Schema, Audience: gf.from.Audience, Knots: gf.knots(comp), Grid: gf.from.Grid(comp), Refs: wireRefs{sc.ghosts}}, true
}
