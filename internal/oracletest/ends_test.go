package oracletest

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
)

// Only this file names the types of both ends.
type (
	serverConfig = server.Config
	clientConfig = client.Config
	serverEnd    = server.Server
	clientEnd    = client.Client
)

func newServer(cfg serverConfig) (*serverEnd, error) { return server.New(cfg) }
func newClient(cfg clientConfig) (*clientEnd, error) { return client.New(cfg) }

// noter is called for each call of a handler, with the handler's arguments.
type noter func(what string, numbers ...uint64)

// game is one end of a game.
type game interface {
	protocol() *foretick.Protocol
	// sampler returns the script of a client's player, drawn from a seed.
	sampler(seed uint64) client.Sampler
	// serves is called with the server before its first Step.
	serves(srv *serverEnd)
	// level spawns the entities of the match, or of a level with these players.
	level(f *foretick.ServerFrame, players []server.Player)
	// call returns a function for Server.Do by its name; nil: there is none.
	call(name string) func(f *foretick.ServerFrame)
	// send sends a request of the client's player, if the game has requests.
	send(c *clientEnd, n uint16)
}
