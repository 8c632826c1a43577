// Package rollback runs matches in which no state travels: every peer sends its inputs, and computes the
// whole world itself. Fighting games and games with thousands of units are made so.
//
// So far it has one half, the [Relay]. It owns the time of a match and the settled inputs: which input of
// which player counts in each tick. It runs no game code, so one process carries many matches. Peers of
// rollback and of lockstep speak to the same relay, and differ in the window of ticks that they run ahead.
// The peer, which runs the game, is not part of this package yet.
//
//	relay, err := rollback.NewRelay(rollback.RelayConfig{Transport: endpoint, Players: 2})
//	if err != nil { … }
//	err = relay.Run(ctx)
//
// A tick settles when the inputs of all players are there, and at the latest [RelayConfig].Wait after the
// relay's clock reached it. Then the last input of whoever is missing stands in, for everybody alike, and
// an input that comes later is dropped. Settled ticks are packed once, as differences from the tick
// before, and every peer is sent those that it does not have yet.
//
// Players send a sum of their world each second. The relay compares them, and tells the players whose
// worlds differ. A peer that joins late, or comes back too late, gets the world of a player, which the
// relay passes on in pieces and compares with the sum of most players. A world that is another one never
// arrives: the relay asks another player.
//
// Nothing here hides a player's input from the others until its tick settles. Who waits with its own
// input until it has seen theirs gains RelayConfig.Wait, as in all games without a server that decides.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package rollback
