// Package foretick is netcode for real-time multiplayer games with an authoritative
// server. A game declares its state, its input and its rules once, on a [Protocol]. A
// server.Server runs the rules for every player. A client.Client runs the shared ones for its own
// player ahead of the server, and is corrected when it was wrong.
//
// The examples Player, Shot and Spectator are whole programs: a game over UDP, a shot that is
// judged where its shooter saw the target, and somebody who watches. Their files are
// example_player_test.go, example_shot_test.go and example_spectator_test.go.
//
// # The two loops
//
// A server computes ticks. server.Server.Run calls Step when a tick is due or a packet has
// arrived:
//
//	p := game.Protocol() // server.New and client.New report its faults
//	srv, err := server.New(server.Config{Protocol: p, Transport: endpoint})
//	err = srv.Run(ctx)
//
// Each tick of the server goes through these steps:
//
//  1. Take the packets of all clients, and one command of each player.
//  2. Call OnJoin and OnLeave hooks for players that came or left, and the handlers of requests.
//  3. Run the systems, in their declared order, and then the handlers of events.
//  4. Round replicated components as they are sent, and record hitboxes for [Frame.Rewind].
//  5. Send each client a snapshot of the entities and fields that it may see, coded against an
//     older snapshot that the client has.
//
// A client has a loop already: that of its rendered frames. Each calls Step once and draws
// the world that the view holds:
//
//	cl, err := client.New(client.Config{Protocol: p, Transport: endpoint, Sample: client.Sample(&game.Cmd, readPad)})
//	for range frames {
//		view := cl.Step(time.Now())
//		draw(view)
//	}
//
// Each Step of a client goes through these steps:
//
//  1. Receive packets. Compare the own player in the newest snapshot with the
//     prediction of its tick. If they differ, take the server's state and run the ticks
//     since then again.
//  2. Sample the input, and predict the ticks that are due: the clock runs so far ahead
//     that each command reaches the server in time.
//  3. Send the newest commands, each of them several times.
//  4. Place the other players at a moment in the past between two snapshots, and the own
//     player between two predicted ticks. Corrections fade.
//
// Neither end reads a clock, opens a socket or starts a goroutine: Step takes the time, and
// a config takes a transport. So a match of both ends replays from one seed in a test (see
// package simtest). Server and Client are not safe for concurrent use, except for the
// methods whose comments say so.
//
// # Where things are
//
// A game's rules use a few types: [Protocol] to declare them, [Frame] in each system,
// [ServerFrame] in what only a server runs, [Event], [Message] and [Request] for everything
// that is not state, and [HitView] for shots. State lives in components: see package ecs.
// Struct tags of package schema say how each field is sent. Package server runs the rules for
// everybody, package client for one player.
//
//   - Sockets: transport/udp, transport/dtls, transport/ws, and transport/multi for several at
//     once. Any [transport.Endpoint] will do.
//   - Tests: simtest plays whole matches in virtual time, and finds rules that would mispredict.
//   - In play: inspect shows a running end, flight records and replays matches, and host runs
//     many matches in one process.
//   - Around a match: observe reads it without the game's types, bots fill it, and preview runs
//     a server and a player in one world.
//   - Own engine: bridge keeps the game's own entities. The parts ecs, netcode, schema,
//     prediction, lagcomp and transport do not import one another and can be used alone.
//     Snapshot builds on schema only.
//
// Compatibility: promised. See docs/COMPATIBILITY.md.
package foretick
