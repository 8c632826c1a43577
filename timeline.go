package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// timeline is the client's predicted world, as the predictor drives it, and the
// server's word on it.
type timeline struct{ *Client }

// Save keeps the predicted rows.
func (c timeline) Save(slot int, _ Tick) {
	if c.cfg.NoPrediction {
		return
	}
	c.own.Save(slot)
	if c.p.common {
		c.common.Save(slot)
	}
	for i := range c.remotePredictedOf {
		c.remotePredictedOf[i].history.Save(slot)
	}
}

// Load puts them back.
func (c timeline) Load(slot int, _ Tick) {
	if c.cfg.NoPrediction {
		return
	}
	c.stashLocals()
	c.own.Restore(slot)
	if c.p.common {
		c.common.Restore(slot)
	}
	for i := range c.remotePredictedOf {
		if h := c.remotePredictedOf[i].history; h.Holds(slot) {
			h.Restore(slot)
		}
	}
	if len(c.spawning.named) > 0 {
		c.rename()
	}
}

// Step runs the shared systems for the local player.
func (c timeline) Step(t Tick, replay bool) {
	if c.cfg.NoPrediction {
		return
	}
	f := &c.frame
	f.Tick, f.Replay = t, replay
	c.fillCommand(t)
	c.guess(t)
	c.cut = c.cut[:0]
	for _, q := range f.queues {
		q.begin(t)
	}
	c.beginSpawns(t)
	c.practice.running, c.practice.again = c.cfg.SyncTest > 0, c.practice.again[:0]
	if debugBuild {
		c.losses.begin()
		c.trails.begin(t)
		c.noteTrail()
	}
	c.world.WatchOutside(false)
	c.run(t)
	c.settleTrail()
	c.world.WatchOutside(true)
	c.endSpawns()
	if c.practice.running {
		c.practice.running = false
		if !c.practice.replay {
			*c.practice.trail.Put(t) = append((*c.practice.trail.Put(t))[:0], c.practice.again...)
			c.checkNumbers(t)
		}
	}
	for _, q := range f.queues {
		q.end(f)
	}
	c.keep(t, replay)
	if c.p.clientOnly && !c.again(t) {
		c.keepClientOnly()
		c.lived = t + 1
	}
	f.Replay = false
	if replay {
		c.stats.Resimulated++
	}
}

// run runs the shared systems over what is predicted here.
func (c *Client) run(t Tick) {
	if !c.p.common && !c.p.clientOnly && len(c.remotePredictedOf) == 0 {
		c.p.schedule.ExecutePlayer(c.world, &c.frame, c.view.Player)
		return
	}
	c.parts = append(c.parts[:0], c.view.Player)
	if c.p.common {
		c.parts = append(c.parts, ecs.Common)
	}
	if c.p.clientOnly && !c.again(t) {
		c.parts = append(c.parts, ecs.ClientOnly)
	}
	if len(c.remotePredictedOf) == 0 {
		c.p.schedule.ExecuteParts(c.world, &c.frame, c.parts...)
		return
	}
	for i := range c.remotePredictedOf {
		c.parts = append(c.parts, c.remotePredictedOf[i].owner)
	}
	c.p.schedule.ExecutePartsWhere(c.world, &c.frame, c.runs, c.parts...)
}

// fillCommand writes tick t's input into the player's rows, and none into those that
// nobody owns.
func (c *Client) fillCommand(t Tick) {
	cmd := c.p.command
	if cmd == nil {
		return
	}
	in := c.inputs.Find(t)
	for _, rows := range c.ownRows.Owned(c.world, c.view.Player) {
		base := rows.Column(cmd.id)
		for i := range rows.Len() {
			dst := unsafe.Slice((*byte)(unsafe.Add(base, uintptr(i)*cmd.size)), cmd.size)
			if in == nil {
				clear(dst)
			} else {
				copy(dst, in.value)
			}
		}
	}
	if !c.p.common {
		return
	}
	for _, rows := range c.ownRows.Owned(c.world, ecs.Common) { // whose it was once pressed something
		clear(unsafe.Slice((*byte)(rows.Column(cmd.id)), uintptr(rows.Len())*cmd.size))
	}
}

// Compare holds the prediction for t against the server's words.
func (c timeline) Compare(_ int, t Tick) prediction.Verdict {
	c.wrong = prediction.Misprediction{Tick: t}
	r := c.records.Find(t)
	if r == nil {
		c.ownVerdict = prediction.Different
		return prediction.Different
	}
	others := prediction.Same
	if len(c.remotePredictedOf) > 0 {
		others = c.compareRemotePredicted(r, t)
	}
	c.remotePredictionFailed = others == prediction.Different
	if c.ownVerdict = c.compareOwn(r, t); c.ownVerdict == prediction.Different && c.cfg.OnMisprediction != nil {
		c.listDifferences(r, t)
	}
	verdict := max(others, c.ownVerdict)
	if verdict == prediction.Near {
		c.predicted.copy(r)
	}
	return verdict
}

