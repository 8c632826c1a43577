package rewind

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// frames holds the moments that were drawn for one player in a tick. Each moment is drawn
// only once in a tick.
type frames struct {
	at     Tick // at is the tick in which the moments were drawn.
	drawn  []drawnFrame
	memory []frame
	// hitboxes is a set of its own, because views of different players may be made in parallel.
	hitboxes *Hitboxes
}

// drawnFrame is a moment that was drawn.
type drawnFrame struct {
	of     lagcomp.Claim
	ahead  Keys
	screen bool
	past   lagcomp.Past
}

// frame is memory for perFrame moments.
type frame struct {
	history *lagcomp.History
	number  Tick // number is the tick of the newest moment in history.
}

// perFrame is the number of moments in the smallest History.
const perFrame = 3

// findDrawn returns a moment that was drawn in this tick.
func (f *frames) findDrawn(now Tick, v *View) (lagcomp.Past, bool) {
	if f.at != now {
		f.at, f.drawn = now, f.drawn[:0]
		return lagcomp.Past{}, false
	}
	for i := range f.drawn {
		if d := &f.drawn[i]; d.of == v.Used && d.ahead == v.ahead && d.screen == v.screen {
			return d.past, true
		}
	}
	return lagcomp.Past{}, false
}

// beginDrawing starts drawing a moment.
func (f *frames) beginDrawing(g *Game) *frame {
	n := len(f.drawn) / perFrame
	if n == len(f.memory) {
		tick := time.Second / time.Duration(g.TickRate)
		h, err := lagcomp.NewHistory(lagcomp.Config{TickRate: g.TickRate, Depth: tick, MaxRewind: tick, Shapes: g.Shapes})
		if err != nil {
			return nil // cannot happen: the past's own history has the same shapes
		}
		f.memory = append(f.memory, frame{history: h})
	}
	if f.hitboxes == nil {
		f.hitboxes = NewHitboxes(g)
	}
	at := &f.memory[n]
	at.number++
	at.history.Begin(at.number)
	return at
}

// putEntity adds an entity whose components were written to the memory of b.
func (f *frame) putEntity(it *item, b *Hitboxes) {
	if hitboxes := b.Build(); len(hitboxes) > 0 {
		f.history.Put(it.id, it.owner, it.run, hitboxes...)
	}
}

// drawPast draws the past as a client does: it interpolates components between two ticks, and
// builds hitboxes from them. If snapshots had left entities out, each entity is drawn
// between its own pair of ticks. ok is false if a tick is no longer recorded.
func (s *Shooter) drawPast(v *View) (past lagcomp.Past, ok bool) {
	p, b := s.past, &s.frames
	if past, ok := b.findDrawn(v.now, v); ok {
		return past, true
	}
	from, to := p.recordOf(v.whole.A), p.recordOf(v.whole.B)
	if from == nil || to == nil && v.whole.F != 0 {
		return lagcomp.Past{}, false
	}
	f := b.beginDrawing(&p.game)
	if f == nil {
		return lagcomp.Past{}, false
	}
	if v.ahead.A != 0 {
		s.putAhead(f, v)
	}
	s.putBehind(f, v, from, to)
	f.history.End()
	past = f.history.At(f.number, 0)
	b.drawn = append(b.drawn, drawnFrame{of: v.Used, ahead: v.ahead, screen: v.screen, past: past})
	return past, true
}

// putBehind adds the entities drawn in the past to a frame.
func (s *Shooter) putBehind(f *frame, v *View, whole, next *record) {
	p, b := s.past, s.frames.hitboxes
	known, judged := p.recordOf(s.basis), p.recordOf(v.ahead.B)
	if judged == nil {
		judged = p.recordOf(v.ahead.A)
	}
	hint, earlier, is, skips := 0, 0, 0, v.skips()
	for i := range whole.items {
		it, from, to, k := &whole.items[i], whole, next, v.whole
		_, slides := v.slide(it.id)
		if !slides && v.ahead.A != 0 && s.aheadFor(it, known, judged, &is) || skips && v.putAway(it, i) {
			continue
		}
		if v.mixed || slides {
			var shown bool
			if from, to, k, shown = v.recordsAround(it.id); !shown {
				continue
			}
			j := from.indexOf(it.id, i)
			if j < 0 {
				continue
			}
			it = &from.items[j]
		}
		b.Fit(it.mask)
		knots := v.knots(it, from, to, k, &hint, &earlier)
		for _, comp := range b.need {
			p.game.writeShown(comp, knots, it.grid, b.values[comp])
			skip(&knots, p.game.Components[comp].Schema.Words())
		}
		f.putEntity(it, b)
	}
	if skips && next != nil {
		s.putNewcomers(f, v, whole, next, known, judged)
	}
}

// recordsAround returns the recorded ticks between which a view draws an entity that is shown in the
// past, and how. It returns false if the entity was not on the screen.
func (v *View) recordsAround(id lagcomp.ID) (from, to *record, k Keys, shown bool) {
	if k, shown = v.slide(id); shown {
		return v.past.recordOf(k.A), v.past.recordOf(k.B), k, true
	}
	k = v.whole
	if v.mixed {
		own, shown := v.by.aroundEntity(v, id)
		if !shown {
			return nil, nil, k, false
		}
		if from, to = v.past.recordOf(own.A), v.past.recordOf(own.B); from != nil && (to != nil || own.F == 0) {
			return from, to, own, true
		}
	}
	return v.past.recordOf(k.A), v.past.recordOf(k.B), k, true
}

// knots returns the values between which an entity's components are drawn. hint and earlier
// are its likely indices in the ticks after and before, and are advanced.
func (v *View) knots(it *item, from, to *record, k Keys, hint, earlier *int) schema.Knots {
	g := &v.past.game
	var before, next schema.Keyframe
	if k.F != 0 {
		next = to.keyframe(it, hint)
	}
	if g.Curved && next.Words != nil && v.by.curved(it.id, k.Before) {
		before = v.past.recordOf(k.Before).keyframe(it, earlier)
	}
	return schema.Between(before, schema.Keyframe{Tick: from.tick, Words: from.words[it.off:]}, next, k.F, float32(g.TickRate))
}

// keyframe returns the words of an entity's components in a tick, for interpolation with
// another of its items. They are nil if the two may not be interpolated. hint is the likely
// index, and is advanced.
func (f *record) keyframe(it *item, hint *int) schema.Keyframe {
	j := f.indexOf(it.id, *hint)
	if j < 0 {
		return schema.Keyframe{}
	}
	*hint = j + 1
	if o := &f.items[j]; o.same(it) {
		return schema.Keyframe{Tick: f.tick, Words: f.words[o.off:]}
	}
	return schema.Keyframe{}
}

// writeShown writes the component whose words come first in the knots.
func (g *Game) writeShown(comp int, k schema.Knots, grid schema.Grid, dst unsafe.Pointer) {
	g.Components[comp].Schema.Interpolate(0, k, grid, noRefs{}, dst)
}

// skip skips the first n words of each knot.
func skip(k *schema.Knots, n int) {
	k.From = k.From[n:]
	if k.To != nil {
		k.To = k.To[n:]
	}
	if k.Before != nil {
		k.Before = k.Before[n:]
	}
}
