// Package rollbacktest plays whole matches of package rollback in virtual time: a relay, its peers and every link
// between them, on one event queue, in one goroutine, from one seed. The same seed gives the same match, packet by
// packet, and runs much faster than real time. It is what simtest is for games with a server.
//
// A game's own test takes a few lines. [Check] plays a [Plan] with one seed after another. The network delays and loses
// packets. If the plan says so, players join late and leave, are frozen, and lose their connections. Check compares the
// worlds of all peers each second, and the replays of all at the end, tick by tick. On a difference it names the tick,
// the system, the field and both values, the seed, and the command that replays that match:
//
//	func TestMyGame(t *testing.T) {
//		rollbacktest.Check(t, rollbacktest.Plan{
//			New: func(seed uint64) rollbacktest.Player {
//				g := &Game{}
//				bot := NewBot(g, seed)
//				return rollbacktest.Player{Protocol: g.Protocol(), Sample: rollback.Sample(&g.Cmd, bot.press)}
//			},
//		}, 20)
//	}
//
// All peers run in one program. So it finds state outside of the world, clocks and chance, and cannot find what
// differs between two architectures: cmd/foretick-vet finds that.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package rollbacktest
