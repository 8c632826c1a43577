package campaign

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// OnSent calls fn for each reliable message that a server queues for a player, after
// functions given before.
func OnSent(s *server.Server, fn func(simtest.MessageSent)) {
	probe.OfServer(s).OnMessage(func(m probe.MessageSent) { fn(simtest.MessageSent(m)) })
}

// OnReceived calls fn for each reliable message of the game that reaches a client, after
// functions given before.
func OnReceived(c *client.Client, fn func(simtest.MessageReceived)) {
	probe.OfClient(c).OnMessage(func(m probe.MessageReceived) { fn(simtest.MessageReceived(m)) })
}

// ServerEntity returns the server's entity for one of a player's local entities. Both ends
// must be in one process.
func ServerEntity(s *server.Server, player foretick.PlayerID, c *client.Client, local ecs.Entity) (ecs.Entity, bool) {
	wire := probe.OfClient(c).Wire(local)
	all, _ := probe.OfServer(s).Entities(player)
	for _, e := range all {
		if wire != 0 && e.Wire == wire {
			return e.Entity, true
		}
	}
	return ecs.None, false
}
