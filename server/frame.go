package server

import "github.com/foretick/foretick/internal/game"

// frameEnd is the end of a server's frames: what a frame asks for is done by the part that it
// concerns. Systems, handlers and hooks reach the server through it alone. It does all that
// ends may do but draw.
type frameEnd struct {
	*frameEntities
	*panics
	*kicks
	*interest
	*mail
	*requests
	*shotViews
	*writeWatch
}

// A frame looks for the optional interfaces of its end, which no compiler checks.
var _ interface {
	game.End
	game.Spawner
	game.Viewer
	game.Messenger
	game.Members
	game.Visibility
	game.HandlersEnd
	game.Finals
	game.Writes
} = (*frameEnd)(nil)
