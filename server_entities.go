package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// simulation is the world and what runs it.
type simulation struct {
	p       *compiled
	world   *ecs.World
	there   func(entity uint64) bool // world.Alive
	frame   Frame
	writes  *writeWatch
	row     singletonRow
	parents hierarchy
	losses  losses
	toldCut [ecs.MaxTypes]bool // components of which something was cut, and said

	entities *ecs.Query // everything replicated
	commands *ecs.Query // everything with a command
	nets     networkIDs

	displaced []displaced

	spawnTick Tick // that ordinals are of
	ordinals  ordinals
	ordinal   uint16 // of the newest spawn
}

// networkIDs gives out the numbers of entities.
type networkIDs struct {
	last uint32
	used bool             // all were given once
	in   *snapshot.Source // which knows those in use
}

// next returns a network id that no entity has. Ids have 32 bits and are given in
// turn: after 2³² spawns they come again, except for those still in use.
func (n *networkIDs) next() uint32 {
	for {
		if n.last++; n.last == 0 {
			n.used = true
		} else if !n.used || !n.in.Has(snapshot.NetID(n.last)) {
			return n.last
		}
	}
}

func (m *simulation) spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	i := m.p.PrefabOf(k)
	if i < 0 {
		misuse("Spawn of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	}
	if owner == ecs.Common || owner == ecs.ClientOnly {
		misuse("Spawn of prefab %q for a part of clients' worlds: spawn it for ecs.Nobody; shared systems that write it through WriteOther make it a shared physics object", k.Name())
	}
	e, net := m.writes.late.world.place(k, owner, i)
	if e == ecs.None {
		e, net = m.world.Manager().Spawn(k, owner), m.nets.next()
	}
	*m.p.identity.Get(m.world, e) = networkID{Net: net, Prefab: uint16(i)}
	m.writes.structural(owner, i)
	return e
}

func (m *simulation) destroy(e ecs.Entity) bool {
	if !m.world.Alive(e) {
		return false
	}
	m.destroying(e)
	return m.world.Manager().Destroy(e)
}

// destroying notes the players that predicted an entity and its children.
func (m *simulation) destroying(e ecs.Entity) {
	m.writes.structural(m.world.Owner(e), int(m.p.identity.Get(m.world, e).Prefab))
	for _, child := range m.world.Children(e) {
		m.destroying(child)
	}
}

// destroyOwned removes every entity that a player who left still owns.
func (m *simulation) destroyOwned(player PlayerID) {
	m.world.Lock()
	for _, rows := range m.entities.Owned(m.world, player) {
		for i := range rows.Len() {
			m.world.Manager().Destroy(rows.Entity(i))
		}
	}
	m.destroyDisplaced(player)
	m.world.Unlock()
}

// clear removes all replicated entities, and the waiting events.
func (m *simulation) clear() {
	m.world.Lock()
	for _, rows := range m.entities.All(m.world) {
		for _, e := range rows.Entities() {
			if e != m.row.e {
				m.world.Manager().Destroy(e)
			}
		}
	}
	m.world.Unlock()
	for _, q := range m.frame.queues {
		q.clear()
	}
}

// net returns an entity's network id, 0 for none.
func (m *simulation) net(e ecs.Entity) snapshot.NetID {
	if id := m.p.identity.Find(m.world, e); id != nil {
		return snapshot.NetID(id.Net)
	}
	return 0
}

func (m *simulation) refuseSpawn(k *ecs.Prefab) {
	misuse("shared system %q spawns prefab %q without a spawner: "+fixSpawn, m.p.systemName(uint32(m.writes.running)+1), k.Name())
}

// clientOnly reports whether an entity is the server's twin of one that its owner's
// client keeps for itself.
func (m *simulation) clientOnly(e ecs.Entity) bool {
	if !m.p.ClientOnly {
		return false
	}
	k := m.p.prefabNamed(m.p.identity.Find(m.world, e))
	return k != nil && k.ClientOnly()
}
