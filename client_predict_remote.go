package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// other is another player whose entities are foreseen here.
type other struct {
	owner   PlayerID
	history *ecs.History
	seen    Tick // when there last was any of his
}

// remotePredicted tells whether a ghost is another player's and predicted here all the same.
func (c *Client) remotePredicted(g *snapshot.Ghost) bool {
	return c.p.predictRemote != nil && !g.Mine && g.Owner != uint16(ecs.Nobody) && !c.cfg.NoPrediction && c.p.prefabs[g.Prefab].remotePredicted && !c.alien(g)
}

// ahead tells whether a ghost is predicted here, as against drawn in the past.
func (c *Client) ahead(g *snapshot.Ghost) bool { return c.mine(g) || c.remotePredicted(g) }

// anothers tells whether an entity that is predicted here is another player's.
func (c *Client) anothers(e ecs.Entity) bool {
	if c.p.predictRemote == nil {
		return false
	}
	switch c.world.Owner(e) {
	case c.view.Player, ecs.Nobody, ecs.Common, ecs.ClientOnly:
		return false
	}
	return true
}

// partOf is where a ghost's entity lives. What another player owns and is drawn in the
// past lies apart from what is foreseen of him, which goes back without it.
func (c *Client) partOf(g *snapshot.Ghost) PlayerID {
	o := PlayerID(g.Owner)
	if c.crowded() {
		return ecs.Nobody
	}
	if c.p.predictRemote == nil || g.Mine || o == ecs.Nobody || c.remotePredicted(g) {
		return o
	}
	return c.world.Partition(o)
}

// gatherOthers keeps the list of those who are foreseen.
func (c *Client) gatherOthers() {
	if c.p.predictRemote == nil {
		return
	}
	now := c.predictor.Tick()
	for _, g := range c.ours {
		if !c.remotePredicted(g) {
			continue
		}
		i := slices.IndexFunc(c.remotePredictedOf, func(o other) bool { return o.owner == PlayerID(g.Owner) })
		if i < 0 {
			i = len(c.remotePredictedOf)
			owner := PlayerID(g.Owner)
			c.remotePredictedOf = append(c.remotePredictedOf, other{owner: owner, history: c.world.NewOwnerHistory(owner, c.cfg.History)})
		}
		c.remotePredictedOf[i].seen = now
	}
	c.remotePredictedOf = slices.DeleteFunc(c.remotePredictedOf, func(o other) bool {
		return int32(now-o.seen) > int32(c.cfg.History) // no save knows anything of his
	})
}

// guess makes up the commands of those who are foreseen for a tick, as the wire would
// carry them.
func (c *Client) guess(t Tick) {
	if len(c.remotePredictedOf) == 0 {
		return
	}
	basis, _ := c.receiver.Newest()
	if r := c.records.Find(t); c.practice.replay && r != nil {
		basis = r.basis
	}
	var before []byte
	if debugBuild {
		before = c.predictedBytes(nil)
	}
	cmd := c.p.command
	for i := range c.remotePredictedOf {
		for _, rows := range c.ownRows.Owned(c.world, c.remotePredictedOf[i].owner) {
			base := rows.Column(cmd.id)
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*cmd.size)
				clear(unsafe.Slice((*byte)(at), cmd.size))
				c.p.predictRemote.guess(&c.frame, rows.Entity(k), int(int32(t-basis)), at)
				c.packed = cmd.schema.Pack(at, c.packed[:0])
				if cmd.schema.Unpack(c.packed, at) != nil {
					clear(unsafe.Slice((*byte)(at), cmd.size))
				}
			}
		}
	}
	if debugBuild {
		c.checkGuess(before)
	}
}

// checkGuess refuses a guess that changed what is predicted.
func (c *Client) checkGuess(before []byte) {
	now := c.predictedBytes(nil)
	if _, name := c.whose(now, before); name != "" {
		misuse("the function given to PredictRemote wrote %s: it says what others press, and changes nothing; let a Shared system write", name)
	}
}

