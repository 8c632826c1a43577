// Package netcode is a connection protocol for real-time games with an
// authoritative server: what travels in a packet, how it is acknowledged, and
// how two machines agree on time. It opens no socket, reads no clock and starts
// no goroutine: bytes and time are arguments, so any byte pipe will do, and a
// whole match can be replayed from a seed.
//
// The parts, each usable alone:
//
//   - [Conn] writes and reads packets: sequence numbers, acknowledgements, each
//     sent packet's [Fate] told once, a reliable ordered stream with
//     fragments, round-trip time, loss, and a send rate that backs off when the
//     path fills up. One Conn serves one peer.
//   - [CommandSender] and [CommandBuffer] carry a player's input: the newest
//     few commands and every unacknowledged one within a budget, in each packet.
//   - [Clock] holds a client's two times: predicted time, ahead of the server by
//     as much as its inputs need, and render time, behind by as much as
//     snapshots need.
//   - [Hello], [Welcome], [Reject] and [SnapshotHeader] are the session's
//     messages.
//
// The caller's loop, once a tick:
//
//	for each datagram received:
//		if err := conn.Receive(now, datagram); err != nil {
//			continue // counted in conn.Stats()
//		}
//		for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() { … }
//		for r, ok := conn.NextReliable(); ok; r, ok = conn.NextReliable() { … }
//	for f, ok := conn.NextFate(); ok; f, ok = conn.NextFate() { … }
//	p := conn.Begin(now)
//	p.Message(kind, body) // as many as fit: see p.Room
//	_, b := p.Finish()    // adds what the reliable stream owes
//	send(b)
//	if conn.Silent(now) > timeout { … }
//
// Send a packet every tick even when there is nothing to say: acknowledgements
// ride on it. The wire format is written down in docs/STANDARD.md.
//
// What an unauthenticated transport can and cannot give is said at
// [Config.Magic].
package netcode
