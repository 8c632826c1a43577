package late

import "github.com/foretick/foretick/ecs"

// names gives an entity the same handle and network id in every run of the tick that spawns it. A
// handle is returned to the world when its entity is dead and no saved state can hold it any more.
type names struct {
	placed   map[spawnKey]*Spawn
	ordinals map[spawnKey]uint16 // ordinals counts the spawns of the running tick, by key without n.
	ticks    [][]*Spawn          // ticks has, by slot of the tick, the spawns of all its runs.
	reserved []*Spawn            // reserved are spawns whose handles are not given back.
	spare    []*Spawn            // spare are spawns whose handles are given back.
	next     int                 // next is the index in reserved that sweep looks at next.
	window   Tick
	grace    Tick // grace is for how many ticks a saved state may hold an entity that died.
	// ends makes a name end when its entity is missing at the end of a tick. A later run of the spawn
	// then gets a new handle.
	ends bool
}

// spawnKey names a spawn of a tick: the n-th spawn of a prefab, by an entity or for an owner.
type spawnKey struct {
	tick  Tick
	owner ecs.Owner
	by    ecs.Entity
	kind  uint16
	n     uint16
}

// Spawn is an entity that may be spawned in several runs of its tick.
type Spawn struct {
	Entity ecs.Entity
	Net    uint32 // Net is its network id. 0 means that it has none yet.

	key spawnKey
	// gone is true if the entity was missing at the end of a tick: clients have removed it.
	gone  bool
	died  Tick   // died is the tick in which sweep first found it dead. 0 means that it lives.
	known bool   // known is true once a run of the tick has set first.
	first uint32 // first is the origin in the first run, if known.
}

func newNames(window, grace Tick, ends bool) names {
	return names{placed: map[spawnKey]*Spawn{}, ordinals: map[spawnKey]uint16{}, ticks: make([][]*Spawn, window+2), window: window, grace: grace, ends: ends}
}

// count sets k.n to the number of spawns with this key that the running tick made before.
func (m *names) count(k spawnKey) spawnKey {
	n := m.ordinals[k]
	m.ordinals[k] = n + 1
	k.n = n
	return k
}

// find returns the spawn of a name. In the first run it makes the spawn and reserves a handle. If again
// is true, a name does not end.
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
	*it = Spawn{Entity: ecs.Engine(w).Reserve(ecs.RangeServer, k.owner), key: k}
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

// look marks as gone the entities that are missing at the end of a tick.
func (m *names) look(w *ecs.World) {
	for _, spawns := range m.ticks {
		for _, it := range spawns {
			it.gone = it.gone || !w.Alive(it.Entity)
		}
	}
}

// keep takes back the death of entities that died in tick since or later: a restore may have brought
// them back.
func (m *names) keep(since Tick) {
	for _, it := range m.reserved {
		if int32(it.died-since) >= 0 {
			it.died = 0
		}
	}
}

// sweep returns the handles to the world that no saved state can hold any more. With Late.World it looks
// at a part of the spawns each tick.
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
			ecs.Engine(w).Unreserve(it.Entity)
			if m.spare = append(m.spare, it); m.ends {
				m.reserved[m.next] = m.reserved[len(m.reserved)-1]
			} else {
				copy(m.reserved[m.next:], m.reserved[m.next+1:]) // the list is short, and handles are returned in order
			}
			m.reserved = m.reserved[:len(m.reserved)-1]
			continue
		}
		m.next++
	}
}

// NameSpawn returns the handle and network id that an entity has in every run of its tick. If only a
// player's part runs again, spawns by the player's entities have them. If the whole world runs again,
// all spawns have them. For any other spawn it returns nil. p may be nil.
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

// OriginOf returns the origin that the newest spawn had in the first run of its tick. In the first run
// that is origin. Later runs keep it, because the client predicted the tick with what it knew then. The
// client may have received the spawner since.
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
