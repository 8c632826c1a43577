package game

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// Sight describes what a player saw. It is passed by value, because a pointer to it would be allocated
// on the heap.
type Sight struct {
	Seen   rewind.View
	Record *rewind.Past   // Record is the server's past of all ticks.
	Tracks []layout.Track // Tracks are the tracked components in Record.
	Tick   Tick           // Tick is the server's present.
	Screen drawnScreen    // Screen is the screen of a client.
	// Bare is true if the game declares no hitbox. A query is then a mistake.
	Bare bool
	// Ahead has the ticks between which a client draws predicted entities. It is zero in a render
	// system.
	Ahead rewind.Keys
	Whole rewind.Keys // Whole has the ticks between which a client draws the others.
}

// drawnScreen is what a view needs of a client's screen.
type drawnScreen interface {
	// DrawnWorld returns the world that is drawn, and the player whose screen it is.
	DrawnWorld() (w *ecs.World, own PlayerID)
	// DrawnApart reports whether a target was drawn although no snapshot of the rendered frame had it.
	DrawnApart(id lagcomp.ID) bool
	// ShownThen returns a component's value in the rendered frame of a view. ahead and whole are the
	// view's times. ok is false if the value is the one that the world holds.
	ShownThen(ahead, whole rewind.Keys, e ecs.Entity, id ecs.ID) (value ShownValue, ok bool)
}

// ShownValue is a component's value between two frames. The caller computes it, because a pointer
// passed through an interface would be allocated on the heap.
type ShownValue struct {
	Schema   *schema.Schema
	Audience schema.Audience
	Knots    schema.Knots
	Grid     schema.Grid
	Refs     schema.Refs
}
