package rewind

import (
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// Snapshots between the two that a view is drawn from were lost, or came late. In their ticks entities came into
// sight and were put away: a game replaces one by another when a player respawns or a door opens. The client
// learns of both from the later snapshot. It removes the old entity in its tick, and draws the new one from its
// tick on, at the first value that it has. So does the view.

// skips reports whether a snapshot between those that a view is drawn from is missing.
func (v *View) skips() bool {
	return v.whole.F != 0 && v.whole.B-v.whole.A > v.by.screen.Every()
}

// firstValue returns the tick of the first value that the client had of an entity, after a moment at which it had
// none. It returns false if the entity was not in sight at that moment.
func (s *Shooter) firstValue(at lagcomp.Claim, w schema.WireID, since Tick) (t Tick, ok bool) {
	every := s.screen.Every()
	if int32(at.Tick-since) < 0 {
		return 0, false
	}
	t = at.Tick - at.Tick%every
	for range s.deliveries.ring {
		if t += every; s.deliveries.hadBy(t, every, s.arrived, w) {
			return t, true
		}
	}
	return 0, false
}

// putAway reports whether an entity of the earlier snapshot is no longer on the screen, because it does not
// exist since a tick whose snapshot is missing.
func (v *View) putAway(it *item, hint int) bool {
	every := v.by.screen.Every()
	last := v.past.recordOf(v.Used.Tick - v.Used.Tick%every)
	if last == nil || last.indexOf(it.id, hint) >= 0 {
		return false
	}
	_, alive := v.past.world.Entity(it.id)
	return !alive
}

// putNewcomers adds the entities that came into sight in a tick whose snapshot is missing.
func (s *Shooter) putNewcomers(f *frame, v *View, whole, next, known, judged *record) {
	p, b := s.past, s.frames.hitboxes
	hint, is := 0, 0
	for i := range next.items {
		it := &next.items[i]
		if j := whole.indexOf(it.id, hint); j >= 0 {
			hint = j + 1
			continue
		}
		if v.ahead.A != 0 && s.aheadFor(it, known, judged, &is) {
			continue
		}
		k, shown := s.aroundEntity(v, it.id)
		if !shown || k == v.whole {
			continue
		}
		from := p.recordOf(k.A)
		j := from.indexOf(it.id, i)
		if j < 0 {
			continue
		}
		it = &from.items[j]
		b.Fit(it.mask)
		words := from.words[it.off:]
		for _, comp := range b.need {
			p.game.writeShown(comp, schema.Knots{From: words}, it.grid, b.values[comp])
			words = words[p.game.Components[comp].Schema.Words():]
		}
		f.putEntity(it, b)
	}
}
