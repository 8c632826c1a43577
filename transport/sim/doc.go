// Package sim is a network in virtual time: seeded, single-threaded, and identical on every machine and in
// every run.
//
// A [Network] is a queue of events and a clock that only [Network.Run] moves. Endpoints made by Listen and Dial
// implement transport.Endpoint. Everything else in a match (ticks, frames, faults) enters the same queue with
// At, so one seed determines the whole match:
//
//	net := sim.NewNetwork(7)
//	srv := net.Listen()
//	cli := net.Dial(srv, sim.WiFi, sim.WiFi)
//	var tick func()
//	tick = func() {
//		... srv.Recv, step, srv.Send ...
//		net.At(net.Now()+time.Second/30, tick)
//	}
//	net.At(0, tick)
//	net.Run(10 * time.Second)
//
// A [Link] describes the quality of one direction of a connection. Each direction has its own random generator
// and a fixed number of draws per datagram, so one client's traffic never changes the luck of another. A [Path]
// makes the decisions; package impair uses it too, in real time.
//
// Nothing here is safe for concurrent use.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package sim
