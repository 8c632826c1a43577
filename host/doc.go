// Package host runs many matches in one process behind one endpoint.
//
//	h, err := host.New(host.Config{
//		Transport: endpoint, // udp.Listen(":27015", udp.Config{MaxPeers: 2000, Batch: 64, Accept: gate.Accept})
//		NewMatch: func(name string, end transport.Endpoint) (host.Match, error) {
//			return server.New(server.Config{Protocol: newProtocol(), Transport: end})
//		},
//		OnDemand: true,
//	})
//	err = h.Run(ctx) // on SIGTERM: h.Drain("this server is replaced")
//
// # The path of a datagram
//
// One goroutine, the porter, reads the endpoint. It brings each peer to the match that the peer's
// ticket names (see [ticket.Claims] and [Config].Match), and the peer stays with that match. The porter
// copies each datagram and the time of its arrival into the inbox of its match, which is bounded for
// each peer. There it waits for the match's next tick, since a server uses nothing earlier. Delays are
// measured to the datagram's arrival. A relay's datagrams do not wait: see below.
//
// A worker is a goroutine that owns some of the matches. At most once a millisecond it steps each match
// that has a tick due, that a peer joined or left, or that has an inbox half full. It steps a relay for
// each datagram too, because a tick settles with its last input. Then it flushes the
// endpoint once. So the packets of its matches in that millisecond leave together, in few system calls
// if the endpoint batches. A match is stepped by one worker at a time. It moves to another worker only
// between two steps, when the other has more free time.
//
// Each match has its own endpoint, with its peers, identities and bans. The only other inputs are
// the times of its steps and calls such as [Host.Drain]. So its results depend on its inbox, those
// times and those calls alone.
//
// # Life of a match
//
// A match begins by [Host.Allocate], or with its first peer if [Config].OnDemand is set. It ends
// when its server or relay closes: by the game, by Shutdown, or after Drain with the last player. A
// relay also closes by relay.Config.CloseAfter, which relays of a host should set. The host
// then forgets it and calls [Config].OnEnd. A panic in a system ends that match alone, with the
// stack in its [End]. A fatal error of the runtime (concurrent map writes, out of memory, a
// stack overflow), or a panic in a goroutine that the game started itself, ends the process: no
// recover can catch it.
//
// A step that does not end costs its own match alone. After 250 ms the worker's other matches go to a
// new worker. After [Config].Stall the match counts as stuck. After [Config].Abandon the match is over
// for its players and for Run. [Host.Live] and [Host.Ready] report a host in trouble to a fleet.
//
// [Host.Step] does the same as Run in the caller's goroutine, at a time that the caller passes, for
// tests in virtual time.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package host
