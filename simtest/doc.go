// Package simtest plays whole matches in virtual time: a server and its
// clients, with every link between them, on one event heap, in one goroutine,
// from one seed. The same seed gives the same match, packet by packet, and
// many seconds pass in one.
//
// A game's own test takes a few lines. [Check] plays a [Plan] from seed after
// seed on a network that loses, delays, doubles, reorders and damages packets
// (with processes that fall, clocks that drift and players who come and go, if
// the plan says so), and checks what must hold whatever happens: that both ends
// agree, that every message arrives once and in order, that nobody gains time, that no
// prediction is wrong by the game's own code. When something does not hold, it names the seed and the command that plays
// that match again:
//
//	func TestMyGame(t *testing.T) {
//		simtest.Check(t, simtest.Plan{
//			New: func() simtest.Player {
//				g := &Game{}
//				return simtest.Player{Protocol: g.Protocol(), Sample: foretick.Sample(&g.Cmd, g.script)}
//			},
//		}, 20)
//	}
//
// Run it with the build tag foretick_debug as well: a system that touches what it
// did not declare is then named, and so is the first system that computed something
// else on one end.
//
// [SyncTest] finds code in shared systems that does not come out the same
// twice, and is the test to have beside Check:
//
//	func TestSync(t *testing.T) { simtest.SyncTest(t, newPlayer, simtest.SyncConfig{}) }
//
// For anything else make a [Match], give it a server and clients, let it
// run, kill and freeze what should fail, and look at both ends with
// [Match.Audit]; checkers of your own watch it by [Match.Watch].
package simtest
