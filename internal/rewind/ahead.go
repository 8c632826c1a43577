package rewind

import (
	"math"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// showsAhead reports whether the player's client draws entities of an owner and prefab
// ahead, in the predicted present: shared physics objects, and those of other players that
// it predicts.
func (s *Shooter) showsAhead(owner uint32, prefab uint16) bool {
	k := &s.past.game.Prefabs[prefab]
	switch {
	case s.offset == 0 || owner == s.owner:
		return false
	case owner == 0:
		return k.Common
	}
	return k.RemotePredicted
}

// aheadFor is showsAhead for a recorded entity, with the owner that the player's client
// knew. next is the tick that it is judged in. hint is the likely index in the tick that
// the client knew, and is advanced.
func (s *Shooter) aheadFor(it *item, known, next *record, hint *int) bool {
	if k := &s.past.game.Prefabs[it.prefab]; s.offset == 0 || !k.Common && !k.RemotePredicted {
		return false
	}
	owner := it.owner
	if j := known.indexOf(it.id, *hint); j >= 0 {
		*hint, owner = j+1, known.items[j].owner
	} else if j := next.indexOf(it.id, *hint); j >= 0 {
		owner = next.items[j].owner
	}
	return s.showsAhead(owner, it.prefab)
}

// aheadNow is showsAhead for an entity as it is in the world now.
func (s *Shooter) aheadNow(id lagcomp.ID, e Entity) bool {
	if s.offset == 0 {
		return false
	}
	hint := 0
	it := item{id: id, owner: e.Owner, prefab: e.Prefab}
	return s.aheadFor(&it, s.past.recordOf(s.basis), nil, &hint)
}

// isAhead is aheadNow for an entity's id.
func (s *Shooter) isAhead(id lagcomp.ID) bool {
	e, ok := s.past.world.Entity(id)
	return ok && s.aheadNow(id, e)
}

// aheadAt returns the moment at which a player who gave a command for tick t saw entities
// drawn ahead: two consecutive ticks and the fraction between them. It is never later than
// the newest complete tick, nor earlier than the moment at which the player saw the others.
// So a false claim gains nothing.
func (s *Shooter) aheadAt(t Tick, used lagcomp.Claim) Keys {
	least := int64(used.Tick)*OffsetSteps + int64(math.Ceil(float64(used.Fraction)*OffsetSteps))
	return keysAt(min(max(int64(t)*OffsetSteps-s.offset, least), int64(s.past.newest())*OffsetSteps))
}

// aheadEnds returns the ticks between which entities drawn ahead are interpolated. In the
// newest tick they do not move.
func (p *Past) aheadEnds(k Keys) (from, to *record) {
	from, to = p.recordOf(k.A), p.recordOf(k.B)
	if to == nil {
		to = from
	}
	return from, to
}

// aheadWords holds the words from which an entity's components are drawn ahead. Predicted
// components have those of two consecutive ticks, others those last known. Each slice holds
// the words of all components that are read.
type aheadWords struct {
	from, to, known []int32 // from and known may be nil.
	fraction        float32
	grid            schema.Grid
}

// aheadWords returns the words for an entity of the later tick. hint is its likely index in the earlier one,
// and is advanced.
func (s *Shooter) aheadWords(it *item, from, to *record, f float32, hint *int) aheadWords {
	w := aheadWords{to: to.words[it.off:], fraction: f, grid: it.grid}
	if from != to {
		w.from = from.keyframe(it, hint).Words
	}
	if s.past.hitboxes.unpredicted {
		known := s.knownOf(it.id)
		if j := known.indexOf(it.id, max(*hint-1, 0)); j >= 0 {
			if o := &known.items[j]; o.mask.Equal(it.mask) && o.grid == it.grid {
				w.known = known.words[o.off:]
			}
		}
	}
	return w
}

// knownOf returns the newest tick for which the player's client knew an entity's state.
func (s *Shooter) knownOf(id lagcomp.ID) *record {
	t := s.basis
	if s.deliveries.mixed(t, s.past.game.TickRate) {
		if e, known := s.past.world.Entity(id); known {
			if w, since, ok := s.screen.Shown(e.Net); ok {
				if a, _, ok := s.deliveries.deliveredAround(t, s.screen.Every(), s.arrived, w, since); ok {
					t = a
				}
			}
		}
	}
	return s.past.recordOf(t)
}

// putAhead adds the entities drawn ahead to a frame.
func (s *Shooter) putAhead(f *frame, v *View) {
	from, to := s.past.aheadEnds(v.ahead)
	if to == nil {
		return
	}
	g, b := &s.past.game, s.frames.hitboxes
	known, is, hint := s.past.recordOf(s.basis), 0, 0
	for i := range to.items {
		it := &to.items[i]
		if _, slides := v.slide(it.id); slides || !s.aheadFor(it, known, to, &is) {
			continue
		}
		b.Fit(it.mask)
		w := s.aheadWords(it, from, to, v.ahead.F, &hint)
		for _, comp := range b.need {
			w.writeDrawn(g, comp, b.values[comp])
			w.skip(g.Components[comp].Schema.Words())
		}
		f.putEntity(it, b)
	}
}

// componentAhead is View.Component for entities drawn ahead.
func (s *Shooter) componentAhead(k Keys, id lagcomp.ID, comp int, dst unsafe.Pointer) bool {
	from, to := s.past.aheadEnds(k)
	i := to.indexOf(id, 0)
	if i < 0 || !to.items[i].mask.Has(comp) {
		return false
	}
	hint := 0
	w := s.aheadWords(&to.items[i], from, to, k.F, &hint)
	w.skip(s.past.game.before(to.items[i].mask, comp))
	w.writeDrawn(&s.past.game, comp, dst)
	return true
}

// writeDrawn writes the component whose words come first, as clients draw it.
func (w *aheadWords) writeDrawn(g *Game, comp int, dst unsafe.Pointer) {
	from, to := schema.Keyframe{Words: w.from}, schema.Keyframe{Tick: 1, Words: w.to}
	switch c := &g.Components[comp]; {
	case !c.Predicted && w.known != nil:
		from, to.Words = schema.Keyframe{Words: w.known}, nil
	case !c.Predicted || !c.Lerped:
		from.Words = nil
	}
	g.writeShown(comp, schema.Between(schema.Keyframe{}, from, to, w.fraction, float32(g.TickRate)), w.grid, dst)
}

// skip skips the first n words.
func (w *aheadWords) skip(n int) {
	w.to = w.to[n:]
	if w.from != nil {
		w.from = w.from[n:]
	}
	if w.known != nil {
		w.known = w.known[n:]
	}
}
