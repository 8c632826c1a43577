// Package foretick joins the parts of a networked game: an authoritative
// server, clients that predict their own player, and the wire between them.
//
// A game declares its components, its command and its systems once, on a
// [Protocol]. A [Server] runs the systems for every player. A [Client] runs the
// shared ones for its own player, ahead of the server, and corrects itself when
// the server disagrees. The server sends state as quantised deltas. Clients send
// each input several times. The server judges a shot against the world that the
// shooter saw.
//
// A complete server and client:
//
//	p := game.Protocol() // NewServer and NewClient report its faults
//	// a server:
//	srv, err := foretick.NewServer(foretick.ServerConfig{Protocol: p, Transport: endpoint})
//	err = srv.Run(ctx)
//	// a client:
//	cli, err := foretick.NewClient(foretick.ClientConfig{Protocol: p, Transport: endpoint, Sample: foretick.Sample(&game.Cmd, readPad)})
//	view := cli.Step(time.Now()) // once per rendered frame
//
// Server and Client read no clock, open no socket and start no goroutine: the
// caller passes the time to Step, and a transport in the config. Run is a short
// loop over Step. Neither is safe for concurrent use.
//
// The parts can be used alone and do not import one another: see the packages ecs,
// netcode, schema, prediction, lagcomp and transport, and snapshot, which builds on
// schema.
package foretick
