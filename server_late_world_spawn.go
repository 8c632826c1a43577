package foretick

import "github.com/foretick/foretick/ecs"

// worldSpawns give an entity the same handle and network id in every run of the tick that
// spawns it, until a tick ends without it. Handles of entities that no run made are given back once no save holds them.
type worldSpawns struct {
	placed   map[spawnKey]*worldSpawn
	ordinals map[spawnKey]uint16 // of the tick that runs, by key without n
	reserved []reservedHandle
	next     int // of reserved, to be looked at
}

// spawnKey names a spawn: the n-th of its tick of a prefab and an owner.
type spawnKey struct {
	tick  Tick
	owner PlayerID
	kind  uint16
	n     uint16
}

type worldSpawn struct {
	spawnKey
	e     ecs.Entity
	net   uint32
	gone  bool // it was not there at the end of a tick: clients have removed it
	first firstOrigin
}

type reservedHandle struct {
	e    ecs.Entity
	gone Tick // since when it does not live; 0: it does
}

// begin begins a run of a tick.
func (m *worldSpawns) begin() { clear(m.ordinals) }

// forget drops the names of a tick that will not run again.
func (m *worldSpawns) forget(at *worldTick) {
	for i := range at.spawned {
		delete(m.placed, at.spawned[i].spawnKey)
	}
	at.spawned = at.spawned[:0]
}

// look finds the entities that are not there at the end of a tick.
func (m *worldSpawns) look(w *ecs.World, ticks []worldTick) {
	for i := range ticks {
		for _, it := range ticks[i].spawned {
			it.gone = it.gone || !w.Alive(it.e)
		}
	}
}

// place spawns an entity of a tick that may run again. It returns None for any other.
func (w *lateWorld) place(k *ecs.Prefab, owner PlayerID, kind int) (ecs.Entity, uint32) {
	if !w.on || !w.opened && !w.running {
		return ecs.None, 0
	}
	m, t := &w.spawns, w.s.sim.frame.Tick
	if m.ordinals == nil {
		m.ordinals = map[spawnKey]uint16{}
	}
	key := spawnKey{tick: t, owner: owner, kind: uint16(kind)}
	n := m.ordinals[key]
	m.ordinals[key] = n + 1
	key.n = n
	it := m.placed[key]
	if it == nil || it.gone && !w.s.late.test.running {
		it = &worldSpawn{spawnKey: key, e: w.s.sim.world.Reserve(ecs.RangeServer, owner), net: w.s.sim.nets.next()}
		m.placed[key] = it
		m.reserved = append(m.reserved, reservedHandle{e: it.e})
		w.at(t).spawned = append(w.at(t).spawned, it)
	}
	if w.s.sim.world.Alive(it.e) || w.s.sim.world.Manager().Place(it.e, k, owner) != nil {
		return ecs.None, 0
	}
	return it.e, it.net
}

// named returns where the origin of an entity is kept that the present tick spawned, in any of
// its runs.
func (w *lateWorld) named(e ecs.Entity) *firstOrigin {
	if w.runs() {
		for _, it := range w.at(w.s.sim.frame.Tick).spawned {
			if it.e == e {
				return &it.first
			}
		}
	}
	return nil
}

// keep says that a restore may have brought entities back that lived since a tick.
func (m *worldSpawns) keep(since Tick) {
	for i := range m.reserved {
		if it := &m.reserved[i]; int32(it.gone-since) >= 0 {
			it.gone = 0
		}
	}
}

// sweep gives handles back that no save holds any more. It looks at a part of them each tick.
func (m *worldSpawns) sweep(s *Server, now, window Tick) {
	for range min(max(16, len(m.reserved)/4), len(m.reserved)) {
		if m.next >= len(m.reserved) {
			m.next = 0
		}
		it := &m.reserved[m.next]
		switch {
		case s.sim.world.Alive(it.e):
			it.gone = 0
		case it.gone == 0:
			it.gone = now
		case now-it.gone > window+4:
			s.sim.world.Unreserve(it.e)
			last := len(m.reserved) - 1
			*it = m.reserved[last]
			m.reserved = m.reserved[:last]
			continue
		}
		m.next++
	}
}
