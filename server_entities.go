package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// simulation is the world and what runs it.
type simulation struct {
	p         *compiled
	world     *ecs.World
	there     func(entity uint64) bool // world.Alive
	frame     Frame
	writes    *writeWatch
	row       singletonRow
	parents   hierarchy
	losses    losses
	valuesCut *uint64
	toldCut   [ecs.MaxTypes]bool // components of which something was cut, and said

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
	misuse("shared system %q spawns prefab %q without a spawner: "+fixSpawn, m.p.systemName(uint32(m.frame.run.by)), k.Name())
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

func (s *Server) setPredicted(e ecs.Entity, on bool) bool {
	id := s.p.identity.Find(s.sim.world, e)
	if id == nil {
		return false
	}
	if k := &s.p.Prefabs[id.Prefab]; !k.Interpolated {
		misuse("SetPredicted of an entity of prefab %q: declare the prefab with Protocol.Interpolated", k.ECS.Name())
	}
	id.ahead = on
	return true
}

// What frames ask of the server: see serverSimulation.

func (s *Server) spawn(k *ecs.Prefab, owner PlayerID) ecs.Entity {
	s.run.refuseCaptured("Spawn")
	if s.sim.writes.sharedRuns() {
		s.sim.refuseSpawn(k)
	}
	return s.sim.spawn(k, owner)
}

func (s *Server) destroy(e ecs.Entity) bool {
	s.run.refuseCaptured("Destroy")
	return s.sim.destroy(e)
}

// shownBefore returns the offset that a player's command of this tick states, 0: none.
func (s *Server) shownBefore(player PlayerID) uint8 {
	if p := s.sessions.player(player); p != nil {
		return p.inputs.offset
	}
	return 0
}

func (s *Server) simulates(e ecs.Entity) bool { return s.sim.world.Alive(e) }

func (s *Server) prefabOf(e ecs.Entity) *ecs.Prefab {
	if k := s.p.prefabNamed(s.p.identity.Find(s.sim.world, e)); k != nil {
		return k.ECS
	}
	return nil
}

// raised notes that an event was raised, for the notes to the player that predicts it. It
// returns what becomes of the event, and whether that player's screen is in this very world.
func (s *Server) raised(by ecs.Entity, owner PlayerID, event int) (fate eventFate, shown bool) {
	if p := s.sessions.player(owner); p != nil && !s.sim.clientOnly(by) && !s.late.test.running {
		p.raise(s.sim.frame.Tick, event)
	}
	return s.late.raise(owner), s.screen != nil && !s.late.world.running && s.screen.shows(by, owner)
}

// mayRunAgain reports whether the running code is a shared system, whose run for a player may
// be undone. practice is true in a sync test, whose results do not count.
func (s *Server) mayRunAgain(owner PlayerID) (again, practice bool) {
	p := s.sessions.player(owner)
	if s.late.world.on {
		return s.late.world.runs(), false // its tests restore the queues, too
	}
	return p != nil && s.late.ready(p) && s.sim.writes.sharedRuns(), s.late.test.running
}

// finalFor returns the newest tick of a player that no late command can change.
func (s *Server) finalFor(owner PlayerID) Tick {
	if s.late.world.on {
		return s.late.world.finalTick()
	}
	now := s.sim.frame.Tick
	if s.late.player != nil {
		now = s.late.now
	}
	if p := s.sessions.player(owner); p != nil && s.late.ready(p) {
		return p.late.firstOpen(now+1) - 1
	}
	return now
}

// final is finalFor all players.
func (s *Server) final() Tick {
	t := s.finalFor(0)
	for _, p := range s.sessions.players {
		t = min(t, s.finalFor(p.owner))
	}
	return t
}

// nestedTooDeep counts events whose handlers are not called.
func (s *Server) nestedTooDeep(events int) { s.stats.EventsNested += uint64(events) }

// pack writes a message, valid until the next call.
func (s *Server) pack(message int, described *schema.Schema, at unsafe.Pointer) []byte {
	s.sim.losses.sent(s.p.Messages[message].Name, described, at)
	s.senders.scratch = described.Pack(at, s.senders.scratch[:0])
	return s.senders.scratch
}

// teleport tells the past and the snapshots.
func (s *Server) teleport(e ecs.Entity) bool {
	if s.late.test.running && !s.late.world.on {
		return true
	}
	s.past.EndLife(uint64(e))
	if s.late.test.running {
		return true // a test in the whole world runs the tick's shots again, too
	}
	if s.screen != nil {
		s.screen.noteTeleport(e)
	}
	if s.late.world.cut(e) {
		return true // screens and shots know of it
	}
	s.past.Cut(uint64(e))
	if s.late.window > 0 {
		s.late.fades.cut = append(s.late.fades.cut, e)
	}
	if id := s.p.identity.Find(s.sim.world, e); id != nil {
		s.senders.source.Teleport(snapshot.NetID(id.Net))
	}
	return true
}

// spawnSingletonRow makes the entity that carries the singletons.
func (m *simulation) spawnSingletonRow() {
	if len(m.p.singletons) > 0 {
		m.row.e = m.spawn(&m.p.singletonRow, ecs.Nobody)
	}
}

// sent points at what is sent of an entity's origin: to its maker alone, should
// it have changed hands.
func (id *networkID) sent(owner PlayerID) unsafe.Pointer {
	if id.maker != uint16(owner) {
		return unsafe.Pointer(&noOrigin)
	}
	return unsafe.Pointer(&id.origin)
}

// predicts reports whether a client predicts a table's rows: a player's rows, and shared
// physics objects.
func (p *compiled) predicts(rows ecs.Rows) bool {
	return rows.Owner() != ecs.Nobody || p.Common && p.holdsCommon(rows)
}

var noOrigin originComponent // never written

// holdsCommon reports whether a table holds shared physics objects, which every client predicts.
func (p *compiled) holdsCommon(rows ecs.Rows) bool {
	return slices.ContainsFunc(p.identity.Slice(rows), func(id networkID) bool { return p.Prefabs[id.Prefab].Common })
}
