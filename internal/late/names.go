package late

import "github.com/foretick/foretick/ecs"

// names give an entity the same handle and network id in every run of the tick that spawns it.
// Handles of entities that no run made are given back once no save holds them.
type names struct {
	placed   map[spawnKey]*Spawn
	ordinals map[spawnKey]uint16 // ordinals are those of the tick that runs, by key without n.
	ticks    [][]*Spawn          // ticks has, by tick, what was named in any run of it.
	reserved []*Spawn            // reserved are spawns whose handles are not given back.
	spare    []*Spawn            // spare are spawns whose handles are given back.
	next     int                 // next is the place in reserved to look at next.
	window   Tick
	grace    Tick // grace is how long a save may hold an entity that died.
	ends     bool // ends is true if a name ends where a tick ended without the entity.
}

// spawnKey names a spawn of a tick: the n-th of a prefab by an entity, or for an owner.
type spawnKey struct {
	tick  Tick
	owner ecs.Owner
	by    ecs.Entity
	kind  uint16
	n     uint16
}

// Spawn is an entity that its tick may spawn in several runs.
type Spawn struct {
	Entity ecs.Entity
	Net    uint32 // Net is its network id. 0 means that it has none yet.

	key spawnKey
	// gone is true if it was not there at the end of a tick: clients have removed it.
	gone  bool
	died  Tick   // died is the tick since which it does not live. 0 means that it lives.
	known bool   // known is true once a run of its tick gave its origin.
	first uint32 // first is the origin that the first run gave, if known.
}

func newNames(window, grace Tick, ends bool) names {
	return names{placed: map[spawnKey]*Spawn{}, ordinals: map[spawnKey]uint16{}, ticks: make([][]*Spawn, window+2), window: window, grace: grace, ends: ends}
}

// count numbers the spawns of an owner and a prefab in the tick that runs.
func (m *names) count(k spawnKey) spawnKey {
	n := m.ordinals[k]
	m.ordinals[k] = n + 1
	k.n = n
	return k
}

// find returns the spawn of a name, and makes it in the first run. With again, a name does not end.
func (m *names) find(w *ecs.World, k spawnKey, again bool) *Spawn {
	it := m.placed[k]
	if it != nil && (again || !m.ends || !it.gone) {
		return it
	}
	if n := len(m.spare); n > 0 {
		it, m.spare = m.spare[n-1], m.spare[:n-1]
	} else {
		it = new(Spawn)
	}
	*it = Spawn{Entity: w.Reserve(ecs.RangeServer, k.owner), key: k}
	m.placed[k] = it
	m.reserved = append(m.reserved, it)
	slot := k.tick % Tick(len(m.ticks))
	m.ticks[slot] = append(m.ticks[slot], it)
	return it
}

// forget drops the names of a tick that will not run again.
func (m *names) forget(slot int) {
	for _, it := range m.ticks[slot] {
		if m.placed[it.key] == it {
			delete(m.placed, it.key)
		}
	}
	m.ticks[slot] = m.ticks[slot][:0]
}

// look finds the entities that are not there at the end of a tick.
func (m *names) look(w *ecs.World) {
	for _, spawns := range m.ticks {
		for _, it := range spawns {
			it.gone = it.gone || !w.Alive(it.Entity)
		}
	}
}

// keep says that a restore may have brought entities back that lived since a tick.
func (m *names) keep(since Tick) {
	for _, it := range m.reserved {
		if int32(it.died-since) >= 0 {
			it.died = 0
		}
	}
}

// sweep gives handles back that no save holds any more. Of those of a whole world it looks at a part
// each tick.
func (m *names) sweep(w *ecs.World, now Tick) {
	looks := len(m.reserved)
	if m.ends {
		looks = min(max(16, looks/4), looks)
	} else {
		m.next = 0
	}
	for range looks {
		if m.next >= len(m.reserved) {
			m.next = 0
		}
		it := m.reserved[m.next]
		switch {
		case w.Alive(it.Entity):
			it.died = 0
		case it.died == 0:
			it.died = now
		case now-it.died > m.grace:
			w.Unreserve(it.Entity)
			if m.spare = append(m.spare, it); m.ends {
				m.reserved[m.next] = m.reserved[len(m.reserved)-1]
			} else {
				copy(m.reserved[m.next:], m.reserved[m.next+1:]) // few, and handles go in order
			}
			m.reserved = m.reserved[:len(m.reserved)-1]
			continue
		}
		m.next++
	}
}

// NameSpawn returns the handle and the id that an entity has in every run of its tick, nil for one
// that has no name: a spawn by an entity of a player's where only its part runs again, and any
// spawn where the world does. p may be nil.
func (r *Room) NameSpawn(p *Player, owner ecs.Owner, by ecs.Entity, kind int, n uint16) (it *Spawn) {
	r.newest = nil
	k := spawnKey{*r.Tick, owner, by, uint16(kind), n}
	switch {
	case r.world.runs():
		it = r.world.names.find(r.World, r.world.names.count(spawnKey{tick: k.tick, owner: owner, kind: k.kind}), r.test.running)
	case by != ecs.None && r.KeepsParts() && r.ready(p):
		it = p.spawns.find(r.World, k, false)
		it.died = 0
	}
	if it == nil || r.World.Alive(it.Entity) {
		return nil
	}
	r.newest = it
	return it
}

// OriginOf returns the origin that the newest spawn had in the first run of its tick. In the first
// run that is origin. Later runs keep it: the client predicted the tick with what it knew then, and
// it may have received the spawner since.
func (r *Room) OriginOf(e ecs.Entity, origin uint32) uint32 {
	it := r.newest
	if it == nil || it.Entity != e {
		return origin
	}
	if !it.known {
		it.known, it.first = true, origin
	}
	return it.first
}
