package server

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// simulation has the world and what runs it.
type simulation struct {
	p        *compiled
	world    *ecs.World
	there    func(entity uint64) bool // world.Alive
	frame    foretick.Frame
	frames   *frameState     // implements what the frame calls
	running  *game.SystemRun // the frame's current run of a system
	writes   *writeWatch
	row      game.SingletonRow
	parents  game.Hierarchy
	losses   game.Losses
	stats    *stats.Counters
	toldCut  [ecs.MaxTypes]bool // the components for which countCut has logged a line
	captured bool               // the tick's entities were passed to the snapshots, which are not sent yet
	screen   seat.Screen        // the screen of the player in this process that the world is drawn for; nil: there is none
	order    func(ecs.Rows, int) uint64
	hash     func() uint64 // hashWorld, made once

	entities *ecs.Query // all replicated entities
	commands *ecs.Query // all entities with a command
	nets     networkIDs

	stranded []strandedEntity

	spawnTick foretick.Tick // the tick that ordinals belong to
	ordinals  game.Ordinals
	ordinal   uint16 // the ordinal of the newest spawn
}

// undraw removes what a preview has drawn from the world, before something is done between two Steps.
func (m *simulation) undraw() {
	if m.screen != nil {
		m.screen.Undraw()
	}
}

func (m *simulation) hashWorld() uint64 { return m.world.Hash(m.order) }

// refuseCaptured panics if the tick's entities were passed to the snapshots, and these are not sent
// yet.
func (m *simulation) refuseCaptured(method string) {
	if m.captured {
		misuse.Panicf("foretick: Frame.%s after the entities of the tick were handed to the snapshots, in server.Config.OnTick or a function that says what is sent: pass it to Server.Do", method)
	}
}

// networkIDs assigns the network ids of entities.
type networkIDs struct {
	last uint32           // the newest id
	used bool             // all ids were assigned once
	in   *snapshot.Source // has the ids in use
}

// next returns a network id that no entity has. Ids have 32 bits and are assigned in order: after 2³²
// spawns they are used again, except for those in use.
func (n *networkIDs) next() uint32 {
	for {
		if n.last++; n.last == 0 {
			n.used = true
		} else if !n.used || !n.in.Has(snapshot.NetID(n.last)) {
			return n.last
		}
	}
}

