package foretick

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// UsageError is the value of a panic about a call in a game's own code that
// cannot be right.
type UsageError struct{ Text string }

// Error is the text, which names the fix.
func (u UsageError) Error() string { return "foretick: " + u.Text }

func misuse(format string, args ...any) { panic(UsageError{fmt.Sprintf(format, args...)}) }

// SpawnPolicy says what becomes of an entity that a client spawned ahead of the
// server.
type SpawnPolicy uint8

const (
	// Matched: the predicted entity becomes the server's when that arrives, and
	// disappears when the server made none. It is rolled back, compared and
	// corrected like everything predicted.
	Matched SpawnPolicy = iota
	// ClientOnly: the client keeps its own for good, and is not sent the server's. No
	// rollback touches it and a replay of its tick makes no other: for bullets
	// that live for a few ticks. On a client it belongs to [ecs.ClientOnly].
	ClientOnly
)

// SpawnConfig says how the entities of a kind that shared systems spawn are
// predicted. The zero value is ready to use. The functions, all optional, are
// called on the client of the player whose entity it is, of a Matched prefab.
type SpawnConfig struct {
	Policy SpawnPolicy
	// OnPredicted is told of an entity at the end of the tick that spawned it:
	// once, however often that tick is replayed.
	OnPredicted func(f *Frame, e ecs.Entity)
	// OnConfirmed is told when the server's entity took over, under the same
	// handle; or when prediction had ended it before the server's word on it
	// came, and that has none either.
	OnConfirmed func(f *Frame, e ecs.Entity)
	// OnCancelled is told of an entity that the server did not make, or that a
	// replay of its tick did not. It is gone already.
	OnCancelled func(f *Frame, e ecs.Entity)
	// OnRestored is told when an entity that prediction had destroyed is back, under
	// the same handle: a correction found that it lives on.
	OnRestored func(f *Frame, e ecs.Entity)
}

// Spawns declares that shared systems spawn entities of this prefab, with
// [Frame.SpawnBy], and how a client predicts them. Such a system declares
// [ecs.Create] too.
func (p *Protocol) Spawns(k *ecs.Prefab, c SpawnConfig) {
	if !p.givenPrefab("Spawns", k) {
		return
	}
	i := p.prefabOf(k)
	switch {
	case slices.Contains(p.unmade, k):
	case i < 0:
		p.faultf("Spawns of a prefab that is not declared: call Prefab first")
	case p.prefabs[i].spawn != nil:
		p.faultf("Spawns(%q) was called twice", k.Name())
	case c.Policy > ClientOnly:
		p.faultf("Spawns(%q): SpawnConfig.Policy is %d: use Matched or ClientOnly", k.Name(), c.Policy)
	case c.Policy == ClientOnly && p.command != nil && k.Mask().Has(p.command.id):
		p.faultf("Spawns(%q): a ClientOnly entity gets no input: take %s out of the prefab, or make it Matched", k.Name(), typeName(p.command.handle.Type()))
	default:
		p.prefabs[i].spawn, p.spawning = &c, true
		p.clientOnly = p.clientOnly || c.Policy == ClientOnly
	}
}

// originComponent travels with every entity of a Matched prefab, to its owner
// alone: prediction.SpawnKey.ID of the key by which the owner predicted it.
// localComponent says no more than that its prefab is ClientOnly.
type (
	originComponent struct {
		ID uint32 `net:"owner"`
	}
	localComponent struct{}
)

const (
	originName = "foretick.Origin"
	localName  = "foretick.ClientOnly"
)

// registerSpawns registers the two behind all of the game's components, if there
// is a prefab that they travel with.
func (p *Protocol) registerSpawns() {
	register := func(has func(*prefab) bool, t reflect.Type, name string) int {
		for i := range p.prefabs {
			if !has(&p.prefabs[i]) {
				continue
			}
			s, err := snapshot.Compile(t, snapshot.SchemaOptions{Name: name})
			p.fault(err)
			at, err := p.registry.Component(s)
			p.fault(err)
			return at
		}
		return -1
	}
	p.originAt = register((*prefab).matched, reflect.TypeFor[originComponent](), originName)
	p.localAt = register((*prefab).local, reflect.TypeFor[localComponent](), localName)
}

