// Package multi joins several endpoints into one, so that one server takes players of different transports into one
// match: native clients over UDP or DTLS and browsers over WebSocket.
//
//	joined, err := multi.New(udpEndpoint, dtlsEndpoint, wsEndpoint)
//	srv, err := server.New(server.Config{Protocol: p, Transport: joined})
//
// # The path of a datagram
//
// Each joined endpoint is a part and has a name. Recv asks the parts in turn and returns their events without copying
// them. A peer gets a PeerID of the joined endpoint with its Connected event. The joined endpoint remembers its part
// and its PeerID there. Send, Info and Disconnect look both up and call the part.
//
// # What stays apart
//
// Each part keeps its own accept hook, limits, timeouts and counters. It applies its own rule for a
// second connection of one identity among its own peers. The same identity may be connected by two
// parts at once: server.Config.Same decides which of them plays. A ban applies to all parts that
// support bans. Counters counts the traffic by part, and Name returns the part that a peer uses.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package multi
