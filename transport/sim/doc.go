// Package sim is a network in virtual time: seeded, single-threaded, and the same on every machine and run.
//
// A [Network] is a queue of events and a clock that only [Network.Run] moves. Endpoints made by Listen and Dial
// implement transport.Endpoint; what drives a match (ticks, frames, faults) is put in the same queue with At,
// so that a whole match with every fault in it follows from one seed:
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
// A [Link] says how bad one direction of a connection is. Each direction draws from a generator of its own,
// a fixed number of draws a datagram, so that what one client does never changes another's luck. The
// decisions themselves are a [Path]'s, which package impair uses as well, in real time.
//
// Nothing here may be used from two goroutines at once.
package sim
