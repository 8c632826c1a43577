// Package transport is the contract between a game's netcode and the network layer that carries its
// datagrams.
//
// An [Endpoint] is one end of a network: a server's has many peers, a client's has one. It moves unreliable
// datagrams of bounded size and reports who connected and disconnected. It knows nothing of ticks, acks or
// snapshots. The sub-packages implement it: sim (a seeded network in virtual time), udp, dtls and ws
// (sockets), local (memory within a process), multi (several as one), and impair (a bad network around any of
// them). A game's own transport can be tested with the suite in transporttest.
//
// # The caller's loop
//
//	var events [64]transport.Event
//	for {
//		n := ep.Recv(events[:])
//		for _, ev := range events[:n] {
//			switch ev.Kind {
//			case transport.Connected:    // from now on, Send to ev.Peer works
//			case transport.Data:         // ev.Data is valid until the next Recv
//			case transport.Disconnected: // ev.Peer is gone; ev.Code and ev.Reason say why
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
//     A failed dial yields only a Disconnected. A peer dropped by the local Disconnect yields no further
//     event, and neither do the peers of a closed endpoint, since the caller already knows.
//   - A datagram arrives whole or not at all. It may be lost, duplicated, delayed or damaged. Where
//     Info.Secure is true it cannot be damaged or forged; where Info.Ordered is true it cannot overtake
//     another.
//   - A PeerID is never reused while the endpoint lives: an outdated one gives ErrNoPeer.
//   - No call blocks, except that Close may take a moment to notify the peers. Queues are bounded: a full
//     receive queue drops its oldest datagram and counts it; with a full send queue Send returns
//     ErrBacklog.
//   - Only one goroutine may call Recv at a time. An endpoint over real sockets allows every other method
//     from any goroutine. One in virtual time (sim) belongs to the goroutine that runs its network.
//
// # What some endpoints can do in addition
//
// Optional interfaces describe it: [BanList], [Limited], [Counted]. Use [As] to find them, which looks
// into wrappers too. An endpoint around another one is a [Wrapper]. It implements such an interface
// itself if it changes what the inner endpoint says.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package transport