// runsFor tells whether a system runs over the rows of an owner.
func (c *Client) runsFor(system int, o PlayerID) bool {
	return o == c.view.Player || o == ecs.Common || o == ecs.ClientOnly || c.p.predictRemote.runs[system]
}

// compareRemotePredicted holds what was foreseen for t against the server's words.
func (c timeline) compareRemotePredicted(r *record, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for _, g := range c.ours {
		if !c.remotePredicted(g) {
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
		c.stats.RemotePredicted++
		is := prediction.Different
		if here {
			is = c.compareOther(r, g, s, t)
		}
		if is == prediction.Different {
			c.stats.RemoteMispredicted++
		}
		verdict = max(verdict, is)
	}
	return verdict
}

func (c timeline) compareOther(r *record, g *snapshot.Ghost, s snapshot.State, t Tick) prediction.Verdict {
	verdict := prediction.Same
	for i := range c.p.components {
		comp := &c.p.components[i]
		if !comp.predicted || !comp.schema.Reaches(s.Audience) {
			continue
		}
		ours := r.find(ecs.Entity(g.Data), i)
		theirs := c.stated(g, s, i, ours, t)
		switch {
		case ours == nil && theirs == nil:
		case ours == nil || theirs == nil:
			return prediction.Different
		case comp.schema.FirstDifference(ours[:comp.schema.Words()], theirs) >= 0:
			return prediction.Different
		case comp.tolerant && !slices.Equal(ours[:comp.schema.Words()], theirs):
			verdict = prediction.Near
		}
	}
	return verdict
}

// stated is what a snapshot says of a component that is predicted here, with what this
// player does not receive as it is in ours, for t; until the next call.
func (c *Client) stated(g *snapshot.Ghost, s snapshot.State, i int, ours []int32, t Tick) []int32 {
	words, schema := s.Component(i), c.p.components[i].schema
	if words != nil && ours != nil && c.remotePredicted(g) {
		c.covered = append(c.covered[:0], words...)
		schema.Cover(s.Audience, c.covered, ours)
		words = c.covered
	}
	return c.meant(&c.p.components[i], words, ours, t)
}

// strayed tells whether what others did may have been the cause of a difference at t:
// it was foreseen wrongly, or in the ticks since the ends agreed nobody told it.
func (c *Client) strayed(t Tick) bool {
	if c.p.predictRemote == nil || len(c.others) == 0 {
		return false
	}
	_, all, _ := c.receiver.Complete(t)
	return c.remotePredictionFailed || t-c.sure > 1 && (len(c.remotePredictedOf) > 0 || c.unsure || !all)
}

// swayed finds the first field of the player's own that came out otherwise in the
// newest tick, as others were foreseen wrongly: the server's word on that tick will find
// nothing wrong any more.
func (c *Client) swayed() {
	after := c.records.Find(c.predictor.Tick())
	if !c.fades.has || after == nil {
		return
	}
	for _, it := range after.items {
		if it.remotePredicted || it.comp == itself {
			continue
		}
		comp, before := &c.p.components[it.comp], c.fades.before.find(it.e, int(it.comp))
		if before == nil {
			continue
		}
		n := comp.schema.Words()
		words := after.words[it.off:][:n]
		if f := comp.schema.FirstDifference(before[:n], words); f >= 0 {
			c.wrong = prediction.Misprediction{Tick: c.predictor.Tick(), Entity: uint64(it.e), Component: comp.name, Cause: prediction.RemoteInput}
			c.wrong.Prefab = c.itemName(recordItem{e: it.e, comp: itself})
			timeline{c}.explainField(comp, f, before, words)
			if c.cfg.OnMisprediction != nil {
				timeline{c}.listFields(comp, it.e, c.wrong.Prefab, before, words)
			}
			return
		}
	}
}

// voids tells whether a save of another player's is void, and not just older than he is
// here.
func (o *other) voids(slot int) bool { return o.history.Saved(slot) && !o.history.Holds(slot) }
