package foretick

import (
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// screen is the state of drawing.
type screen struct {
	*clientBase
	input    *input
	ghosts   *ghosts
	timeline *timeline
	stage    stage

	fades     fades
	shown     shownTime
	rendered  Tick        // number of the newest rendered frame
	masked    schema.Mask // what maskOf returned last
	drawn     bool
	visible   *lagcomp.History
	rendering bool // render systems run
	partial   partialTick
}

func newScreen(b *clientBase, ip *input, gs *ghosts, tl *timeline) (screen, error) {
	fades := fades{fade: prediction.Fade{HalfLife: b.cfg.SmoothHalfLife, Limit: b.cfg.SmoothLimit}}
	sc := screen{clientBase: b, input: ip, ghosts: gs, timeline: tl, stage: newStage(b), fades: fades}
	var err error
	sc.visible, err = lagcomp.NewHistory(sc.framesKept())
	return sc, err
}

// delayedFrames is the number of rendered frames that are kept where inputs are delayed: more
// than half a second of them, at 360 a second.
const delayedFrames = 256

func (sc *screen) clear() {
	sc.fades.clear()
	sc.timeline.slides.clear()
	sc.drawn = false
}

// looking returns the frame that is on the screen.
func (sc *screen) looking() screenFrame {
	return screenFrame{number: sc.rendered, shown: sc.shown, tick: sc.view.Tick, fraction: sc.view.Fraction}
}

// undraw replaces the drawn values in the predicted rows with the predicted ones.
func (sc *screen) undraw() {
	if sc.drawn {
		sc.timeline.predictor.Present()
		if sc.timeline.putLocals() {
			sc.timeline.predictor.Rewrite() // so that the next frame finds them there
		}
		sc.timeline.undrawClientOnly()
		sc.timeline.row.give()
		sc.drawn = false
	}
	sc.timeline.missed()
}

// draw writes the values to show into the world.
func (sc *screen) draw(now netcode.Time) {
	if sc.view.State != Playing {
		sc.stage.tell()
		return
	}
	since := sc.now - sc.shown.at
	// The view changes only here: a command sampled in this Step was given by a player
	// looking at the last rendered frame.
	sc.view.RenderTick, sc.view.RenderFraction = now.Render, now.RenderFraction
	sc.view.Fraction, sc.view.Tick = now.Fraction, sc.timeline.predictor.Tick()
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
	sc.partial.clear()
	if sc.cfg.PartialTicks {
		sc.runPartial()
	}
	sc.drawOthers(sc.view.RenderTick, float32(fraction)/256)
	sc.drawOwn(since)
	sc.slide(now, since)
	sc.timeline.row.give()
	sc.timeline.parents.apply()
	sc.recordVisible()
	if sc.cfg.NoPrediction {
		sc.timeline.showEvents(sc.view.Tick)
	}
	f := &sc.frame
	f.Tick, f.DT = sc.view.Tick, float32(since.Seconds())
	sc.rendering = true
	sc.timeline.tester.render = sc.hooks.syncTest > 0
	sc.stage.tell()
	sc.p.schedule.ExecuteRender(sc.world, f)
	sc.timeline.tester.render = false
	sc.rendering = false
	f.DT = 1 / float32(sc.p.TickRate)
}

// drawOthers places every entity that is not predicted here at the render time.
func (sc *screen) drawOthers(t Tick, fraction float32) {
	for _, g := range sc.ghosts.receiver.Ghosts() {
		if sc.ghosts.ahead(g) {
			continue
		}
		if g.Gone != 0 && int32(t-g.Gone) >= 0 {
			if g.Data != 0 {
				sc.timeline.bury(ecs.Entity(g.Data))
				sc.timeline.othersCame()
				sc.timeline.noteUndrawn(g)
				g.Data = 0
			}
			sc.ghosts.released = append(sc.ghosts.released, g)
			continue
		}
		if int32(t-g.Born) < 0 || sc.ghosts.alien(g) {
			continue
		}
		if len(sc.timeline.moved) > 0 && g.Data != 0 && !sc.world.Alive(ecs.Entity(g.Data)) && sc.timeline.movesLater(g) {
			continue
		}
		if g.Data == 0 {
			if _, _, _, ok := g.Sample(t, fraction); !ok {
				continue // its first value was put off, and is of a later tick
			}
			sc.timeline.birth(g)
			sc.timeline.othersCame()
		}
		sc.drawGhost(g, t, fraction)
	}
	sc.timeline.release()
}

func (sc *screen) drawGhost(g *snapshot.Ghost, t Tick, fraction float32) {
	gf, ok := sc.ghosts.around(g, t, fraction)
	if !ok {
		return
	}
	if gf.fraction == 0 && sc.p.Extrapolates && sc.drawBeyond(g, t, fraction) {
		return
	}
	for i := range sc.p.Components {
		comp := &sc.p.Components[i]
		if comp.Unknown {
			continue
		}
		if gf.from.Component(i) == nil {
			if sc.world.Pointer(ecs.Entity(g.Data), comp.ID) != nil {
				sc.ghosts.takeAway(ecs.Entity(g.Data), comp.ID)
			}
			continue
		}
		comp.Schema.Interpolate(gf.from.Audience, gf.knots(i), gf.from.Grid(i), wireRefs{sc.ghosts}, sc.ghosts.pointer(g, i))
	}
}

// drawBeyond extrapolates a ghost after its newest state, as far as its fields' tags allow.
// It returns false if the ghost must be drawn by its known states.
func (sc *screen) drawBeyond(g *snapshot.Ghost, t Tick, fraction float32) bool {
	a, b, span, beyond, ok := g.Beyond(t, fraction)
	if !ok || sc.ghosts.jumped(g, a, b) {
		return false
	}
	for i := range sc.p.Components {
		comp := &sc.p.Components[i]
		if comp.Unknown {
			continue
		}
		wa, wb := a.Component(i), b.Component(i)
		switch {
		case wb == nil:
			if sc.world.Pointer(ecs.Entity(g.Data), comp.ID) != nil {
				sc.ghosts.takeAway(ecs.Entity(g.Data), comp.ID)
			}
		case wa == nil || !comp.Schema.Extrapolates():
			sc.ghosts.writeComponent(g, b, i)
		default:
			comp.Schema.Extrapolate(b.Audience, wa, wb, span, beyond, b.Grid(i), wireRefs{sc.ghosts}, sc.ghosts.pointer(g, i))
		}
	}
	return true
}

// drawOwn draws the local player between its last two ticks, with corrections fading.
func (sc *screen) drawOwn(since time.Duration) {
	now := sc.timeline.records.Find(sc.timeline.predictor.Tick())
	before := sc.timeline.records.Find(sc.timeline.predictor.Tick() - 1)
	if now == nil {
		return
	}
	sc.drawn = true
	sc.fades.age(since)
	if sc.p.ClientOnly {
		sc.drawClientOnly()
	}
	for _, e := range sc.timeline.predictedHere() {
		for i := range sc.p.Components {
			comp := &sc.p.Components[i]
			if !comp.Predicted || !comp.Lerped {
				continue
			}
			at, b := sc.world.Pointer(e, comp.ID), now.find(e, i)
			if at == nil || b == nil || sc.drewPartly(e, i, at) {
				continue
			}
			k := sc.p.between(sc.timeline.earlier(before, now, e, i), b, sc.partial.whole)
			sc.drawBetween(comp, sc.fades.offset(comp, e, i, k), at)
		}
	}
}

// earlier returns a component's value in the tick before the predicted tick now. It returns
// nil if there is none, or after a teleport: then nothing may be interpolated.
func (tl *timeline) earlier(before, now *record, e ecs.Entity, comp int) []int32 {
	if before == nil || slices.Contains(now.cuts, e) || tl.reborn(before, now, e) {
		return nil
	}
	return before.find(e, comp)
}

// reborn reports whether an entity's life changed between two predicted ticks.
func (tl *timeline) reborn(before, now *record, e ecs.Entity) bool {
	for _, l := range tl.p.Lives {
		a, b := before.find(e, l.Component), now.find(e, l.Component)
		if a == nil || b == nil {
			continue
		}
		described, at := tl.p.Components[l.Component].Schema, tl.ghosts.hitboxes.Value(l.Component)
		n := described.Words()
		described.Dequantise(a[:n], schema.GridSim, recordRefs{tl}, at)
		of := tl.p.handlers.lives[l.Own]
		was := of(at)
		described.Dequantise(b[:n], schema.GridSim, recordRefs{tl}, at)
		if of(at) != was {
			return true
		}
	}
	return false
}

// between returns the knots of a predicted component between two consecutive ticks. from may
// be nil.
func (p *compiled) between(from, to []int32, fraction float32) schema.Knots {
	return schema.Between(schema.Keyframe{}, schema.Keyframe{Words: from}, schema.Keyframe{Tick: 1, Words: to}, fraction, float32(p.TickRate))
}

// drawBetween draws a predicted component.
func (sc *screen) drawBetween(comp *layout.Component, k schema.Knots, at unsafe.Pointer) {
	comp.Schema.Interpolate(^schema.Audience(0), k, schema.GridSim, wireRefs{sc.ghosts}, at)
}

// correct turns the difference between the drawn values and the corrected ones into
// offsets.
func (sc *screen) correct() {
	tl := sc.timeline
	after := tl.records.Find(tl.predictor.Tick())
	if !tl.correction.replacing || after == nil || sc.techniques.NoSmoothing {
		return
	}
	for _, it := range after.items {
		if it.comp == itself {
			continue
		}
		old := tl.correction.before.find(it.e, int(it.comp))
		if old == nil {
			continue
		}
		if sc.ghosts.leapt(it.e) {
			sc.fades.drop(it.e)
			continue
		}
		schema := sc.p.Components[it.comp].Schema
		for i, field := range schema.Fields() {
			if !field.Lerp || !schema.Has(i, old) || !schema.Has(i, after.words[it.off:]) {
				continue
			}
			sc.fades.add(it.e, int(it.comp), i, schema, old[:schema.Words()], after.words[it.off:][:schema.Words()])
		}
	}
}

// drawClientOnly draws ClientOnly entities between their last two ticks.
func (sc *screen) drawClientOnly() {
	l := &sc.timeline.clientOnly
	for _, rows := range l.query.Owned(sc.world, ecs.ClientOnly) {
		for _, e := range rows.Entities() {
			for i := range sc.p.Components {
				comp := &sc.p.Components[i]
				if !comp.Predicted || !comp.Lerped {
					continue
				}
				a, b := l.before.find(e, i), l.now.find(e, i)
				at := sc.world.Pointer(e, comp.ID)
				if a == nil || b == nil || at == nil {
					continue
				}
				sc.drawBetween(comp, sc.p.between(a, b, sc.partial.whole), at)
			}
		}
	}
}
