package probe

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/schema"
)

// Preview is the engine of package preview, which documents the methods that it passes on. The
// types are the root's.
type Preview[View, Frame, Server any] interface {
	Step(now time.Time) View
	Pause(on bool)
	StepTick()
	SetTimeScale(scale float64)
	Edit(fn func(*Frame))
	Close() error
	Server() *Server
	// Replay computes one tick of a match that was recorded with Server.OnSettled, and draws
	// it at a place between the tick before and this one, 0 to 1. The first tick must be the
	// match's first. Nobody plays in a preview that replays.
	Replay(t Settled, fraction float32)
	// StateHash is that of the preview's server, without anything that is drawn.
	StateHash() uint64
}

// Settled is a tick with everything that the network decided in it. The game's rules make the
// rest of it.
type Settled struct {
	Tick     Tick
	Left     []ecs.Owner // whose OnLeave ran, in order
	Joined   []ecs.Owner // whose OnJoin ran, in order
	Moves    []Moved     // whose OnDisconnect or OnReconnect ran, in order
	Inputs   []SettledInput
	Requests []RequestTaken
}

// Moved is a player that lost its connection, or came back.
type Moved struct {
	Player ecs.Owner
	Back   bool
}

// SettledInput is one player in a tick.
type SettledInput struct {
	Player  ecs.Owner
	Command []byte         // that the tick ran, as in memory; nil without one
	Offset  uint8          // that the command stated
	View    rewind.Settled // of the player's shots
	Every   uint32         // ticks a snapshot
	Shown   []Shown        // the entities that its client knew
}

// Shown is an entity that a player's client knew, and since which tick.
type Shown struct {
	Net   uint32
	Wire  schema.WireID
	Since Tick
}
