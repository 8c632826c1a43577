package campaign

import (
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// SyncTestClient makes a client run the newest ticks again after each tick, and calls found
// for each tick with a different result, and for faults of render systems. ticks is the
// number of ticks to run again. The cost of a tick grows by that factor. Call it before the
// client's first Step. ticks must be less than client.Config.History; 0 and negative turn it
// off. [simtest.SyncTest] does this for a whole match.
func SyncTestClient(c *client.Client, ticks int, found func(simtest.Desync)) error {
	return probe.OfClient(c).SyncTest(ticks, func(d probe.Desync) {
		found(desyncOf(d))
	})
}

// SyncTestServer makes a server with Late run the newest ticks again for each player,
// before each tick, as it does for a late input. It calls found for each tick with another
// result. Then the game keeps state outside of components, for example in a Go variable, and
// a late input would change it twice. Call it before the server's first Step. ticks is at
// most the window of Late; 0 turns it off. Systems that declare ecs.ReadOther are not
// checked, because the state of other players that they read has changed since. [simtest.SyncTest]
// does this for a whole match.
func SyncTestServer(s *server.Server, ticks int, found func(simtest.Desync)) error {
	return probe.OfServer(s).SyncTest(ticks, func(d probe.Desync) {
		found(desyncOf(d))
	})
}

func desyncOf(d probe.Desync) simtest.Desync {
	return simtest.Desync{Kind: simtest.DesyncKind(d.Kind), Tick: d.Tick, Entity: d.Entity, Component: d.Component, Field: d.Field, First: d.First, Again: d.Again, System: d.System}
}
