package foretick

import (
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
	if c.p.island {
		c.island.Save(slot)
	}
}

// Load puts them back.
func (c timeline) Load(slot int, _ Tick) {
	if c.cfg.NoPrediction {
		return
	}
	c.own.Restore(slot)
	if c.p.island {
		c.island.Restore(slot)
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
	for _, q := range f.queues {
		q.begin(t)
	}
	c.practice.running, c.practice.again = c.cfg.Rehearse > 0, c.practice.again[:0]
	if c.p.island {
		c.p.schedule.ExecuteParts(c.world, f, c.view.Me, ecs.Island)
	} else {
		c.p.schedule.ExecutePlayer(c.world, f, c.view.Me)
	}
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
	f.Replay = false
	c.keep(t, replay)
	if replay {
		c.stats.Resimulated++
	}
}

// fillCommand writes tick t's input into the player's rows.
func (c *Client) fillCommand(t Tick) {
	cmd := c.p.command
	if cmd == nil {
		return
	}
	in := c.inputs.Find(t)
	for _, rows := range c.ownRows.Owned(c.world, c.view.Me) {
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
}

// Compare holds the prediction for t against the server's words.
func (c timeline) Compare(_ int, t Tick) prediction.Verdict {
	c.wrong = prediction.Misprediction{Tick: t}
	r := c.records.Find(t)
	if r == nil {
		return prediction.Different
	}
	verdict := prediction.Same
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			if ok != (g.Data != 0) {
				verdict = prediction.Different // came or went
			}
			continue
		}
		if c.compareGhost(r, g, s) {
			return prediction.Different
		}
	}
	return verdict
}

// compareGhost finds the first predicted field that differs, and explains it.
func (c timeline) compareGhost(r *record, g *snapshot.Ghost, s snapshot.State) bool {
	for i := range c.p.components {
		comp := &c.p.components[i]
		if !comp.predicted {
			continue
		}
		ours, theirs := r.find(g.Wire, i), s.Component(i)
		if ours == nil && theirs == nil {
			continue
		}
		c.wrong.Entity, c.wrong.Component = g.Data, comp.name
		if ours == nil || theirs == nil {
			c.wrong.Field = "(component)"
			c.explain()
			return true
		}
		if f := comp.schema.FirstDifference(ours[:comp.schema.Words()], theirs); f >= 0 {
			c.explainField(comp, f, ours, theirs)
			c.explain()
			return true
		}
		c.wrong.Component = ""
	}
	return false
}

// Adopt writes the server's state of the local player at t into the world.
func (c timeline) Adopt(t Tick) {
	c.fades.remember(c.records.Find(c.predictor.Tick()))
	c.checkUntracked(t)
	for _, g := range c.ours {
		s, ok := g.At(t)
		switch {
		case ok && g.Data == 0:
			c.birth(g)
			c.write(g, s)
		case ok:
			c.write(g, s)
		case g.Data != 0 && g.Gone != 0 && int32(g.Gone-t) <= 0:
			c.world.Destroy(ecs.Entity(g.Data))
			g.Data = 0
			c.released = append(c.released, g)
		}
	}
	c.release()
}
