// Package simtest plays whole matches in virtual time: a server and its
// clients, with every link between them, on one event heap, in one goroutine,
// from one seed. The same seed gives the same match, packet by packet, and
// thousands of seconds pass in one.
//
// A game's own test takes a few lines: make a [Match], give it a server and
// clients of the game's protocol, let it run, and look at both ends with
// [Match.Audit].
package simtest
