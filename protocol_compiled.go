package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// compiled is a protocol as both ends run it: its layout, and the game's functions. It does
// not change once declared. A client of another build runs a copy with another layout,
// whose rows name the functions by this build's numbers.
type compiled struct {
	layout.Layout
	identity ecs.Component[networkID]
	schedule *ecs.Schedule[*Frame]
	watchers *int // who need the schedule's hook; nil: nobody ever did
	handlers handlers
	labels   schema.Labels // how tools and logs show fields

	parent       ecs.Component[parentLink]
	hierarchy    bool // parents travel
	singletons   []singletonType
	singletonRow ecs.Prefab // of the entity that carries them
	drains       []string   // by event: the system that calls its handlers; "": none does
	description  *description
}

// handlers are the game's functions, by this build's numbers.
type handlers struct {
	joins       []func(*Frame, PlayerID)
	leaves      []func(*Frame, PlayerID)
	disconnects []func(*Frame, PlayerID)
	reconnects  []func(*Frame, PlayerID)
	levels      []func(*Frame, []byte)

	check func(f *Frame, player PlayerID, at unsafe.Pointer) error        // nil without CheckCommand
	decay func(at unsafe.Pointer, missing int)                            // nil without Decay
	guess func(f *Frame, avatar ecs.Entity, ahead int, at unsafe.Pointer) // nil without PredictRemote

	appearances []appearance

	events       []func() eventQueue
	eventSystems map[string]func(*Frame) // by name: the systems that call OnServer and OnFinal

	messages []messageHandler
	requests []requestHandler
	spawns   []*SpawnConfig // by prefab; nil: shared systems do not spawn it
	relevant []relevance    // by prefab; nil without a hook
	interest *interest      // nil: everybody receives everything
	hitboxes []func(*HitboxBuilder)
	lives    []func(at unsafe.Pointer) uint32
	shapes   []lagcomp.Shape
}

type (
	messageHandler func(s *schema.Schema, f *Frame, tick Tick, payload []byte) error
	requestHandler func(f *Frame, player PlayerID, payload []byte) error
	relevance      func(f *Frame, player PlayerID, e ecs.Entity) snapshot.Relevance
)

// interest is a protocol's rule for which entities a player receives.
type interest struct {
	comp int
	cfg  snapshot.AreaConfig
	at   func(p unsafe.Pointer) (x, y, z float32)
}

// newQueues makes a world's queues of events.
func (p *compiled) newQueues() []eventQueue {
	var qs []eventQueue
	for _, fresh := range p.handlers.events {
		qs = append(qs, fresh())
	}
	return qs
}

// prefabNamed is the prefab that an identity names, nil for none.
func (p *compiled) prefabNamed(id *networkID) *layout.Prefab {
	if id == nil || int(id.Prefab) >= len(p.Prefabs) {
		return nil
	}
	return &p.Prefabs[id.Prefab]
}

// order ranks rows by network id, which does not depend on the order in which rows were
// made.
func (p *compiled) order(rows ecs.Rows, i int) uint64 {
	if rows.Has(p.identity.ID()) {
		if net := p.identity.Slice(rows)[i].Net; net != 0 {
			return uint64(net)
		}
	}
	return 1<<63 | uint64(rows.Entity(i)) // not replicated, or not yet
}

// predicts reports whether a client predicts a table's rows: a player's rows, and shared
// physics objects.
func (p *compiled) predicts(rows ecs.Rows) bool {
	return rows.Owner() != ecs.Nobody || p.Common && p.holdsCommon(rows)
}

// physicsObject returns the first prefab of shared physics objects, nil if the game has none.
// The singletons' own row is marked like one, and is none of the game's.
func (p *compiled) physicsObject() *ecs.Prefab {
	for _, k := range p.Prefabs {
		if k.Common && k.ECS != &p.singletonRow {
			return k.ECS
		}
	}
	return nil
}

// holdsCommon reports whether a table holds shared physics objects, which every client predicts.
func (p *compiled) holdsCommon(rows ecs.Rows) bool {
	return slices.ContainsFunc(p.identity.Slice(rows), func(id networkID) bool { return p.Prefabs[id.Prefab].Common })
}

// forClientOnly reports whether a system may run for entities that clients do not share with
// the server.
func (p *compiled) forClientOnly(s ecs.SystemInfo) bool {
	return slices.ContainsFunc(p.Prefabs, func(k layout.Prefab) bool {
		mask := k.ECS.Mask()
		return k.ClientOnly() && mask.Contains(s.With) && !mask.Overlaps(s.Without)
	})
}