// bindSpawns lets a prefab of this build be predicted as a server of another build
// has it.
func (p *Protocol) bindSpawns(i int) {
	k := &p.prefabs[i]
	has := func(comp int) bool { return comp >= 0 && p.registry.PrefabHas(i, comp) }
	if k.spawn == nil || !has(p.originAt) && !has(p.localAt) {
		return
	}
	c := *k.spawn
	c.Policy = Matched
	if has(p.localAt) {
		c.Policy, p.clientOnly = ClientOnly, true
	}
	k.spawn = &c
}

func (k *prefab) matched() bool { return k.spawn != nil && k.spawn.Policy == Matched }
func (k *prefab) local() bool   { return k.spawn != nil && k.spawn.Policy == ClientOnly }

// ordinals counts how many of a kind an entity spawned within a tick.
type ordinals map[ordinalKey]uint16

type ordinalKey struct {
	by   ecs.Entity
	kind uint16
}

func (o ordinals) next(by ecs.Entity, kind int) uint16 {
	k := ordinalKey{by, uint16(kind)}
	n := o[k]
	o[k] = n + 1
	return n
}

// acting is the shared system that runs, as far as spawning is concerned.
type acting struct {
	on    bool // a shared system runs that declared to spawn
	owner PlayerID
	once  bool // it has no rows
}

// act wraps a shared system that may spawn, so that it is known on whose behalf.
func act(run func(*Frame, ecs.Rows)) func(*Frame, ecs.Rows) {
	return func(f *Frame, rows ecs.Rows) {
		f.acting = acting{on: true, once: rows.Len() == 0}
		if !f.acting.once {
			f.acting.owner = rows.Owner()
		}
		run(f, rows)
		f.acting = acting{}
	}
}

// SpawnBy creates an entity of a declared prefab, with the prefab's defaults, for
// the owner of the entity by, which spawns it: a rocket by a body, ten fragments
// by a rocket. None when by is gone. Its components can be reached at once;
// queries see it from the next system on.
//
// In a shared system the client of that owner spawns it as well, ahead of the
// server, and which of the server's entities it is follows from the tick, the
// spawner, and how many of the prefab that one spawned before it in the tick. The
// prefab is declared with [Protocol.Spawns], the system with [ecs.Create], and by is
// an entity of the player whose rows the system was given; SpawnBy panics with
// [UsageError] otherwise. Elsewhere on the server it is [Frame.Spawn].
//
// What the avatar of another player spawns, where a client foresees him (see
// [PredictRemote]), lasts for the tick alone; the server's follows.
//
// In a replay a prefab with the policy [ClientOnly] is spawned for the length of the
// tick alone: what the first run made stays as it is.
func (f *Frame) SpawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if f.server == nil {
		return f.client.spawnBy(by, k)
	}
	return f.server.spawnBy(by, k)
}

// checkSpawn refuses what cannot be predicted, alike on both ends.
func (f *Frame) checkSpawn(by ecs.Entity, owner PlayerID, prefab *prefab, spawner *prefab) {
	name := prefab.ecs.Name()
	switch {
	case prefab.spawn == nil:
		misuse("a shared system spawns prefab %q: declare it with Protocol.Spawns, or let a Server system spawn it", name)
	case !f.acting.on:
		misuse("a shared system spawns prefab %q without saying so: declare it on the system with ecs.Create", name)
	case owner == ecs.Nobody || owner == ecs.Common:
		misuse("a shared system spawns prefab %q by %v, which nobody owns: only what a player owns can spawn ahead of the server; let a Server system do it", name, by)
	case !f.acting.once && owner != f.acting.owner:
		misuse("a shared system that was given rows of player %d spawns prefab %q by %v, which is player %d's: name a spawner among the system's own rows", f.acting.owner, name, by, owner)
	case prefab.matched() && spawner != nil && spawner.local():
		misuse("a ClientOnly entity of prefab %q spawns prefab %q, which is Matched: the server's has no counterpart on the client; make both ClientOnly", spawner.ecs.Name(), name)
	}
}

