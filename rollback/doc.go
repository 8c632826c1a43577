// Package rollback plays matches that send inputs and no state: every peer sends its inputs, and computes the whole
// world itself. Fighting games and games with thousands of units are made so.
//
// A [Peer] runs a game's Protocol, as package server and package client do. It predicts the inputs of others that it
// does not have yet, and runs ticks again where it guessed wrongly. With [Lockstep] it waits for them.
//
//	peer, err := rollback.New(rollback.Config{
//		Transport: endpoint, Protocol: proto,
//		Sample: rollback.Sample(&g.Cmd, g.sample),
//	})
//	if err != nil { … }
//	err = peer.Run(ctx, time.Second/60, func(v rollback.View) { g.draw(v.World) })
//
// A [relay.Relay] owns the time of the match and the settled inputs. It runs no game code. A player's process may run
// it too, with transport/local for the own peer.
//
// The world begins empty. The first player's OnJoin spawns what nobody owns, if a query shows that it is not there
// yet. [View].World is never nil. Render systems run once in each Step.
//
// Struct tags and options that say how state travels (step, min, max, lerp, FullPrecision) have no effect on
// components here, since no state is sent. The tags of the command round it, for its own player too. The relay
// refuses a peer with another tick rate, window, command or tags and names that. Anything else of the protocol is
// "the protocol differs". What went wrong is in [View].Err, with what to do about it.
//
// Shared systems, OnJoin and OnLeave, and handlers of Event.OnServer run on every peer, in every run of a tick. They
// must give the same result on all machines: no clocks, no random numbers but Frame.Rand, no maps in their order, and
// no values outside of the world. Handlers of OnPredicted run once, and then either those of OnConfirmed or those of
// OnCancelled. Those of OnFinal run once their tick is settled. In a [Replay] those of OnServer run, and with Effects
// those of OnPredicted and OnConfirmed. What only a server does is refused by New. Methods of ServerFrame that only a server can carry out, such as Kick, SetTeam and
// SetVisible, do nothing and return false.
//
// Players send a sum of their world each second. The relay compares them, and tells the players whose worlds differ.
// Two of these then run the ticks since the newest equal worlds again, and compare them until they know the tick, the
// system, the field and both values, or that code outside of systems wrote the world: see [Config].OnDesync and
// [Cause]. A rollback may undo a single write from outside, and then nothing differs. In a test write for some frames
// to see it named. In a cause, "fighter 64.1" is an entity of the prefab fighter. It has place 64 in the world, and is
// the first one there. [Peer.WriteReplay] writes a match as its inputs, and a [Replay] plays it again, bit for bit. In a
// build that computes otherwise, the replay's error names the tick.
//
// A peer that joins late, or comes back too late, gets the world of a player, which the relay passes on in pieces and
// compares with the sum of most players. A world that is another one never arrives: the relay asks another player.
//
// Stats.StandIns is up to 6 after a player has joined: its first inputs come too late. View.RTT is the round trip to
// the relay. The way from one player to another is half of the sum of both.
//
// Nothing here hides a player's input from the others until its tick settles. A peer that holds back its own input
// until it has seen theirs gains relay.Config.Wait, as in all games without a server that decides.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package rollback
