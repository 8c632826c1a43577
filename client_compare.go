package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Compare compares the prediction for t with the server's state.
func (tl *timeline) Compare(_ int, t Tick) prediction.Verdict {
	tl.found.wrong, tl.found.perhaps = prediction.Misprediction{Tick: t}, false
	tl.looks.forget()
	r := tl.records.Find(t)
	if r == nil {
		tl.found.own = prediction.Different
		return prediction.Different
	}
	others := prediction.Same
	if len(tl.saves.remotes) > 0 {
		others = tl.compareRemotePredicted(r, t)
	}
	tl.found.remoteFailed = others == prediction.Different
	if tl.found.own = tl.compareOwn(r, t); tl.found.own == prediction.Different && tl.explains() {
		tl.listDifferences(r, t)
	}
	verdict := max(others, tl.found.own)
	if verdict == prediction.Near {
		tl.correction.predicted.copy(r)
	}
	return verdict
}

// compareOwn is Compare without the entities of remote players.
func (tl *timeline) compareOwn(r *record, t Tick) prediction.Verdict {
	verdict, near := prediction.Same, false
	if tl.spawning.waiting.Len() > 0 && !tl.compareOpen(r, t) {
		verdict = prediction.Different
	}
	for _, g := range tl.ghosts.ours {
		if tl.ghosts.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.has(ecs.Entity(g.Data))
		if !ok || !here {
			if ok != here && tl.oneSided(g, t, here) {
				verdict = prediction.Different
			}
			continue
		}
		switch tl.compareGhost(r, g, s, t) {
		case prediction.Different:
			return prediction.Different
		case prediction.Near:
			near = true
		}
	}
	if near && verdict == prediction.Same {
		return prediction.Near
	}
	return verdict
}

// oneSided handles an entity that only one end has at t. It reports whether that is a
// misprediction, and explains it.
func (tl *timeline) oneSided(g *snapshot.Ghost, t Tick, here bool) bool {
	if here && (g.Gone == 0 || int32(g.Gone-t) > 0) {
		return false // not in this snapshot, for want of room
	}
	origin := tl.ghosts.originOf(g)
	if !here && g.Data == 0 {
		if origin == 0 {
			return true // the server's systems alone spawned it
		}
		tl.stats.SpawnsUnpredicted++
	}
	tl.explainEntity(ecs.Entity(g.Data), &tl.p.Prefabs[g.Prefab], here)
	return true
}

// compareOpen compares the spawns that the server has not confirmed yet, up to t. It
// reports whether the server may still have them all. Only a snapshot that holds all of the
// player's entities can show that one is missing.
func (tl *timeline) compareOpen(r *record, t Tick) bool {
	same := true
	if _, _, own := tl.ghosts.receiver.Complete(t); own {
		tl.spawning.waiting.Open(func(k Tick, s spawned) bool {
			if int32(k-t) <= 0 && r.has(s.e) {
				same = false
				tl.explainEntity(s.e, &tl.cfg.Protocol.compiled.Prefabs[s.kind], true)
			}
			return true
		})
	}
	return same
}

// compareGhost finds the first predicted field that differs by more than its
// tolerance, and explains it.
func (tl *timeline) compareGhost(r *record, g *snapshot.Ghost, s snapshot.State, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if !comp.Predicted {
			continue
		}
		ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
		if ours == nil && theirs == nil {
			continue
		}
		if ours == nil || theirs == nil {
			tl.found.wrong.Entity, tl.found.wrong.Prefab, tl.found.wrong.Component, tl.found.wrong.Field = g.Data, tl.p.Prefabs[g.Prefab].ECS.Name(), comp.Name, "(component)"
			tl.found.wrong.Predicted, tl.found.wrong.Actual = 0, 0
			tl.explain()
			return prediction.Different
		}
		theirs = tl.meant(comp, theirs, ours, t)
		if f := comp.Schema.FirstDifference(ours[:comp.Schema.Words()], theirs); f >= 0 {
			if tl.cameLater(comp, ours[:comp.Schema.Words()], theirs, t) {
				return prediction.Different // and corrected, without a word
			}
			tl.found.wrong.Entity, tl.found.wrong.Prefab, tl.found.wrong.Component = g.Data, tl.p.Prefabs[g.Prefab].ECS.Name(), comp.Name
			tl.explainField(comp, f, ours, theirs)
			tl.explain()
			if tl.found.wrong.Cause == prediction.Code && tl.wentEarlier(comp, ours[:comp.Schema.Words()], theirs, t) {
				tl.found.wrong.Cause = prediction.Untracked
			}
			return prediction.Different
		}
		if comp.Tolerant && !slices.Equal(ours[:comp.Schema.Words()], theirs) {
			verdict = prediction.Near
		}
	}
	return verdict
}

// compareRemotePredicted compares the prediction of remote players for t with the server's
// state.
func (tl *timeline) compareRemotePredicted(r *record, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for _, g := range tl.ghosts.ours {
		if !tl.ghosts.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.has(ecs.Entity(g.Data))
		if !ok {
			if here && g.Gone != 0 && int32(g.Gone-t) <= 0 {
				verdict = prediction.Different
			}
			continue
		}
		tl.stats.RemotePredicted++
		is := prediction.Different
		if here {
			is = tl.compareOther(r, g, s, t)
		}
		if is == prediction.Different {
			tl.stats.RemoteMispredicted++
		}
		verdict = max(verdict, is)
	}
	return verdict
}

