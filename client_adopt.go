package foretick

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Amend adds the small differences at t, which are within the tolerance, to the prediction
// for k, which the world holds. See prediction.World.
func (tl *timeline) Amend(t, k Tick) {
	if k == t {
		tl.remember(tl.records.Find(tl.predictor.Tick()))
	}
	r := tl.records.Find(k)
	if r == nil {
		return
	}
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			continue
		}
		e := ecs.Entity(g.Data)
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			if !comp.Predicted || !comp.Tolerant {
				continue
			}
			n := comp.Schema.Words()
			later, predicted, actual := r.find(e, i), tl.correction.predicted.find(e, i), []int32(nil)
			if predicted != nil {
				actual = tl.stated(g, s, i, predicted[:n], t)
			}
			at := tl.world.Pointer(e, comp.ID)
			if later == nil || predicted == nil || actual == nil || at == nil {
				continue
			}
			if comp.Schema.Carry(later[:n], predicted[:n], actual) {
				comp.Schema.Dequantise(later[:n], schema.GridSim, recordRefs{tl}, at)
			}
		}
	}
}

// Adopt writes the server's state of the local player at t into the world.
func (tl *timeline) Adopt(t Tick) {
	tl.remember(tl.records.Find(tl.predictor.Tick()))
	tl.checkUntracked(t)
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		switch {
		case ok:
			tl.embody(g)
			tl.write(g, s, t)
		case g.Data != 0 && g.Gone != 0 && int32(g.Gone-t) <= 0:
			tl.bury(ecs.Entity(g.Data))
			g.Data = 0
		default: // put off: the save loaded for t may be older than what is known
			tl.takeFrom(g)
		}
	}
	if _, _, own := tl.ghosts.receiver.Complete(t); own && tl.spawning.waiting.Len() > 0 {
		tl.spawning.waiting.Open(func(k Tick, s spawned) bool {
			if int32(k-t) <= 0 { // settle tells of it
				tl.world.Manager().Destroy(s.e)
			}
			return true
		})
	}
	tl.ghosts.othersNewest() // as for a first run: the world may hold the last frame's
}

// write puts a ghost's state of t into the world as it is.
func (tl *timeline) write(g *snapshot.Ghost, s snapshot.State, t Tick) {
	r := tl.records.Find(t)
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if comp.Unknown {
			continue
		}
		if words := s.Component(i); words != nil {
			if comp.Predicted && r != nil {
				words = tl.named(comp, words, r.find(ecs.Entity(g.Data), i), t)
			}
			comp.Schema.DequantiseFor(s.Audience, words, s.Grid(i), recordRefs{tl}, tl.ghosts.pointer(g, i))
		} else if at := tl.world.Pointer(ecs.Entity(g.Data), tl.p.Components[i].ID); at != nil {
			tl.ghosts.takeAway(ecs.Entity(g.Data), tl.p.Components[i].ID)
		}
	}
}

// takeUnpredicted updates the components that only the server computes, on every entity
// that is predicted here. It writes the newest predicted tick. After a rollback Adopt
// writes them again.
func (tl *timeline) takeUnpredicted() {
	if len(tl.p.Unpredicted.Components) == 0 {
		return
	}
	changed := false
	if tl.overdue {
		tl.overdue = false
		for _, g := range tl.ghosts.ours {
			changed = tl.takeFrom(g) || changed
		}
	} else {
		for _, ch := range tl.ghosts.receiver.Changes() {
			if tl.ghosts.ahead(ch.Ghost) {
				changed = tl.takeFrom(ch.Ghost) || changed
			}
		}
	}
	if changed {
		tl.predictor.Rewrite()
		tl.tester.since = tl.predictor.Tick()
	}
}

// takeFrom writes a ghost's newest unpredicted components and removes those that it no
// longer has. It reports whether it touched anything.
func (tl *timeline) takeFrom(g *snapshot.Ghost) bool {
	e := ecs.Entity(g.Data)
	if !tl.world.Alive(e) {
		return false
	}
	s, changed := g.Newest(), false
	for _, i := range tl.p.Unpredicted.Components {
		if s.Component(i) != nil {
			changed = tl.rewrite(g, s, i) || changed
		} else if id := tl.p.Components[i].ID; tl.world.Pointer(e, id) != nil {
			tl.ghosts.takeAway(e, id)
			changed = true
		}
	}
	return changed
}

// rewrite writes a ghost's component and reports whether its value changed. If nothing
// changed, a sync test may go back past the tick.
func (tl *timeline) rewrite(g *snapshot.Ghost, s snapshot.State, i int) bool {
	comp := &tl.p.Components[i]
	at := tl.world.Pointer(ecs.Entity(g.Data), comp.ID)
	if at == nil || comp.Varies {
		tl.ghosts.writeComponent(g, s, i)
		return true
	}
	tl.scratch.was = append(tl.scratch.was[:0], unsafe.Slice((*byte)(at), comp.Size)...)
	tl.ghosts.writeComponent(g, s, i)
	return !bytes.Equal(tl.scratch.was, unsafe.Slice((*byte)(at), comp.Size))
}

// bornHere notes that a ghost now has an entity. References to it that arrived earlier are
// then looked up again.
func (tl *timeline) bornHere() {
	if tl.p.Unpredicted.Refs {
		tl.overdue = true
	}
}

// remember keeps what was predicted for the newest tick until a correction may replace it.
func (tl *timeline) remember(r *record) {
	tl.correction.replacing = r != nil
	if tl.correction.replacing {
		tl.correction.before.items = append(tl.correction.before.items[:0], r.items...)
		tl.correction.before.words = append(tl.correction.before.words[:0], r.words...)
	}
}
