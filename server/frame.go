package server

import "github.com/foretick/foretick/internal/game"

// frameEnd implements what a server's frames need. Each of its parts does what concerns that part.
// Systems, handlers and hooks reach the server only through it. It implements everything that an end
// may do, except drawing.
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

// A frame looks for these optional interfaces of its end, which the compiler would not check.
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
