// Package impair puts a bad network around a good one, in real time: what package sim does to virtual datagrams it does
// to real ones, by the same decisions (sim.Path) and from the same sim.Link.
//
// [Wrap] impairs an endpoint within the process: what the game sends and receives is delayed, lost, damaged and so on,
// while the endpoint's own traffic (its handshake, keep-alives and closes) is not.
//
//	ep = impair.Wrap(ep, sim.LTE, sim.LTE, 7)
//
// [Proxy] stands between a client and a server as a process of its own may, and impairs every datagram. It also
// changes its port, as a NAT does.
//
//	proxy, err := impair.NewProxy("127.0.0.1:0", "127.0.0.1:27015", sim.Train, sim.Train, 7)
//	cli, err := udp.Dial(proxy.Addr().String(), udp.Config{})
//
// Chance follows from the seed, arrival times from the clock: unlike a simulation, two runs are alike but not equal.
package impair