func (tl *timeline) compareOther(r *record, g *snapshot.Ghost, s snapshot.State, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range tl.p.Components {
		comp := &tl.p.Components[i]
		if !comp.Predicted || !comp.Schema.Reaches(s.Audience) {
			continue
		}
		ours := r.find(ecs.Entity(g.Data), i)
		theirs := tl.stated(g, s, i, ours, t)
		switch {
		case ours == nil && theirs == nil:
		case ours == nil || theirs == nil:
			return prediction.Different
		case comp.Schema.FirstDifference(ours[:comp.Schema.Words()], theirs) >= 0:
			return prediction.Different
		case comp.Tolerant && !slices.Equal(ours[:comp.Schema.Words()], theirs):
			verdict = prediction.Near
		}
	}
	return verdict
}

// stated returns a snapshot's value of a component that is predicted here, for t. Fields
// that this player does not receive are taken from ours. It is valid until the next call.
func (tl *timeline) stated(g *snapshot.Ghost, s snapshot.State, i int, ours []int32, t Tick) []int32 {
	words, schema := s.Component(i), tl.p.Components[i].Schema
	if words != nil && ours != nil && tl.ghosts.remotePredicted(g) {
		tl.scratch.covered = append(tl.scratch.covered[:0], words...)
		schema.Cover(s.Audience, tl.scratch.covered, ours)
		words = tl.scratch.covered
	}
	return tl.meant(&tl.p.Components[i], words, ours, t)
}

func (tl *timeline) explainField(comp *layout.Component, f int, ours, theirs []int32) {
	tl.found.wrong.Field = comp.Schema.Field(f).Name
	tl.found.wrong.Predicted, tl.found.wrong.Actual = fieldValue(comp, f, ours), fieldValue(comp, f, theirs)
}

// listDifferences lists every field of the player's own in which the prediction r for t
// differs from the server's state. It allocates, and runs only if the game asked for it.
func (tl *timeline) listDifferences(r *record, t Tick) {
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 || tl.ghosts.remotePredicted(g) || !r.has(ecs.Entity(g.Data)) {
			continue
		}
		for i := range tl.p.Components {
			comp := &tl.p.Components[i]
			ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
			if comp.Predicted && (ours != nil || theirs != nil) {
				tl.listFields(comp, ecs.Entity(g.Data), tl.p.Prefabs[g.Prefab].ECS.Name(), ours, tl.meant(comp, theirs, ours, t))
			}
		}
	}
}

// listFields lists the fields in which two values of a component differ. nil means that
// there is no value.
func (tl *timeline) listFields(comp *layout.Component, e ecs.Entity, prefab string, ours, theirs []int32) {
	w := &tl.found.wrong
	d := prediction.Difference{Entity: uint64(e), Prefab: prefab, Component: comp.Name}
	if ours == nil || theirs == nil {
		d.Field, d.Predicted, d.Actual = "(component)", ours != nil, theirs != nil
		w.Differences = append(w.Differences, d)
		return
	}
	ours, theirs = ours[:comp.Schema.Words()], theirs[:comp.Schema.Words()]
	for f, field := range comp.Schema.Fields() {
		if !comp.Schema.Differs(f, ours, theirs) {
			continue
		}
		label := tl.cfg.Protocol.compiled.labels.Of(comp.Name, field.Name)
		d.Field, d.Label, d.Unit, d.Values = field.Name, label.Name, label.Unit, label.Values
		d.Predicted, d.Actual = comp.Schema.Value(f, ours, schema.GridSim), comp.Schema.Value(f, theirs, schema.GridSim)
		w.Differences = append(w.Differences, d)
	}
}

// explainEntity explains an entity that only one end has.
func (tl *timeline) explainEntity(e ecs.Entity, prefab *layout.Prefab, here bool) {
	w := &tl.found.wrong
	w.Entity, w.Prefab, w.Component, w.Field = uint64(e), prefab.ECS.Name(), prefab.ECS.Name(), "(entity)"
	w.Predicted, w.Actual = 0, 1
	if here {
		w.Predicted, w.Actual = 1, 0
	}
	tl.explain()
}

// countShown compares the first prediction of each tick with the server's state.
func (tl *timeline) countShown(t Tick, v prediction.Verdict) {
	r := tl.records.Find(t)
	if r == nil || !r.some {
		return
	}
	if !r.replayed { // what was compared is the first prediction itself
		if v == prediction.Different {
			tl.stats.MispredictedTicks++
		}
		return
	}
	if v == prediction.Same { // then the last prediction is the server's state
		if r.hash() != r.first {
			tl.stats.MispredictedTicks++
		}
		return
	}
	h := uint64(0)
	for _, g := range tl.ghosts.ours {
		s, ok := g.At(t)
		if !ok || tl.ghosts.remotePredicted(g) {
			continue
		}
		h += hashItem(ecs.Entity(g.Data), itself, nil)
		for i := range tl.p.Components {
			if w := s.Component(i); w != nil && tl.p.Components[i].Predicted {
				h += hashItem(ecs.Entity(g.Data), i, tl.meant(&tl.p.Components[i], w, r.find(ecs.Entity(g.Data), i), t))
			}
		}
	}
	if h != r.first {
		tl.stats.MispredictedTicks++
	}
}
