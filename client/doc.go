// Package client plays a match of a game that a server runs: it sends the player's commands,
// predicts its own player, and draws the others between two snapshots. [New] makes a [Client] of a
// [Config], which needs the game's [foretick.Protocol], a transport, and what reads the input. Each
// rendered frame calls [Client.Step], whose [View] has the world to draw:
//
//	cl, err := client.New(client.Config{Protocol: game.Protocol(), Transport: endpoint, Sample: client.Sample(&game.Cmd, readPad)})
//	for range frames {
//		view := cl.Step(time.Now())
//		draw(view)
//	}
//
// Package server is the other end. The two do not import each other.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package client
