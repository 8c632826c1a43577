package rollback

import (
	"fmt"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Cause is what made the worlds of two peers differ. Both ran the ticks since the newest equal worlds again, and
// compared them tick by tick, system by system, and value by value.
type Cause struct {
	// Tick is the first tick in which the worlds differ, or in which two runs differ. With Outside it is the tick after
	// which the value was written for the first time, as far as that was seen.
	Tick foretick.Tick
	// Last is Tick. With Outside it is the tick after which the value was written for the last time.
	Last foretick.Tick
	// System is the name of the system that computed otherwise. It may also be "OnJoin, OnLeave or the commands"
	// or "OnServer handlers". With Outside it has the systems that declare to write the value, if nobody saw what wrote
	// it.
	System string
	// Entity has the first value that differs. [ecs.None] for a singleton.
	Entity ecs.Entity
	// Prefab is the name of the entity's prefab, such as "fighter". Empty for a singleton, and for an entity without one.
	Prefab string
	// Field is that value's path, such as "position.X".
	Field string
	// Own and Theirs are the values after System, on this peer and on the other one. "nothing" if there is none. With
	// Outside, the writer has the value that was written, and the other side what the ticks make of it. With Unsteady
	// they are those of two runs.
	Own, Theirs string
	// Outside is true if a world is not what its ticks make of it, when they run again. Code outside of systems
	// wrote it. If System has names, it may also be one of these, with what only the first run of a tick has.
	Outside bool
	// Unsteady is true if System gives another value in each run of the tick, on one machine. It uses what is not in the
	// world: a clock, a random number, the order of a map, a Go variable.
	Unsteady bool
	// Writer is the player whose world is Outside or Unsteady. Nobody otherwise.
	Writer foretick.PlayerID
}

// String returns the cause as a sentence.
func (c *Cause) String() string {
	of := c.Field
	if c.Entity != ecs.None {
		of += " of " + strings.TrimLeft(c.Prefab+" "+c.Entity.String(), " ")
	}
	switch {
	case c.Unsteady:
		return fmt.Sprintf("player %d: system %q makes %s %s in one run of tick %d and %s in another: it uses what is not in the world, such as a clock, a random number, the order of a map or a Go variable", c.Writer, c.System, of, c.Own, c.Tick, c.Theirs)
	case c.Outside && c.System != "":
		return fmt.Sprintf("player %d: %s is not what ticks %d to %d make of it when they run again: here %s, there %s. Code outside of systems wrote it, or a system that writes it (%s) uses what is not in the world", c.Writer, of, c.Tick, c.Last, c.Own, c.Theirs, c.System)
	case c.Outside:
		return fmt.Sprintf("player %d: %s was written outside of systems after ticks %d to %d: here %s, there %s", c.Writer, of, c.Tick, c.Last, c.Own, c.Theirs)
	}
	return fmt.Sprintf("tick %d, system %q, %s: here %s, there %s", c.Tick, c.System, of, c.Own, c.Theirs)
}
