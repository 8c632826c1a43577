// Package netcode is a connection protocol for real-time games with an
// authoritative server: what travels in a packet, how it is acknowledged, and
// how two machines agree on time. It opens no socket, reads no clock and starts
// no goroutine: bytes and time are arguments, so any byte pipe will do, and a
// whole match can be replayed from a seed.
//
// The parts, each usable alone:
//
//   - [Conn] writes and reads packets: sequence numbers, acknowledgements, each
//     sent packet's [Fate] told once, reliable ordered streams with fragments
//     and unreliable events on channels with priorities ([Channel]), round-trip
//     time, loss, and a send rate that backs off when the path fills up. One
//     Conn serves one peer.
//   - [CommandSender] and [CommandBuffer] carry a player's input: the newest
//     few commands and every unacknowledged one within a budget, in each packet.
//   - [Clock] holds a client's two times: predicted time, ahead of the server by
//     as much as its inputs need, and render time, behind by as much as
//     snapshots need.
//   - [Hello], [Welcome], [Reject], [ClientConfig], [LevelInfo] and
//     [SnapshotHeader] are the session's messages; [SchemaRequest] and
//     [SchemaReply] are those of tools that come without the game's types.
//
// The caller's loop, once a tick:
//
//	for each datagram received:
//		if err := conn.Receive(now, datagram); err != nil {
//			continue // counted in conn.Stats()
//		}
//		for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() { … }
//		for r, ok := conn.NextReliable(); ok; r, ok = conn.NextReliable() { … }
//		for e, ok := conn.NextEvent(); ok; e, ok = conn.NextEvent() { … }
//	for f, ok := conn.NextFate(); ok; f, ok = conn.NextFate() { … }
//	p := conn.Begin(now)
//	p.Message(kind, body) // as many as fit: see p.Room
//	_, b := p.Finish()    // adds what the channels owe
//	send(b)
//	if conn.Silent(now) > timeout { … }
//
// Send a packet every tick even when there is nothing to say: acknowledgements
// ride on it. They are the pings too: each packet says which one it acknowledges
// and for how long its sender held the ack back, so every packet that is
// acknowledged first by its own number measures the round trip, at the tick rate,
// and there is no ping message. [Conn.RTT] and [Conn.Jitter] are the smoothed
// results. The wire format is written down in docs/STANDARD.md.
//
// What an unauthenticated transport can and cannot give is said at
// [Config.Magic].
package netcode
