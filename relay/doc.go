// Package relay keeps matches of package rollback in step. A [Relay] owns the time of a match and the settled inputs:
// which input of which player counts in each tick. It runs no game code and has no world, so one process carries
// many matches. It may be a player's process, too.
//
//	r, err := relay.New(relay.Config{Transport: endpoint, Players: 2})
//	if err != nil { … }
//	err = r.Run(ctx)
//
// A tick settles when the inputs of all players are there, and at the latest [Config].Wait after the
// relay's clock reached it. Then the last input of a player that is missing is used again, by all peers
// alike, and an input that comes later is dropped. Settled ticks are packed once, as differences from the tick
// before, and every peer is sent those that it does not have yet.
//
// Players send sums of their worlds, which the relay compares. A peer that joins late, or comes back too late, gets
// the world of a player, which the relay passes on in pieces and compares with the sum of most players. It does not
// know what a world is.
//
// The first player that comes begins a match, and says what the others must agree on. So let only those connect who
// may: see package transport/ticket.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package relay
