package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

func (s *Server) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	s.run.refuseCaptured("SpawnBy")
	if !s.sim.world.Alive(by) {
		return ecs.None
	}
	owner, displaced := s.sim.ownerOf(by)
	i := s.p.PrefabOf(k)
	if !s.sim.writes.sharedRuns() || i < 0 || displaced {
		return s.sim.spawn(k, owner)
	}
	spawner := s.p.identity.Find(s.sim.world, by)
	s.sim.frame.checkSpawn(by, owner, &s.p.Prefabs[i], s.p.prefabNamed(spawner))
	e := s.spawnShared(k, i, owner, by)
	if s.preview != nil {
		s.preview.spawn(e, owner, i)
	}
	if s.p.Prefabs[i].ClientOnly() {
		s.setVisible(owner, e, false)
		return e
	}
	origin := s.late.originOf(owner, e, s.originOf(owner, by, i, s.sim.ordinal))
	id := s.p.identity.Get(s.sim.world, e)
	id.maker, id.origin = uint16(owner), origin
	return e
}

// spawnShared spawns for a shared system. While late commands are taken, a spawn has the
// same handle and network id in every run of its tick.
func (s *Server) spawnShared(k *ecs.Prefab, kind int, owner PlayerID, by ecs.Entity) ecs.Entity {
	if s.sim.spawnTick != s.sim.frame.Tick {
		s.sim.spawnTick = s.sim.frame.Tick
		clear(s.sim.ordinals)
	}
	s.sim.ordinal = s.sim.ordinals.next(by, kind)
	it := s.late.spawn(owner, by, kind, s.sim.ordinal)
	if it == nil || s.sim.world.Manager().Place(it.e, k, owner) != nil {
		return s.sim.spawn(k, owner)
	}
	*s.p.identity.Get(s.sim.world, it.e) = networkID{Net: it.net, Prefab: uint16(kind)}
	s.sim.writes.structural(owner, kind)
	return it.e
}

// originOf returns the name that the owner's client gave the spawn. It is 0 if the client
// cannot have predicted it, because it does not have the spawner.
func (s *Server) originOf(owner PlayerID, by ecs.Entity, kind int, n uint16) uint32 {
	p, spawner := s.sessions.player(owner), s.p.identity.Find(s.sim.world, by)
	if p == nil || p.session.state != playing || spawner == nil {
		return 0
	}
	key := prediction.SpawnKey{Owner: uint16(owner), Tick: s.sim.frame.Tick, Ordinal: n, Prefab: uint16(kind)}
	if key.By = spawner.origin; key.By == 0 {
		w, ok := p.outbox.sender.Wire(snapshot.NetID(spawner.Net))
		if !ok {
			return 0
		}
		key.By = uint32(w)
	}
	return key.ID()
}
