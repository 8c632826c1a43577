// Package simtest plays whole matches in virtual time: a server, its clients and every
// link between them, on one event queue, in one goroutine, from one seed. The same
// seed gives the same match, packet by packet, and runs much faster than real time.
//
// A game's own test takes a few lines. [Check] plays a [Plan] with one seed after
// another. The network loses, delays, duplicates, reorders and damages packets. If the
// plan says so, processes crash, clocks drift, and players join and leave. Check
// verifies rules that must always hold. Both ends agree. Every message arrives once
// and in order. No player gains time. The game's own code causes no misprediction. On
// a violation it names the seed and the command that replays that match:
//
//	func TestMyGame(t *testing.T) {
//		simtest.Check(t, simtest.Plan{
//			New: func() simtest.Player {
//				g := &Game{}
//				return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, g.script)}
//			},
//		}, 20)
//	}
//
// Run it with the build tag foretick_debug as well. It then names systems that touch
// undeclared components, and the first system whose results differ between the ends.
//
// [SyncTest] finds code in shared systems whose result is not reproducible. It is the
// test to have next to Check:
//
//	func TestSync(t *testing.T) { simtest.SyncTest(t, newPlayer, simtest.SyncConfig{}) }
//
// [Bench] reports what a match costs, in bytes, corrections and allocations that are the
// same in every run, so that a game's CI can compare two commits:
//
//	func BenchmarkGame(b *testing.B) { simtest.Bench(b, newPlayer, simtest.BenchConfig{}) }
//
// For anything else create a [Match], add a server and clients, and run it. Kill and
// freeze processes as needed, and compare both ends with [Match.Audit]. Add custom
// checkers with [Match.Watch].
//
// Compatibility: any minor version may change it, but for the names that docs/COMPATIBILITY.md lists.
package simtest