// compareOwn is Compare for what is not another player's.
func (c timeline) compareOwn(r *record, t Tick) prediction.Verdict {
	verdict, near := prediction.Same, false
	if c.spawns.Len() > 0 && !c.compareOpen(r, t) {
		verdict = prediction.Different
	}
	for _, g := range c.ours {
		if c.remotePredicted(g) {
			continue
		}
		s, ok := g.At(t)
		here := g.Data != 0 && r.has(ecs.Entity(g.Data))
		if !ok || !here {
			if ok != here && c.oneSided(g, t, here) {
				verdict = prediction.Different
			}
			continue
		}
		switch c.compareGhost(r, g, s, t) {
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

// oneSided is for an entity that at t is there on one end alone: whether it
// differs from the prediction, and why.
func (c timeline) oneSided(g *snapshot.Ghost, t Tick, here bool) bool {
	if here && (g.Gone == 0 || int32(g.Gone-t) > 0) {
		return false // not in this snapshot, for want of room
	}
	origin := c.originOf(g)
	switch {
	case !here && g.Data != 0:
		c.explainEntity(ecs.Entity(g.Data), &c.p.prefabs[g.Prefab], here) // destroyed too early
	case origin != 0:
		if !here {
			c.stats.SpawnsUnpredicted++
		}
		c.explainEntity(ecs.Entity(g.Data), &c.p.prefabs[g.Prefab], here)
	}
	return true
}

// compareOpen tells whether the server may still have everything that was
// spawned up to t and lived then. Only a snapshot that holds all that is the
// player's can say that it has not.
func (c timeline) compareOpen(r *record, t Tick) bool {
	same := true
	if _, _, own := c.receiver.Complete(t); own {
		c.spawns.Open(func(k Tick, s spawned) bool {
			if int32(k-t) <= 0 && r.has(s.e) {
				same = false
				c.explainEntity(s.e, &c.cfg.Protocol.prefabs[s.kind], true)
			}
			return true
		})
	}
	return same
}

// compareGhost finds the first predicted field that differs by more than its
// tolerance, and explains it.
func (c timeline) compareGhost(r *record, g *snapshot.Ghost, s snapshot.State, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range c.p.components {
		comp := &c.p.components[i]
		if !comp.predicted {
			continue
		}
		ours, theirs := r.find(ecs.Entity(g.Data), i), s.Component(i)
		if ours == nil && theirs == nil {
			continue
		}
		if ours == nil || theirs == nil {
			c.wrong.Entity, c.wrong.Prefab, c.wrong.Component, c.wrong.Field = g.Data, c.p.prefabs[g.Prefab].ecs.Name(), comp.name, "(component)"
			c.wrong.Predicted, c.wrong.Actual = 0, 0
			c.explain()
			return prediction.Different
		}
		theirs = c.meant(comp, theirs, ours, t)
		if f := comp.schema.FirstDifference(ours[:comp.schema.Words()], theirs); f >= 0 {
			if c.cameLater(comp, ours[:comp.schema.Words()], theirs, t) {
				return prediction.Different // and corrected, without a word
			}
			c.wrong.Entity, c.wrong.Prefab, c.wrong.Component = g.Data, c.p.prefabs[g.Prefab].ecs.Name(), comp.name
			c.explainField(comp, f, ours, theirs)
			c.explain()
			if c.wrong.Cause == prediction.Code && c.wentEarlier(comp, ours[:comp.schema.Words()], theirs, t) {
				c.wrong.Cause = prediction.Untracked
			}
			return prediction.Different
		}
		if comp.tolerant && !slices.Equal(ours[:comp.schema.Words()], theirs) {
			verdict = prediction.Near
		}
	}
	return verdict
}

// Amend takes over what the server's state of t differs from the prediction for
// t by less than the tolerance, in the prediction for k, which the world holds.
func (c timeline) Amend(t, k Tick) {
	if k == t {
		c.fades.remember(c.records.Find(c.predictor.Tick()))
	}
	r := c.records.Find(k)
	if r == nil {
		return
	}
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			continue
		}
		e := ecs.Entity(g.Data)
		for i := range c.p.components {
			comp := &c.p.components[i]
			if !comp.predicted || !comp.tolerant {
				continue
			}
			n := comp.schema.Words()
			later, predicted, actual := r.find(e, i), c.predicted.find(e, i), []int32(nil)
			if predicted != nil {
				actual = c.stated(g, s, i, predicted[:n], t)
			}
			at := c.world.Pointer(e, comp.id)
			if later == nil || predicted == nil || actual == nil || at == nil {
				continue
			}
			if comp.schema.Carry(later[:n], predicted[:n], actual) {
				comp.schema.Dequantise(later[:n], snapshot.GridSim, clientRefs{c.Client}, at)
			}
		}
	}
}

// Adopt writes the server's state of the local player at t into the world.
func (c timeline) Adopt(t Tick) {
	c.fades.remember(c.records.Find(c.predictor.Tick()))
	c.checkUntracked(t)
	for _, g := range c.ours {
		s, ok := g.At(t)
		switch {
		case ok:
			c.embody(g)
			c.write(g, s, t)
		case g.Data != 0 && g.Gone != 0 && int32(g.Gone-t) <= 0:
			c.bury(ecs.Entity(g.Data))
			g.Data = 0
		default: // put off: the save loaded for t may be older than what is known
			c.takeFrom(g)
		}
	}
	if _, _, own := c.receiver.Complete(t); own && c.spawns.Len() > 0 {
		c.spawns.Open(func(k Tick, s spawned) bool {
			if int32(k-t) <= 0 { // settle tells of it
				c.world.Manager().Destroy(s.e)
			}
			return true
		})
	}
	c.othersNewest() // as for a first run: the world may hold the last picture's
}