const fixSpawn = "use SpawnBy with the entity that spawns it, which both ends know, or let a Server system do it"

func (s *Server) refuseSpawn(k *ecs.Prefab) {
	misuse("shared system %q spawns prefab %q without a spawner: "+fixSpawn, s.p.systemName(uint32(s.effects.running)+1), k.Name())
}

func (c *Client) refuseSpawn(k *ecs.Prefab) {
	misuse("a shared system spawns prefab %q without a spawner: "+fixSpawn, k.Name())
}

// sharedRuns tells whether what runs at the moment runs on both ends.
func (s *Server) sharedRuns() bool {
	return s.effects.running >= 0 && s.effects.both[s.effects.running]
}

func (s *Server) spawnBy(by ecs.Entity, k *ecs.Prefab) ecs.Entity {
	if !s.world.Alive(by) {
		return ecs.None
	}
	owner := s.world.Owner(by)
	i := s.p.prefabOf(k)
	if !s.sharedRuns() || i < 0 {
		return s.spawn(k, owner)
	}
	spawner := s.p.identity.Find(s.world, by)
	s.frame.checkSpawn(by, owner, &s.p.prefabs[i], s.p.prefabNamed(spawner))
	e := s.spawn(k, owner)
	if s.p.prefabs[i].local() {
		s.frame.SetVisible(owner, e, false)
		return e
	}
	origin := s.originOf(owner, by, i)
	id := s.p.identity.Get(s.world, e)
	id.maker, id.origin = uint16(owner), origin
	return e
}

// prefabNamed is the prefab that an identity names.
func (p *Protocol) prefabNamed(id *NetworkID) *prefab {
	if id == nil || int(id.Prefab) >= len(p.prefabs) {
		return nil
	}
	return &p.prefabs[id.Prefab]
}

// originOf is what the owner's client calls the spawn, 0 when it cannot have
// foreseen it: it knows nothing of the spawner.
func (s *Server) originOf(owner PlayerID, by ecs.Entity, kind int) uint32 {
	if s.spawnTick != s.frame.Tick {
		s.spawnTick = s.frame.Tick
		clear(s.ordinals)
	}
	n := s.ordinals.next(by, kind)
	p, spawner := s.player(owner), s.p.identity.Find(s.world, by)
	if p == nil || p.state != playing || spawner == nil {
		return 0
	}
	key := prediction.SpawnKey{Owner: uint16(owner), Tick: s.frame.Tick, Ordinal: n, Prefab: uint16(kind)}
	if key.By = spawner.origin; key.By == 0 {
		w, ok := p.sender.Wire(snapshot.NetID(spawner.Net))
		if !ok {
			return 0
		}
		key.By = uint32(w)
	}
	return key.ID()
}

// sent points at what is sent of an entity's origin: to its maker alone, should
// it have changed hands.
func (id *NetworkID) sent(owner PlayerID) unsafe.Pointer {
	if id.maker != uint16(owner) {
		return unsafe.Pointer(&noOrigin)
	}
	return unsafe.Pointer(&id.origin)
}

var noOrigin originComponent // never written

// isLocal tells whether an entity is the server's twin of one that its owner's
// client keeps for itself.
func (s *Server) isLocal(e ecs.Entity) bool {
	if !s.p.clientOnly {
		return false
	}
	k := s.p.prefabNamed(s.p.identity.Find(s.world, e))
	return k != nil && k.local()
}
