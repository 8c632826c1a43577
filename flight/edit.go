package flight

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
)

// Edit sets a field of an entity by its path, such as "Health.Points", at the end of the next
// tick, as a function of [server.Server].Do with [ecs.World.SetValue] does. Unlike such a
// function it is on the tape, so a replay makes the same edit. With [ecs.None] the path is
// that of a singleton. value is a bool, a number, or a string of at most 1024 bytes. done,
// which may be nil, is called in the tick with the error of the edit. Any goroutine may call
// Edit, and it works without a recorder. Its errors are those of Do, and one for a value of
// another type.
func Edit(srv *server.Server, e ecs.Entity, path string, value any, done func(error)) error {
	return probe.OfServer(srv).Edit(e, path, value, done)
}
