package game

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// Sight is what an end says that a player saw. It travels by value: a pointer to it would be
// allocated.
type Sight struct {
	Seen   rewind.View
	Record *rewind.Past   // Record is the server's past of all ticks.
	Tracks []layout.Track // Tracks are the components that Record keeps.
	Tick   Tick           // Tick is the server's present.
	Screen drawnScreen    // Screen is what a client draws.
	Bare   bool           // Bare is true if the game declares no hitbox: a query is a mistake.
	// Ahead are the ticks between which a client draws what is predicted. It is zero in a render
	// system.
	Ahead rewind.Keys
	Whole rewind.Keys // Whole is the time at which a client draws the rest.
}

// drawnScreen is the screen of a client, as a view asks it.
type drawnScreen interface {
	// DrawnWorld returns the world that is drawn, and the player before the screen.
	DrawnWorld() (w *ecs.World, own PlayerID)
	// DrawnApart reports whether a target was drawn without a snapshot of the rendered frame for it.
	DrawnApart(id lagcomp.ID) bool
	// ShownThen returns a component's value in the rendered frame of a view, whose times these are,
	// if it is not the one that the world holds.
	ShownThen(ahead, whole rewind.Keys, e ecs.Entity, id ecs.ID) (value ShownValue, ok bool)
}

// ShownValue is a component's value between two frames. It is computed where it is asked for:
// a pointer that is passed to an interface would have to be allocated.
type ShownValue struct {
	Schema   *schema.Schema
	Audience schema.Audience
	Knots    schema.Knots
	Grid     schema.Grid
	Refs     schema.Refs
}