func (m *simulation) spawn(k *ecs.Prefab, owner foretick.PlayerID) ecs.Entity {
	i := m.p.PrefabOf(k)
	if i < 0 {
		misuse.Panicf("foretick: Spawn of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	}
	if owner == ecs.Common || owner == ecs.ClientOnly {
		misuse.Panicf("foretick: Spawn of prefab %q for a part of clients' worlds: spawn it for ecs.Nobody; shared systems that write it through WriteOther make it a shared physics object", k.Name())
	}
	return m.spawnNamed(k, i, owner, ecs.None)
}

// spawnNamed spawns an entity for an owner, or by another entity in a shared system. In a tick that may
// run again, a spawn has the same handle and network id in every run.
func (m *simulation) spawnNamed(k *ecs.Prefab, kind int, owner foretick.PlayerID, by ecs.Entity) (e ecs.Entity) {
	net := uint32(0)
	if it := m.writes.late.NameSpawn(m.writes.sessions.lateOf(owner), owner, by, kind, m.ordinal); it != nil {
		if it.Net == 0 {
			it.Net = m.nets.next()
		}
		if ecs.Engine(m.world).Manager().Place(it.Entity, k, owner) == nil {
			e, net = it.Entity, it.Net
		}
	}
	if e == ecs.None {
		e, net = ecs.Engine(m.world).Manager().Spawn(k, owner), m.nets.next()
	}
	*m.p.Identity.Get(m.world, e) = game.NetworkID{Net: net, Prefab: uint16(kind)}
	m.writes.structural(owner, kind)
	return e
}

func (m *simulation) destroy(e ecs.Entity) bool {
	if !m.world.Alive(e) {
		return false
	}
	m.destroying(e)
	return ecs.Engine(m.world).Manager().Destroy(e)
}

// destroying notes the players that predicted an entity and its children.
func (m *simulation) destroying(e ecs.Entity) {
	m.writes.structural(m.world.Owner(e), int(m.p.Identity.Get(m.world, e).Prefab))
	for _, child := range m.world.Children(e) {
		m.destroying(child)
	}
}

// destroyOwned removes every entity that a player that has left still owns.
func (m *simulation) destroyOwned(player foretick.PlayerID) {
	ecs.Engine(m.world).Lock()
	for _, rows := range m.entities.Owned(m.world, player) {
		for i := range rows.Len() {
			ecs.Engine(m.world).Manager().Destroy(rows.Entity(i))
		}
	}
	m.destroyStranded(player)
	ecs.Engine(m.world).Unlock()
}

// clear removes all replicated entities and the waiting events.
func (m *simulation) clear() {
	ecs.Engine(m.world).Lock()
	for _, rows := range m.entities.All(m.world) {
		for _, e := range rows.Entities() {
			if e != m.row.Entity {
				ecs.Engine(m.world).Manager().Destroy(e)
			}
		}
	}
	ecs.Engine(m.world).Unlock()
	m.clearEvents()
}

// net returns an entity's network id, or 0 if it has none.
func (m *simulation) net(e ecs.Entity) snapshot.NetID {
	if id := m.p.Identity.Find(m.world, e); id != nil {
		return snapshot.NetID(id.Net)
	}
	return 0
}

func (m *simulation) refuseSpawn(k *ecs.Prefab) {
	misuse.Panicf("foretick: shared system %q spawns prefab %q without a spawner: "+game.FixSpawn, m.p.SystemName(uint32(m.running.By)), k.Name())
}

// clientOnly reports whether an entity is the server's copy of one that its owner's client spawns
// itself and does not match.
func (m *simulation) clientOnly(e ecs.Entity) bool {
	if !m.p.ClientOnly {
		return false
	}
	k := m.p.PrefabNamed(m.p.Identity.Find(m.world, e))
	return k != nil && k.ClientOnly()
}

// frameEntities implements what frames need for entities and events: see end and spawner.
type frameEntities struct {
	sim      *simulation
	sessions *sessions
	late     *late.Room
	interest *interest
	past     *rewind.Past
	logs     *peerLog
}

func (en *frameEntities) Spawn(k *ecs.Prefab, owner foretick.PlayerID) ecs.Entity {
	en.sim.refuseCaptured("Spawn")
	if en.sim.writes.sharedRuns() {
		en.sim.refuseSpawn(k)
	}
	return en.sim.spawn(k, owner)
}

func (en *frameEntities) Destroy(e ecs.Entity) bool {
	en.sim.refuseCaptured("Destroy")
	return en.sim.destroy(e)
}

// ShownBefore returns the offset that a player's command of this tick states. It is 0 if there is none.
func (en *frameEntities) ShownBefore(player foretick.PlayerID) uint8 {
	if p := en.sessions.player(player); p != nil {
		return p.inputs.offset
	}
	return 0
}

func (en *frameEntities) Simulates(e ecs.Entity) bool { return en.sim.world.Alive(e) }

func (en *frameEntities) PrefabOf(e ecs.Entity) *ecs.Prefab {
	if k := en.sim.p.PrefabNamed(en.sim.p.Identity.Find(en.sim.world, e)); k != nil {
		return k.ECS
	}
	return nil
}

// IsServer implements end.
func (en *frameEntities) IsServer() bool { return true }

// Raised implements end. It notes the event for the player that predicts it. That player's screen may
// draw this very world.
func (en *frameEntities) Raised(by ecs.Entity, owner foretick.PlayerID, event int) (fate game.Fate) {
	p := en.sessions.player(owner)
	if p != nil && !en.sim.clientOnly(by) && !en.late.Testing() {
		p.raise(en.sim.frame.Tick, event)
	}
	of, shared := en.sessions.lateOf(owner), en.sim.writes.sharedRuns()
	switch en.late.FateOf(of, shared) {
	case late.Happens:
		fate = game.EventHappens
	case late.Waits:
		fate = game.EventWaits
	}
	if again, practice := en.late.MayRunAgain(of, shared); !practice {
		if fate |= game.EventLasts; !again {
			fate |= game.EventStands
		}
	}
	if _, again := en.late.Again(); en.sim.screen != nil && !(en.late.Whole && again) && en.sim.screen.Shows(by, owner) {
		fate |= game.EventShows
	}
	return fate
}

// FinalFor returns the newest tick of a player that no late command can change.
func (en *frameEntities) FinalFor(owner foretick.PlayerID) foretick.Tick {
	return en.late.Final(en.sessions.lateOf(owner))
}

// Final returns the newest tick of all players that no late command can change.
func (en *frameEntities) Final() foretick.Tick {
	t := en.FinalFor(0)
	for _, p := range en.sessions.players {
		t = min(t, en.FinalFor(p.owner))
	}
	return t
}

// NestedTooDeep counts events whose handlers are not called.
func (en *frameEntities) NestedTooDeep(events int) { en.sim.stats.EventsNested += uint64(events) }

// Teleport notes a teleport for the history of hitboxes and for the snapshots.
func (en *frameEntities) Teleport(e ecs.Entity) bool {
	test := en.late.Testing()
	if test && !en.late.Whole {
		return true
	}
	en.past.EndLife(uint64(e))
	if test {
		return true // a test of the whole world runs the tick's shots again, too
	}
	if en.sim.screen != nil {
		en.sim.screen.NoteTeleport(e)
	}
	if en.late.Cut(e) { // screens and shots know of the teleport already
		return true // screens and shots know of it
	}
	en.past.Cut(uint64(e))
	if id := en.sim.p.Identity.Find(en.sim.world, e); id != nil {
		en.sim.nets.in.Teleport(snapshot.NetID(id.Net))
	}
	return true
}

func (en *frameEntities) SetPredicted(e ecs.Entity, on bool) bool {
	id := en.sim.p.Identity.Find(en.sim.world, e)
	if id == nil {
		return false
	}
	if k := &en.sim.p.Prefabs[id.Prefab]; !k.Interpolated {
		misuse.Panicf("foretick: SetPredicted of an entity of prefab %q: declare the prefab with Protocol.Interpolated", k.ECS.Name())
	}
	id.Ahead = on
	return true
}

func (en *frameEntities) SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	en.sim.refuseCaptured("SpawnBy")
	if !en.sim.world.Alive(by) {
		return ecs.None
	}
	owner, stranded := en.sim.ownerOf(by)
	i := en.sim.p.PrefabOf(k)
	if !en.sim.writes.sharedRuns() || i < 0 || stranded {
		return en.sim.spawn(k, owner)
	}
	spawner := en.sim.p.Identity.Find(en.sim.world, by)
	en.sim.running.CheckSpawn(by, owner, &en.sim.p.Prefabs[i], en.sim.p.PrefabNamed(spawner))
	e := en.spawnShared(k, i, owner, by)
	if en.sim.screen != nil {
		en.sim.screen.NoteSpawn(e, owner, i)
	}
	if en.sim.p.Prefabs[i].ClientOnly() {
		en.interest.SetVisible(owner, e, false)
		return e
	}
	origin := en.late.OriginOf(e, en.originOf(owner, by, i, en.sim.ordinal))
	id := en.sim.p.Identity.Get(en.sim.world, e)
	id.Maker, id.Origin = uint16(owner), origin
	return e
}

// spawnShared spawns an entity for a shared system. With late inputs, a spawn has the same handle and
// network id in every run of its tick.
func (en *frameEntities) spawnShared(k *ecs.Prefab, kind int, owner foretick.PlayerID, by ecs.Entity) ecs.Entity {
	if en.sim.spawnTick != en.sim.frame.Tick {
		en.sim.spawnTick = en.sim.frame.Tick
		clear(en.sim.ordinals)
	}
	en.sim.ordinal = en.sim.ordinals.Next(by, kind)
	return en.sim.spawnNamed(k, kind, owner, by)
}

// originOf returns the name that the owner's client gave the spawn. It is 0 if the client cannot have
// predicted the spawn, because it does not have the spawner.
func (en *frameEntities) originOf(owner foretick.PlayerID, by ecs.Entity, kind int, n uint16) uint32 {
	p, spawner := en.sessions.player(owner), en.sim.p.Identity.Find(en.sim.world, by)
	if p == nil || p.session.state != playing || spawner == nil {
		return 0
	}
	key := prediction.SpawnKey{Owner: uint16(owner), Tick: en.sim.frame.Tick, Ordinal: n, Prefab: uint16(kind)}
	if key.By = spawner.Origin; key.By == 0 {
		w, ok := p.outbox.sender.Wire(snapshot.NetID(spawner.Net))
		if !ok {
			return 0
		}
		key.By = uint32(w)
	}
	return key.ID()
}

// strandedEntity is an entity without an owner, because the world has no table for it. owner is the player
// that should own it. The entity exists until that player has left, so that the game's references to it
// stay valid.
type strandedEntity struct {
	entity ecs.Entity
	owner  foretick.PlayerID
}

// noRoom is the world's OnFull: it drops the player whose entity needs one table too many.
func (en *frameEntities) noRoom(e ecs.Entity, owner foretick.PlayerID) {
	p := en.sessions.player(owner)
	if p != nil || slices.Contains(en.sessions.leaving, owner) {
		en.sim.stranded = append(en.sim.stranded, strandedEntity{e, owner})
	}
	switch {
	case p == nil: // a number that the game chose, or a player that is leaving
		if skipped, ok := en.logs.allow("stranded"); ok {
			en.logs.Logger.Error("the world has no table for an entity of this owner: nobody owns the entity now; see ecs.World.Used", "owner", owner, "skipped", skipped)
		}
	case !p.session.kicked:
		en.sim.stats.Stranded++
		en.logs.abuse("dropped: the world has no room for its entities", p)
		en.sessions.kick(p, transport.Full, "the server's world is full")
	}
}

// ownerOf returns the player that owns an entity, or that should own it.
func (m *simulation) ownerOf(e ecs.Entity) (owner foretick.PlayerID, stranded bool) {
	for _, d := range m.stranded {
		if d.entity == e {
			return d.owner, true
		}
	}
	return m.world.Owner(e), false
}

// destroyStranded removes the stranded entities of a player who left.
func (m *simulation) destroyStranded(player foretick.PlayerID) {
	m.stranded = slices.DeleteFunc(m.stranded, func(d strandedEntity) bool {
		if d.owner == player {
			ecs.Engine(m.world).Manager().Destroy(d.entity)
		}
		return d.owner == player
	})
}

// spawnSingletonRow makes the entity that carries the singletons.
func (m *simulation) spawnSingletonRow() {
	if len(m.p.Singletons) > 0 {
		m.row.Entity = m.spawn(&m.p.SingletonRow, ecs.Nobody)
	}
}

// lookForLosses looks for what rounding will lose in this tick.
func (m *simulation) lookForLosses() {
	if !m.losses.CheckDue(m.frame.Tick) {
		return
	}
	for _, rows := range m.entities.All(m.world) {
		ids := m.p.Identity.Slice(rows)
		for i := range m.p.Components {
			c := &m.p.Components[i]
			base := rows.Column(c.ID)
			if !c.Predicted || base == nil {
				continue
			}
			for k := range ids {
				if words := m.nets.in.OwnerWords(snapshot.NetID(ids[k].Net), i); words != nil {
					m.losses.Grid(rows.Entity(k), i, unsafe.Add(base, uintptr(k)*c.Size), words, m)
				}
			}
		}
	}
	m.losses.Looked()
}

// WordsBack is losses' view of the past: the state of this tick is captured later.
func (m *simulation) WordsBack(e ecs.Entity, comp int, ticks foretick.Tick) []int32 {
	id := m.p.Identity.Find(m.world, e)
	if id == nil {
		return nil
	}
	return m.nets.in.OwnerWordsAt(snapshot.NetID(id.Net), comp, m.frame.Tick-ticks)
}
