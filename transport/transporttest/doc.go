// Package transporttest is the suite that every transport.Endpoint passes: Foretick's own, and a game's.
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(t testing.TB) transporttest.Net {
//			return transporttest.Net{
//				Server: func() transport.Endpoint { ... },
//				Client: func(server transport.Endpoint) transport.Endpoint { ... },
//				Concurrent: true,
//			}
//		})
//	}
//
// Time is the transport's: one that runs in virtual time supplies Wait. All through, the suite checks that each peer's
// events come in the order that package transport promises.
package transporttest
