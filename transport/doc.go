// Package transport is the contract between a game's netcode and whatever carries its datagrams.
//
// An [Endpoint] is one end of a network: a server's has many peers, a client's has one. It moves
// unreliable datagrams of bounded size and tells who came and went; it knows nothing of ticks, acks or
// snapshots. Implementations are the packages below this one: sim (a seeded network in virtual time), udp
// (sockets), and impair (a bad network around either). A game's own transport passes the suite in
// transporttest and is then as good as these.
//
// # The caller's loop
//
//	var events [64]transport.Event
//	for {
//		n := ep.Recv(events[:])
//		for _, ev := range events[:n] {
//			switch ev.Kind {
//			case transport.Connected:    // ev.Peer may be sent to from now on
//			case transport.Data:         // ev.Data is valid until the next Recv
//			case transport.Disconnected: // ev.Peer is gone; ev.Code and ev.Detail say why
//			}
//		}
//		if n == len(events) {
//			continue // there may be more
//		}
//		... step the game, ep.Send(peer, datagram) ...
//		ep.Flush()
//		... wait for the next tick, or for ep.Ready() ...
//	}
//
// # What an Endpoint promises
//
//   - For each peer: one Connected, then Data, then one Disconnected, in that order, and nothing after it.
//     A dial that fails yields a Disconnected alone. A peer dropped by the local Disconnect, and every peer
//     of an endpoint that is closed, yields nothing more: the caller knows.
//   - A datagram arrives whole or not at all. It may be lost, come twice, come late, or come damaged; where
//     Info.Secure is true it cannot come damaged or forged, where Info.Ordered is true it cannot overtake.
//   - A PeerID is never used again while the endpoint lives: one kept too long answers ErrNoPeer.
//   - No call blocks, but that Close may take a moment to say goodbye. Queues are bounded: a full receive
//     queue loses its oldest datagram and counts it, a full send queue answers ErrBacklog.
//   - Recv has one caller at a time. An endpoint over real sockets allows every other method from any
//     goroutine; one in virtual time (sim) belongs to the goroutine that runs its network.
package transport
