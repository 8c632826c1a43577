package server

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// rewindWorld implements the world that rewinding uses for the present.
type rewindWorld struct{ sim *simulation }

func (w rewindWorld) Entity(id lagcomp.ID) (rewind.Entity, bool) {
	e := ecs.Entity(id)
	n := w.sim.p.Identity.Find(w.sim.world, e)
	if n == nil {
		return rewind.Entity{}, false
	}
	return rewind.Entity{Net: snapshot.NetID(n.Net), Owner: uint32(w.sim.world.Owner(e)), Prefab: n.Prefab}, true
}

// Lives returns the number of an entity's life now, and whether the entity is alive.
func (w rewindWorld) Lives(id lagcomp.ID) (uint32, bool) {
	e := ecs.Entity(id)
	return w.sim.lifeOf(e), w.sim.world.Alive(e)
}

// Shown returns the client's id for a network id, and the tick since which the client has the entity.
func (p *player) Shown(net snapshot.NetID) (schema.WireID, foretick.Tick, bool) {
	if p.local != nil {
		return p.local.Knows(net)
	}
	if p.outbox.sender == nil {
		return 0, 0, false
	}
	return p.outbox.sender.Shown(net)
}

// Hidden reports whether the game hides an entity from the player.
func (p *player) Hidden(id lagcomp.ID) bool { return p.interest.hides[ecs.Entity(id)] }

// Every returns the number of ticks between two snapshots of the player's client.
func (p *player) Every() uint32 { return p.outbox.every }

// shot returns a command's data about the moment in which it was given.
func shot(c *netcode.Command) rewind.Command {
	return rewind.Command{Tick: c.Tick, Early: int64(c.Early), Claim: lagcomp.Claim{Tick: c.Render, Fraction: float32(c.Fraction) / 256}, Offset: c.Offset}
}

// shotViews gives the game its views of what players saw, from the history that shots are judged by.
type shotViews struct {
	sim      *simulation
	past     *rewind.Past
	sessions *sessions
	logs     *peerLog
	nobodies *uint64 // counts views of players that do not play
}

// recordPast records what shots can hit in the tick that was computed. masks has the masks that capture
// found for its tables.
func (v *shotViews) recordPast(masks []tableMask, source *snapshot.Source) {
	v.past.Begin(v.sim.frame.Tick)
	for table, rows := range v.sim.entities.All(v.sim.world) {
		if v.past.Fit(masks[table].has) {
			ids := v.sim.p.Identity.Slice(rows)
			for k := range ids {
				e := rewind.Entity{Net: snapshot.NetID(ids[k].Net), Owner: uint32(rows.Owner()), Prefab: ids[k].Prefab}
				v.past.Put(uint64(rows.Entity(k)), e, source)
			}
		}
	}
	v.past.End()
}

// viewer returns the player whose view is requested. It counts and logs a number that does not play,
// because all of its queries would miss without an error.
func (v *shotViews) viewer(by foretick.PlayerID) *player {
	p := v.sessions.player(by)
	if p == nil {
		*v.nobodies++
		if _, ok := v.logs.allow("view of nobody"); ok {
			v.logs.Logger.Warn("Frame.Rewind or RewindBehind was asked for who does not play: every query misses; use Frame.Present", "player", by, "tick", v.sim.frame.Tick)
		}
	}
	return p
}

// sightOf returns a view for the game.
func (v *shotViews) sightOf(seen rewind.View) game.Sight {
	return game.Sight{Seen: seen, Record: v.past, Tracks: v.sim.p.Tracks, Tick: v.sim.frame.Tick, Bare: len(v.sim.p.Hitboxes) == 0}
}

// Rewind implements Frame.Rewind.
func (v *shotViews) Rewind(by foretick.PlayerID) game.Sight {
	if p := v.viewer(by); p != nil {
		return v.sightOf(p.shooter.View(v.sim.frame.Tick))
	}
	return v.sightOf(rewind.View{})
}

// Present implements Frame.Present.
func (v *shotViews) Present() game.Sight {
	return v.sightOf(v.past.Present(v.sim.frame.Tick))
}

// RewindBehind implements Frame.RewindBehind.
func (v *shotViews) RewindBehind(by foretick.PlayerID, ticks float32) game.Sight {
	if p := v.viewer(by); p != nil {
		return v.sightOf(p.shooter.ViewBehind(v.sim.frame.Tick, ticks))
	}
	return v.sightOf(rewind.View{})
}

// Moment implements Frame.RewindTo without a player.
func (v *shotViews) Moment(t foretick.Tick) game.Sight {
	return v.sightOf(v.past.Moment(v.sim.frame.Tick, t))
}
