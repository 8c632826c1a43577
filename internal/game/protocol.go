package game

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Protocol is a protocol as both ends run it. F is the game's frame. It is only passed on to the
// game's functions.
type Protocol[F any] struct {
	Facts
	Schedule *ecs.Schedule[F]
	Hook     ecs.Hook[F] // Hook passes the systems on to the hooks of the frame that they run in.
	// Watchers counts who needs the schedule's hook. nil means that nobody ever did.
	Watchers *int
	Handlers Handlers[F]
}

// Handlers are the game's functions of a frame, by this build's numbers.
type Handlers[F any] struct {
	Joins       []func(F, PlayerID)
	Leaves      []func(F, PlayerID)
	Disconnects []func(F, PlayerID)
	Reconnects  []func(F, PlayerID)
	Levels      []func(F, []byte)

	Check func(f F, player PlayerID, at unsafe.Pointer) error        // Check is nil without CheckCommand.
	Guess func(f F, avatar ecs.Entity, ahead int, at unsafe.Pointer) // Guess is nil without PredictRemote.

	Appearances []Appearance[F]

	Events       []func() EventQueue[F]
	EventSystems map[string]func(F) // EventSystems has, by name, the systems that call OnServer and OnFinal.

	Messages []func(s *schema.Schema, f F, tick Tick, payload []byte) error
	Requests []func(f F, player PlayerID, payload []byte) error
	// Spawns has the game's functions for each prefab. nil means that shared systems do not spawn it.
	Spawns   []*Spawn[F]
	Relevant []func(f F, player PlayerID, e ecs.Entity) snapshot.Relevance // Relevant has a hook for each prefab, or nil.
}

// Spawn are the game's functions for the entities of a prefab that clients spawn ahead of
// the server. Each may be nil.
type Spawn[F any] struct {
	OnPredicted, OnConfirmed, OnCancelled, OnRestored func(F, ecs.Entity)
}

// Appearance is a hook for entities that come to a client's screen, or leave it.
type Appearance[F any] struct {
	Watch    *ecs.Watch
	Prefab   *ecs.Prefab // Prefab is nil for any.
	Vanished bool
	Call     func(F, ecs.Entity)
}

// NewQueues makes a world's queues of events.
func (p *Protocol[F]) NewQueues() []EventQueue[F] {
	var qs []EventQueue[F]
	for _, fresh := range p.Handlers.Events {
		qs = append(qs, fresh())
	}
	return qs
}

// Watch installs the hook for somebody who needs it, or takes it away when nobody does any
// more. Without it a player's systems run on the short way.
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
