// Package transporttest is the test suite for every transport.Endpoint: Foretick's own, and a
// game's.
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
// The transport determines the time: one in virtual time supplies Wait. Throughout, the suite
// checks that each peer's events come in the order that package transport promises.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package transporttest
