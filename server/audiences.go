package server

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// members has audiences of the game's own that a player belongs to, or all players do, by the entity
// that they are seen from. [ecs.None] stands for all entities.
type members struct {
	of    map[ecs.Entity]schema.Audience
	swept foretick.Tick // when of was last swept
}

// membersOf returns the audiences of a player, or for [ecs.Common] those of all players. It returns nil
// for a player that does not exist.
func (in *interest) membersOf(player foretick.PlayerID) *members {
	if player == ecs.Common {
		return &in.everyone
	}
	if p := in.sessions.player(player); p != nil {
		return &p.interest.members
	}
	return nil
}

func (in *interest) SetAudience(player foretick.PlayerID, e ecs.Entity, a schema.Audience, member bool) bool {
	m := in.membersOf(player)
	if m == nil || e != ecs.None && in.sim.p.Identity.Find(in.sim.world, e) == nil {
		return false
	}
	if m.of == nil {
		m.of = map[ecs.Entity]schema.Audience{}
	}
	sweep(in, m.of, &m.swept)
	in.changes.noteAudience(player, e, m.of[e])
	if is := m.of[e]; member {
		m.of[e] = is | a
	} else {
		m.of[e] = is &^ a
	}
	in.passChanged(player, e, in.sim.net(e))
	return true
}

// forgetAudience forgets the audiences that were given for an entity which does not exist any more.
func (in *interest) forgetAudience(player foretick.PlayerID, e ecs.Entity, net snapshot.NetID) {
	if m := in.membersOf(player); m != nil {
		delete(m.of, e)
		in.passChanged(player, e, net)
	}
}

// passChanged passes the audiences for an entity to all peers with a player's view, or for [ecs.Common] to
// all. Observers are among the peers.
func (in *interest) passChanged(player foretick.PlayerID, e ecs.Entity, net snapshot.NetID) {
	for _, p := range in.sessions.players {
		if player == ecs.Common || player == p.views() {
			in.passAudience(p, e, net)
		}
	}
}

// passAudience passes the audiences for an entity, or for [ecs.None] for all entities, to the sender of a
// player or an observer.
func (in *interest) passAudience(p *player, e ecs.Entity, net snapshot.NetID) {
	if p.outbox.sender != nil {
		a := in.audienceOf(p, e)
		p.outbox.sender.SetAudience(net, ^a, false)
		p.outbox.sender.SetAudience(net, a, true)
	}
}

// audienceOf returns the audiences that the game gave, for an entity, to the player whose view a player or
// an observer has, and to all players.
func (in *interest) audienceOf(p *player, e ecs.Entity) schema.Audience {
	a := in.everyone.of[e]
	if of := in.sessions.player(p.views()); of != nil {
		a |= of.interest.members.of[e]
	}
	return a
}

// passAudiences passes all audiences to a new sender.
func (in *interest) passAudiences(p *player) {
	each := []*members{&in.everyone}
	if of := in.sessions.player(p.views()); of != nil {
		each = append(each, &of.interest.members)
	}
	for _, m := range each {
		for e := range m.of {
			if e == ecs.None || in.sim.world.Alive(e) {
				in.passAudience(p, e, in.sim.net(e))
			}
		}
	}
}
