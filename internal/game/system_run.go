package game

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
)

// SystemRun describes one run of a system. Each run has its own, so that systems of a batch can run at
// the same time.
type SystemRun struct {
	Partial bool // Partial is true if only a part of a tick runs, for the screen.
	Blind   bool // Blind is true if a tick is run to see what it looks at.

	By      int           // the system as a cause: its index plus one; 0: none runs
	Name    string        // the name of the system or request handler, in debug builds
	Began   time.Duration // the time of the server's Clock when the system began
	Shared  *SharedSystem // the shared system that runs; nil: none does
	Spawner SpawnContext  // what the system may spawn
}

// SystemHook is called around each system. It may write to the run.
type SystemHook interface {
	BeforeSystem(run *SystemRun, system int)
	AfterSystem(run *SystemRun, system int)
}

// SpawnContext says what the running shared system may spawn.
type SpawnContext struct {
	On    bool     // the system declared that it spawns
	Owner PlayerID // owner of the rows that the system runs for
	Once  bool     // the system runs once, without rows
}

// SharedSystem describes to a frame a system that both ends run.
type SharedSystem struct {
	Name string
	// Compared is true if both ends must agree on what the system does. It is false if the system may
	// run for a ClientOnly prefab.
	Compared bool
}

// String returns the system's name for messages.
func (s *SharedSystem) String() string {
	if s == nil {
		return "a shared system"
	}
	return fmt.Sprintf("shared system %q", s.Name)
}

// RefuseView panics if a system whose results both ends must agree on asks what a player saw. s is nil
// if no shared system runs.
func (s *SharedSystem) RefuseView() {
	if s != nil && s.Compared {
		misuse.Panicf("foretick: shared system %q asks what a player saw, which differs between the ends: raise an Event and ask in its OnServer handler, or declare the system with Server", s.Name)
	}
}

// Ordinals counts how many entities of a prefab an entity spawned within a tick.
type Ordinals map[ordinalKey]uint16

type ordinalKey struct {
	by   ecs.Entity
	kind uint16
}

// Next returns how many entities of a kind of prefab an entity spawned before, and counts one more.
func (o Ordinals) Next(by ecs.Entity, kind int) uint16 {
	k := ordinalKey{by, uint16(kind)}
	n := o[k]
	o[k] = n + 1
	return n
}

// CheckSpawn panics, on both ends, for a spawn that cannot be predicted.
func (r *SystemRun) CheckSpawn(by ecs.Entity, owner PlayerID, prefab *layout.Prefab, spawner *layout.Prefab) {
	name := prefab.ECS.Name()
	switch {
	case prefab.Spawn == layout.NotSpawned:
		misuse.Panicf("foretick: %s spawns prefab %q: declare it with Protocol.Spawns, or let a Server system spawn it", r.Shared, name)
	case !r.Spawner.On:
		misuse.Panicf("foretick: %s spawns prefab %q without saying so: declare it on the system with ecs.Create", r.Shared, name)
	case owner == ecs.Nobody || owner == ecs.Common:
		misuse.Panicf("foretick: %s spawns prefab %q by %v, which nobody owns: only what a player owns can spawn ahead of the server; let a Server system do it", r.Shared, name, by)
	case !r.Spawner.Once && owner != r.Spawner.Owner:
		misuse.Panicf("foretick: %s was given rows of player %d and spawns prefab %q by %v, which is player %d's: name a spawner among the system's own rows", r.Shared, r.Spawner.Owner, name, by, owner)
	case prefab.Matched() && spawner != nil && spawner.ClientOnly():
		misuse.Panicf("foretick: a ClientOnly entity of prefab %q spawns prefab %q, which is not: the server's has no counterpart on the client; make both ClientOnly", spawner.ECS.Name(), name)
	}
}

// FixSpawn is the advice in errors about a spawn without a spawner.
const FixSpawn = "use SpawnBy with the entity that spawns it, which both ends know, or let a Server system do it"
