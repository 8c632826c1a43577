package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// netIndex finds entities by their network ids. It is filled when it is first asked, and again,
// once in a tick, when it lacks what it is asked for.
type netIndex struct {
	of     map[snapshot.NetID]ecs.Entity
	filled Tick
}

// find returns the entity with a network id, 0 for none.
func (x *netIndex) find(m *simulation, net snapshot.NetID) ecs.Entity {
	if e := x.of[net]; e != 0 && m.net(e) == net {
		return e
	}
	if x.of != nil && x.filled == m.frame.Tick {
		return 0
	}
	if x.of == nil {
		x.of = make(map[snapshot.NetID]ecs.Entity)
	}
	clear(x.of)
	x.filled = m.frame.Tick
	for _, rows := range m.entities.All(m.world) {
		ids := m.p.identity.Slice(rows)
		for i := range ids {
			x.of[snapshot.NetID(ids[i].Net)] = rows.Entity(i)
		}
	}
	return x.of[net]
}

// namedBy finds the entity that a player's client predicts and names so, 0 for none.
func (s *Server) namedBy(p *player, name uint64) uint64 {
	sender := p.outbox.sender
	if sender == nil || isKey(uint32(name)) { // #nosec G115 -- see below
		return s.searchNamed(p, name)
	}
	if name == 0 || name > uint64(^schema.WireID(0)) {
		return 0
	}
	net, ok := sender.Entity(schema.WireID(name))
	if !ok {
		return 0
	}
	e := s.reports.index.find(&s.sim, net)
	if e == 0 || p.interest.hides[e] {
		return 0
	}
	if of := s.sim.world.Owner(e); of != p.owner && !(of == ecs.Nobody && s.p.Common) {
		return 0
	}
	t := playerTrace{s: s, p: p}
	if wire, _ := t.named(e, s.p.identity.Get(s.sim.world, e)); uint64(wire) != name {
		return 0
	}
	return uint64(e)
}

// searchNamed finds it among the player's own entities, and those of nobody where they are
// predicted.
func (s *Server) searchNamed(p *player, name uint64) uint64 {
	t := playerTrace{s: s, p: p}
	for _, owner := range [...]PlayerID{p.owner, ecs.Nobody} {
		if owner == ecs.Nobody && (!s.p.Common || p.outbox.sender != nil) || name == 0 { // a client's key is of its own
			break
		}
		for _, rows := range s.sim.entities.Owned(s.sim.world, owner) {
			ids := s.p.identity.Slice(rows)
			for i := range ids {
				if e := rows.Entity(i); !p.interest.hides[e] {
					if wire, _ := t.named(e, &ids[i]); uint64(wire) == name {
						return uint64(e)
					}
				}
			}
		}
	}
	return 0
}
