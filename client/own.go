package client

import (
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
)

// ownDrawing draws the entities that are predicted here.
type ownDrawing struct {
	*base
	ghosts     *ghosts
	predictor  *prediction.Predictor
	recorder   *recorder
	predicted  *predicted
	clientOnly *localEntities
	correction *correction
	names      *recordNames
	partial    *partialTick
	slides     *slides

	fades fades
	drawn bool // the world has drawn values
}

// drawOwn draws the local player between its last two ticks, while corrections fade.
func (ow *ownDrawing) drawOwn(since time.Duration) {
	now := ow.recorder.records.Find(ow.predictor.Tick())
	before := ow.recorder.records.Find(ow.predictor.Tick() - 1)
	if now == nil {
		return
	}
	ow.drawn = true
	ow.fades.age(since)
	if ow.p.ClientOnly {
		ow.drawLocalEntities()
	}
	for _, e := range ow.predicted.entities() {
		for i := range ow.p.Components {
			comp := &ow.p.Components[i]
			if !comp.Predicted || !comp.Lerped {
				continue
			}
			at, b := ecs.Engine(ow.world).Pointer(e, comp.ID), now.wordsOf(e, i)
			if at == nil || b == nil || ow.drewPartly(e, i, at) {
				continue
			}
			k := ow.p.Between(ow.recorder.earlier(before, now, e, i), b, ow.partial.whole)
			ow.drawBetween(comp, ow.fades.offset(comp, e, i, k), at)
		}
	}
}

// drawBetween draws a predicted component.
func (ow *ownDrawing) drawBetween(comp *layout.Component, k schema.Knots, at unsafe.Pointer) {
	comp.Schema.Interpolate(^schema.Audience(0), k, schema.GridSim, wireRefs{ow.ghosts}, at)
}

// correct makes offsets of the differences between the drawn values and the corrected ones.
func (ow *ownDrawing) correct() {
	after := ow.recorder.records.Find(ow.predictor.Tick())
	if !ow.correction.replacing || after == nil || ow.techniques.NoSmoothing {
		return
	}
	var leapt, slid, counted bool // of the entity whose components follow
	for _, it := range after.items {
		if it.comp == itself {
			slid, counted = ow.slides.begins(it.e), false
			leapt = ow.ghosts.leapt(it.e) || ow.correction.cuts.recut(ow.recorder.records, it.e)
			if leapt || slid {
				ow.fades.dropFades(it.e)
			}
			continue
		}
		old := ow.correction.before.wordsOf(it.e, int(it.comp))
		if old == nil || slid {
			continue
		}
		schema := ow.p.Components[it.comp].Schema
		was, is := old[:schema.Words()], after.words[it.off:][:schema.Words()]
		for i, field := range schema.Fields() {
			switch {
			case !field.Lerp || it.remotePredicted && field.Audience != 0 || !schema.Has(i, was) || !schema.Has(i, is):
			case !leapt:
				if ow.fades.addFade(it.e, int(it.comp), i, schema, was, is) {
					ow.stats.JumpsByLimit++
				}
			case !counted && !slices.Equal(was, is):
				counted = true
				ow.stats.JumpsByTeleport++
			}
		}
	}
}

// drawLocalEntities draws ClientOnly entities between their last two ticks.
func (ow *ownDrawing) drawLocalEntities() {
	l := ow.clientOnly
	for _, rows := range l.query.Owned(ow.world, ecs.ClientOnly) {
		for _, e := range rows.Entities() {
			for i := range ow.p.Components {
				comp := &ow.p.Components[i]
				if !comp.Predicted || !comp.Lerped {
					continue
				}
				a, b := l.before.wordsOf(e, i), l.now.wordsOf(e, i)
				at := ecs.Engine(ow.world).Pointer(e, comp.ID)
				if a == nil || b == nil || at == nil {
					continue
				}
				ow.drawBetween(comp, ow.p.Between(a, b, ow.partial.whole), at)
			}
		}
	}
}

// shownAhead returns a rendered frame's value of a component that is predicted here. It returns false
// if no value of it was predicted.
func (ow *ownDrawing) shownAhead(k rewind.Keys, e ecs.Entity, comp int) (value game.ShownValue, ok bool) {
	now, before := ow.recorder.records.Find(k.B), ow.recorder.records.Find(k.A)
	if now == nil {
		return game.ShownValue{}, false
	}
	b := now.wordsOf(e, comp)
	if b == nil {
		return game.ShownValue{}, false
	}
	var a []int32
	if ow.p.Components[comp].Lerped {
		a = ow.recorder.earlier(before, now, e, comp)
	}
	return game.ShownValue{Schema: ow.p.Components[comp].Schema, Audience: ^schema.Audience(0), Knots: ow.p.Between(a, b, k.F), Grid: schema.GridSim, Refs: wireRefs{ow.ghosts}}, true
}

// drewPartly draws the fading corrections of a component that a partial tick computed. It returns false
// for any other component.
func (ow *ownDrawing) drewPartly(e ecs.Entity, comp int, at unsafe.Pointer) bool {
	c := &ow.p.Components[comp]
	own := ow.build.Index(c.ID) // a server of another build has another number for it
	if d := ow.partial.findDrawn(e); d == nil || own < 0 || !d.components.Has(own) {
		return false
	}
	if ow.fades.hasFade(e, comp) {
		words := ow.names.zeroes(c.Schema.Words())
		c.Schema.SnapWords(at, ow.names, words)
		ow.drawBetween(c, ow.fades.offset(c, e, comp, ow.p.Between(nil, words, 0)), at)
	}
	return true
}
