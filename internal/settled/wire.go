package settled

import (
	"github.com/foretick/foretick/netcode"
)

// Messages of a packet. A peer's commands are a netcode.MessageCommands, and its first message is a
// netcode.MessageHello whose Data is a declaration.
const (
	// MessageSettled goes from the relay to a peer. It has a Head, then as many ticks of a standing as that says.
	MessageSettled netcode.MessageType = 96
	// MessagePresence goes from a peer to the relay. It has a presence.
	MessagePresence netcode.MessageType = 97
)

// Kinds of reliable messages.
const (
	KindWelcome uint8 = iota + 1 // KindWelcome goes from the relay to a peer: welcome.
	KindSum                      // KindSum goes from a player to the relay: sum.
	KindDiffer                   // KindDiffer goes from the relay to a player: differ.
	KindAsk                      // KindAsk goes from the relay to a player: ask.
	KindPiece                    // KindPiece goes from a player to the relay, and on to a peer, on ChannelWorld: piece.
	KindWorld                    // KindWorld goes from the relay to a peer, on ChannelWorld after the pieces: WorldVerdict.
	KindClue                     // KindClue goes from a player to the relay, and on to another player: clue.
)

// The channels of a connection, and what each message may hold.
const (
	ChannelMain, ChannelWorld = 0, 1

	MaxPlaces  = 64
	MaxCommand = 1024 // MaxCommand is the length of a packed command in bytes.
	MaxFields  = 200
	MaxWindow  = 32   // MaxWindow is in ticks.
	MaxPiece   = 1024 // MaxPiece is the length of a piece's data in bytes.
	MaxPieces  = 64   // MaxPieces is how many pieces a player may send before the relay asks for more.
	MaxTicks   = 64   // MaxTicks is how many ticks a MessageSettled may have.
)

// Channels are those of every connection. A world waits behind everything else.
func Channels() []netcode.Channel {
	return []netcode.Channel{ChannelMain: {Reliable: true, Priority: 4}, ChannelWorld: {Reliable: true, Queue: 128 << 10}}
}
