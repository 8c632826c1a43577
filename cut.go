package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// Teleport says that an entity is from this tick on somewhere else at once, or
// somebody else: it was teleported, or died and stood up again. The mark travels
// with its snapshots. No client shows anything between the place before and the
// new one, corrections that it causes are shown at once instead of fading in, no
// shot reaches back before this tick, and nothing is interpolated across it in
// the past that shots are judged in.
//
// A shared system that teleports what the player predicts calls it on both ends:
// on a client it concerns the picture of this tick alone. False for an entity
// that is not there, and in a client's render systems. See [LifeID] for lives
// that a component of the game's tells apart.
func (f *Frame) Teleport(e ecs.Entity) bool {
	if !f.World.Alive(e) {
		return false
	}
	if f.server == nil {
		return f.client.cutHere(e)
	}
	s := f.server
	if s.cuts == nil {
		s.cuts = map[ecs.Entity]uint32{}
	}
	sweep(s.cuts, f.World)
	s.cuts[e]++
	if id := s.p.identity.Find(f.World, e); id != nil {
		s.source.Teleport(snapshot.NetID(id.Net))
	}
	return true
}

// cutHere notes a teleport in the tick that is being predicted.
func (c *Client) cutHere(e ecs.Entity) bool {
	if c.rendering || c.p.identity.Find(c.world, e) == nil {
		return false
	}
	c.cut = append(c.cut, e)
	if !c.frame.Replay {
		c.fades.drop(e)
	}
	return true
}

// leapt tells whether the snapshot just read says that a ghost was teleported
// since the value before.
func (c *Client) leapt(e ecs.Entity) bool {
	for _, ch := range c.receiver.Changes() {
		if ch.Teleported && ecs.Entity(ch.Ghost.Data) == e {
			return true
		}
	}
	return false
}
