// Package impair puts a bad network around a good one, in real time. It does to real datagrams what package sim does
// to virtual ones, with the same decisions (sim.Path) and settings (sim.Link).
//
// [Wrap] impairs an endpoint within the process. The game's datagrams are delayed, lost, damaged and so on; the
// endpoint's own traffic (handshake, keep-alives, closes) is not.
//
//	ep = impair.Wrap(ep, sim.LTE, sim.LTE, 7)
//
// [Proxy] sits between a client and a server, for example as a separate process, and impairs every datagram. It can
// also change its port, like a NAT.
//
//	proxy, err := impair.NewProxy("127.0.0.1:0", "127.0.0.1:27015", sim.Train, sim.Train, 7)
//	cli, err := udp.Dial(proxy.Addr().String(), udp.Config{})
//
// Random decisions depend on the seed, arrival times on the clock: unlike in a simulation, two runs are similar but
// not equal.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package impair
