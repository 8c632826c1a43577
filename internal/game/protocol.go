package game

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Protocol is a protocol as both ends run it. F is the game's frame, which is only passed on to the
// game's functions.
type Protocol[F any] struct {
	Facts
	Schedule *ecs.Schedule[F]
	Hook     ecs.Hook[F] // Hook calls the hooks of the frame that a system runs in.
	// Watchers counts the users of the schedule's hook. nil means that there never was one.
	Watchers *int
	Handlers Handlers[F]
}

// Handlers are the game's functions that take a frame, by this build's numbers.
type Handlers[F any] struct {
	Joins       []func(F, PlayerID)
	Leaves      []func(F, PlayerID)
	Disconnects []func(F, PlayerID)
	Reconnects  []func(F, PlayerID)
	Levels      []func(F, []byte)

	Check func(f F, player PlayerID, at unsafe.Pointer) error        // Check is CheckCommand's function, or nil.
	Guess func(f F, avatar ecs.Entity, ahead int, at unsafe.Pointer) // Guess is PredictRemote's function, or nil.

	Appearances []Appearance[F]

	Events       []func() EventQueue[F]
	EventSystems map[string]func(F) // EventSystems has, by name, the systems that call OnServer and OnFinal.

	Messages []func(s *schema.Schema, f F, tick Tick, payload []byte) error
	Requests []func(f F, player PlayerID, payload []byte) error
	// Spawns has the game's functions for each prefab. nil means that shared systems do not spawn the
	// prefab.
	Spawns []*Spawn[F]
	// Relevant has a hook for each prefab, or nil.
	Relevant []func(f F, player PlayerID, e ecs.Entity) snapshot.Relevance
}

// Spawn holds the game's functions for a prefab's entities that clients spawn before the server does.
// Each may be nil.
type Spawn[F any] struct {
	OnPredicted, OnConfirmed, OnCancelled, OnRestored func(F, ecs.Entity)
}

// Appearance is a hook for entities that appear on a client's screen or vanish from it.
type Appearance[F any] struct {
	Watch    *ecs.Watch
	Prefab   *ecs.Prefab // Prefab is nil for all prefabs.
	Vanished bool
	Call     func(F, ecs.Entity)
}

// NewQueues makes the event queues of a world.
func (p *Protocol[F]) NewQueues() []EventQueue[F] {
	var qs []EventQueue[F]
	for _, fresh := range p.Handlers.Events {
		qs = append(qs, fresh())
	}
	return qs
}

// Watch installs the schedule's hook for a user, or removes it when the last user is gone. Without a
// hook, systems run faster.
func (p *Protocol[F]) Watch(on bool) {
	if p.Watchers == nil {
		p.Watchers = new(int)
	}
	if on {
		*p.Watchers++
		p.Schedule.SetHook(p.Hook)
		return
	}
	if *p.Watchers--; *p.Watchers == 0 {
		p.Schedule.SetHook(nil)
	}
}
