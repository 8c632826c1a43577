// Package local connects a server and clients of one process in memory, in real time. A player
// hosts a match and plays in it over one endpoint:
//
//	listen, err := udp.Listen(":27015", udp.Config{}) // others come by the network
//	host := local.New(listen)                        // and the host's own client through memory
//	srv, err := server.New(server.Config{Protocol: p, Transport: host})
//	cl, err := client.New(client.Config{Protocol: q, Transport: host.Dial(nil)})
//
// Both ends run as they do over a network, each with its own game value, and the host's
// player has a round trip of nearly zero. Nothing is lost, damaged or overtaken, except that a full
// receive queue drops its oldest datagram. A program that only one player plays may run both
// ends in one world instead: see package preview.
//
// Compatibility: promised. See docs/COMPATIBILITY.md.
package local
