// Package bots fills a server with bots, to measure how many players it can hold.
//
// A [Light] bot speaks the protocol and has no world. It joins as a player, sends a command
// for each tick, keeps its clock ahead of the server's, acknowledges snapshots without
// reading them, and reconnects with its token. It costs little, so that one process can run
// thousands. The server does as much work for it as for a player. A full client
// ([Client]) is a client.Client with the game's own bot as its Sample. It predicts and
// draws, so it also shows corrections and shots.
//
// A [Crowd] starts players of either kind one after another, at a rate, and runs them in
// a few goroutines:
//
//	light, err := bots.New(protocol, func(dst *Move, bot int, tick uint32) { dst.X = float32(bot % 2) })
//	crowd := bots.Crowd{Count: 2000, PerSecond: 100, Start: func(n int) (bots.Player, error) {
//		endpoint, err := udp.Dial(addr, udp.Config{})
//		if err != nil {
//			return nil, err
//		}
//		return light.Join(n, endpoint)
//	}}
//	err = crowd.Run(ctx)
//
// All bots of a process come from one address. Raise the limits by address on the server:
// server.Config.MaxWaitingPerAddress, and HelloRate in the transport's Config.
//
// Only Crowd.Run reads a clock and starts goroutines.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package bots
