// Package netcode is a connection protocol for real-time games with an
// authoritative server. It defines the contents of packets, how they are
// acknowledged, and how two machines agree on time. It opens no socket, reads
// no clock and starts no goroutine: bytes and time are arguments. So it works
// over any transport of bytes, and a whole match can be replayed from a seed.
//
// Each part works alone:
//
//   - [Conn] writes and reads packets. It handles sequence numbers,
//     acknowledgements, round-trip time and loss, and reports the [Fate] of
//     each sent packet once. It carries reliable ordered streams with
//     fragments, and unreliable events, on channels with priorities
//     ([Channel]). Its send rate backs off when the path fills up. One Conn
//     serves one peer.
//   - [CommandSender] and [CommandBuffer] carry a player's input. Each command
//     travels in three packets, and in more while longer runs of packets are lost.
//   - [Clock] holds a client's two times. Predicted time runs ahead of the
//     server, so that inputs arrive in time. Render time runs behind, so that
//     snapshots do.
//   - [Hello], [Welcome], [Reject], [ClientConfig], [LevelInfo],
//     [Eye] and [SnapshotHeader] are the messages of a session. [SchemaRequest] and
//     [SchemaReply] serve tools that lack the game's types.
//
// The caller's loop, once a tick:
//
//	for _, datagram := range received {
//		if err := conn.Receive(now, datagram); err != nil {
//			continue // counted in conn.Stats()
//		}
//		for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() { … }
//		for r, ok := conn.NextReliable(); ok; r, ok = conn.NextReliable() { … }
//		for e, ok := conn.NextEvent(); ok; e, ok = conn.NextEvent() { … }
//	}
//	for f, ok := conn.NextFate(); ok; f, ok = conn.NextFate() { … }
//	p := conn.Begin(now)
//	p.Message(kind, body) // while p.Room allows
//	_, b := p.Finish()    // adds what waits on the channels
//	send(b)
//	if conn.Silent(now) > timeout { … }
//
// Send a packet every tick, even when there is nothing to say, because packets
// carry the acknowledgements. There is no ping message: each packet also states
// the time that its sender held the ack back. So the round trip is measured at
// the tick rate, from every packet that is acknowledged first by its own
// number. [Conn.RTT] and [Conn.Jitter] return the smoothed results.
// docs/STANDARD.md describes the wire format.
//
// [Config.Magic] describes the protection on a transport without
// authentication.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package netcode
