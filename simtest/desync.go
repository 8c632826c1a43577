package simtest

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
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

// desyncOf returns what both ends report as a Desync.
func desyncOf(d probe.Desync) Desync {
	return Desync{DesyncKind(d.Kind), d.Tick, d.Entity, d.Component, d.Field, d.First, d.Again, d.System}
}
