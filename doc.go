// Package foretick joins the parts of a networked game: an authoritative
// server, clients that predict their own player, and the wire between them.
//
// A game declares its components, its command and its systems once, on a
// [Protocol]. A [Server] runs the systems for everybody; a [Client] runs the
// shared ones for its own player, ahead of the server, and corrects itself when
// the server disagrees. State travels down as quantised deltas, input travels
// up with redundancy, and the server judges a shot against the world that the
// shooter saw.
//
// The newcomer's loop is the whole of it:
//
//	p := game.Protocol() // NewServer and NewClient report what is wrong with it
//	// a server:
//	srv, err := foretick.NewServer(foretick.ServerConfig{Protocol: p, Transport: endpoint})
//	err = srv.Run(ctx)
//	// a client, once per drawn picture:
//	cli, err := foretick.NewClient(foretick.ClientConfig{Protocol: p, Transport: endpoint, Sample: foretick.Sample(&game.Cmd, readPad)})
//	view := cli.Step(time.Now())
//
// Server and Client read no clock, open no socket and start no goroutine:
// Step takes the time, and the transport is whatever the caller hands in. Run
// is a short loop over Step for those who want one. Neither is safe for
// concurrent use.
//
// The parts stand alone and do not know one another: see the packages ecs,
// netcode, snapshot, prediction, lagcomp and transport.
package foretick
