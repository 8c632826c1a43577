package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// compareTick compares the records of t with the server's state, and finds the cause of a
// difference.
func (cm *comparison) compareTick(t foretick.Tick) {
	cm.causes.beginTick(t)
	r := cm.records.Find(t)
	if r == nil {
		cm.own, cm.verdict = prediction.Different, prediction.Different
		return
	}
	others := prediction.Same
	if cm.causes.remotes = len(cm.saves.remotes) > 0; cm.causes.remotes {
		others = cm.compareRemotePredicted(r, t)
	}
	cm.causes.remoteFailed = others == prediction.Different
	if cm.own = cm.compareOwn(r, t); cm.own == prediction.Different && cm.reports.explains() {
		cm.causes.listDifferences(r, t)
	}
	cm.verdict = max(others, cm.own)
}

// compareOwn is Compare without the entities of remote players.
func (cm *comparison) compareOwn(r *record, t foretick.Tick) prediction.Verdict {
	verdict, near := prediction.Same, false
	if cm.spawning.waiting.Len() > 0 && !cm.compareOpen(r, t) {
		verdict = prediction.Different
	}
	for _, g := range cm.ghosts.ours {
		if cm.ghosts.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.hasEntity(ecs.Entity(g.Data))
		if !ok || !here {
			if ok != here && cm.oneSided(g, t, here) {
				verdict = prediction.Different
			}
			continue
		}
		switch cm.compareGhost(r, g, s, t) {
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

// oneSided handles an entity that only one end has at t. It reports whether that is a misprediction,
// and explains it.
func (cm *comparison) oneSided(g *snapshot.Ghost, t foretick.Tick, here bool) bool {
	if here && (g.Gone == 0 || int32(g.Gone-t) > 0) {
		return false // the snapshot had no room for it
	}
	origin := cm.ghosts.originOf(g)
	if !here && g.Data == 0 {
		if origin == 0 {
			return true // only the server's systems spawned it
		}
		cm.stats.SpawnsUnpredicted++
	}
	cm.causes.explainEntity(ecs.Entity(g.Data), &cm.p.Prefabs[g.Prefab], here)
	return true
}

// compareOpen compares the spawns up to t that the server has not confirmed yet. It reports whether the
// server may still have all of them. Only a snapshot that has all of the player's entities can show
// that one is missing.
func (cm *comparison) compareOpen(r *record, t foretick.Tick) bool {
	same := true
	if _, _, own := cm.ghosts.receiver.Complete(t); own {
		cm.spawning.waiting.Open(func(k foretick.Tick, s spawned) bool {
			if int32(k-t) <= 0 && r.hasEntity(s.e) {
				same = false
				cm.causes.explainEntity(s.e, &cm.build.Prefabs[s.kind], true)
			}
			return true
		})
	}
	return same
}

// compareGhost finds the first predicted field that differs by more than its tolerance, and explains
// the difference.
func (cm *comparison) compareGhost(r *record, g *snapshot.Ghost, s snapshot.State, t foretick.Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range cm.p.Components {
		comp := &cm.p.Components[i]
		if !comp.Predicted {
			continue
		}
		ours, theirs := r.wordsOf(ecs.Entity(g.Data), i), s.Component(i)
		if ours == nil && theirs == nil {
			continue
		}
		if ours == nil || theirs == nil {
			cm.causes.wrong.Entity, cm.causes.wrong.Prefab, cm.causes.wrong.Component, cm.causes.wrong.Field = g.Data, cm.p.Prefabs[g.Prefab].ECS.Name(), comp.Name, "(component)"
			cm.causes.wrong.Predicted, cm.causes.wrong.Actual = 0, 0
			cm.causes.explain()
			return prediction.Different
		}
		theirs = cm.names.meant(comp, theirs, ours, t)
		if f := comp.Schema.FirstDifference(ours[:comp.Schema.Words()], theirs); f >= 0 {
			if cm.names.cameLater(comp, ours[:comp.Schema.Words()], theirs, t) {
				return prediction.Different // it is corrected without an explanation
			}
			cm.causes.wrong.Entity, cm.causes.wrong.Prefab, cm.causes.wrong.Component = g.Data, cm.p.Prefabs[g.Prefab].ECS.Name(), comp.Name
			cm.causes.explainField(comp, f, ours, theirs)
			cm.causes.explain()
			if cm.causes.wrong.Cause == prediction.Code && cm.names.wentEarlier(comp, ours[:comp.Schema.Words()], theirs, t) {
				cm.causes.wrong.Cause = prediction.Untracked
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
func (cm *comparison) compareRemotePredicted(r *record, t foretick.Tick) prediction.Verdict {
	verdict := prediction.Same
	for _, g := range cm.ghosts.ours {
		if !cm.ghosts.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.hasEntity(ecs.Entity(g.Data))
		if !ok {
			if here && g.Gone != 0 && int32(g.Gone-t) <= 0 {
				verdict = prediction.Different
			}
			continue
		}
		cm.stats.RemotePredicted++
		is := prediction.Different
		if here {
			is = cm.compareOther(r, g, s, t)
		}
		if is == prediction.Different {
			cm.stats.RemoteMispredicted++
		}
		verdict = max(verdict, is)
	}
	return verdict
}

func (cm *comparison) compareOther(r *record, g *snapshot.Ghost, s snapshot.State, t foretick.Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range cm.p.Components {
		comp := &cm.p.Components[i]
		if !comp.Predicted || !comp.Schema.Reaches(s.Audience) {
			continue
		}
		ours := r.wordsOf(ecs.Entity(g.Data), i)
		theirs := cm.names.stated(g, s, i, ours, t)
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

// countShown compares the first prediction of each tick with the server's state.
func (cm *comparison) countShown(t foretick.Tick) {
	r := cm.records.Find(t)
	if r == nil || !r.some {
		return
	}
	if !r.replayed { // the first prediction itself was compared
		if cm.own == prediction.Different {
			cm.stats.MispredictedTicks++
		}
		return
	}
	if cm.own == prediction.Same { // then the last prediction equals the server's state
		if r.hash() != r.first {
			cm.stats.MispredictedTicks++
		}
		return
	}
	h := uint64(0)
	for _, g := range cm.ghosts.ours {
		s, ok := g.At(t)
		if !ok || cm.ghosts.remotePredicted(g) {
			continue
		}
		h += hashItem(ecs.Entity(g.Data), itself, nil)
		for i := range cm.p.Components {
			if w := s.Component(i); w != nil && cm.p.Components[i].Predicted {
				h += hashItem(ecs.Entity(g.Data), i, cm.names.meant(&cm.p.Components[i], w, r.wordsOf(ecs.Entity(g.Data), i), t))
			}
		}
	}
	if h != r.first {
		cm.stats.MispredictedTicks++
	}
}

// comparison compares the prediction of a tick with the server's state.
type comparison struct {
	*base
	ghosts   *ghosts
	spawning *spawning
	names    *recordNames
	records  *prediction.History[record]
	saves    *saves
	causes   *causes

	verdict prediction.Verdict // the newest result
	own     prediction.Verdict // the newest result without remote players
}
