package simtest

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
)

// Desync is a fault that a sync test found: game code that gives a tick another result when
// it runs again. See [SyncTest].
type Desync struct {
	// Kind of fault.
	Kind DesyncKind
	// Tick that came out differently.
	Tick foretick.Tick
	// Entity, Component and Field that differ first. Field is empty if a whole component
	// differs.
	Entity    ecs.Entity
	Component string
	Field     string
	// First and Again are the field's values in the first run and in the repeated one, in
	// its own units.
	First, Again float64
	// System is the first one after which the runs differed, if known.
	System string
}

// DesyncKind is the kind of a Desync.
type DesyncKind int

// The kinds.
const (
	// Impure: the same tick gave another result from the same state and input. Causes are a
	// clock, random numbers, a map's order, or data kept outside of components.
	Impure DesyncKind = probe.Impure
	// RenderWrote: a render system wrote a predicted component.
	RenderWrote DesyncKind = probe.RenderWrote
	// NotANumber: a predicted field became NaN or infinite.
	NotANumber DesyncKind = probe.NotANumber
)

// String names the kind.
func (k DesyncKind) String() string {
	switch k {
	case Impure:
		return "ran again with another outcome"
	case RenderWrote:
		return "was written by a render system"
	case NotANumber:
		return "is not a number"
	}
	return "?"
}

// String returns one line for a log.
func (d Desync) String() string {
	what := d.Component
	if d.Field != "" {
		what += "." + d.Field
	}
	s := fmt.Sprintf("tick %d: %s of entity %v %s", d.Tick, what, d.Entity, d.Kind)
	if d.Kind == Impure {
		s += fmt.Sprintf(": %.10g, then %.10g", d.First, d.Again)
	}
	if d.System != "" {
		s += fmt.Sprintf("; first in system %q", d.System)
	}
	return s
}

// SyncTestClient makes a client run the newest ticks again after each tick, and calls found
// for each tick with a different result, and for faults of render systems. ticks is the
// number of ticks to run again. The cost of a tick grows by that factor. Call it before the
// client's first Step. ticks must be less than client.Config.History; 0 and negative turn it
// off. [SyncTest] does this for a whole match.
func SyncTestClient(c *client.Client, ticks int, found func(Desync)) error {
	return probe.OfClient(c).SyncTest(ticks, func(d probe.Desync) {
		found(Desync{DesyncKind(d.Kind), d.Tick, d.Entity, d.Component, d.Field, d.First, d.Again, d.System})
	})
}

// SyncTestServer makes a server with Late run the newest ticks again for each player,
// before each tick, as it does for a late input. It calls found for each tick with another
// result. Then the game keeps state outside of components, for example in a Go variable, and
// a late input would change it twice. Call it before the server's first Step. ticks is at
// most the window of Late; 0 turns it off. Systems that declare ecs.ReadOther are not
// checked, because the state of other players that they read has changed since. [SyncTest]
// does this for a whole match.
func SyncTestServer(s *server.Server, ticks int, found func(Desync)) error {
	return probe.OfServer(s).SyncTest(ticks, func(d probe.Desync) {
		found(Desync{DesyncKind(d.Kind), d.Tick, d.Entity, d.Component, d.Field, d.First, d.Again, d.System})
	})
}
