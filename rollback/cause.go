package rollback

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Cause is what made the worlds of two peers differ. Both ran the ticks since the newest equal worlds again, and
// compared them tick by tick, system by system, and value by value.
type Cause struct {
	// Tick is the first tick in which the worlds differ. With Outside it is the tick after which the value was
	// written for the first time, as far as that is known.
	Tick foretick.Tick
	// Last is Tick. With Outside it is the tick after which the value was written for the last time.
	Last foretick.Tick
	// System is the name of the system that computed otherwise. It may also be "OnJoin, OnLeave or the commands"
	// or "OnServer handlers". Empty with Outside.
	System string
	// Entity has the first value that differs. [ecs.None] for a singleton.
	Entity ecs.Entity
	// Field is that value's path, such as "position.X".
	Field string
	// Own and Theirs are the values after System, on this peer and on the other one. "nothing" if there is none. With
	// Outside, the writer has the value that was written, and the other side what the ticks make of it.
	Own, Theirs string
	// Outside is true if a world is not what its ticks make of it, when they run again. Code outside of systems
	// wrote it, or a system uses what is not in the world.
	Outside bool
	// Writer is the player with that world. Nobody without Outside.
	Writer foretick.PlayerID
}

// String returns the cause as a sentence.
func (c *Cause) String() string {
	of := c.Field
	if c.Entity != ecs.None {
		of += " of " + c.Entity.String()
	}
	if c.Outside {
		return fmt.Sprintf("player %d: %s was written outside of systems after ticks %d to %d: here %s, there %s", c.Writer, of, c.Tick, c.Last, c.Own, c.Theirs)
	}
	return fmt.Sprintf("tick %d, system %q, %s: here %s, there %s", c.Tick, c.System, of, c.Own, c.Theirs)
}
