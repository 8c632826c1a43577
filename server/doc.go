// Package server runs a match of a game: it receives commands, computes ticks, and sends each
// client what the client may see. [New] makes a [Server] of a [Config], which needs the game's
// [foretick.Protocol] and a transport:
//
//	srv, err := server.New(server.Config{Protocol: game.Protocol(), Transport: endpoint})
//	err = srv.Run(ctx)
//
// Package client is the other end. The two do not import each other.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package server
