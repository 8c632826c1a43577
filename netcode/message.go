package netcode

import "fmt"

// MessageType is the type of a message's body. Types 0 to 15 belong to netcode,
// 16 to 24 are named below, and the rest are the caller's.
type MessageType uint8

// The protocol's internal messages. Callers never see them.
const (
	messageStream  MessageType = 1
	messageClose   MessageType = 2
	messageChannel MessageType = 3 // the stream of a channel other than 0
	messageEvents  MessageType = 4
	firstCaller    MessageType = 16
)

// Messages of a session. Their bodies are Hello, Welcome, Reject,
// SnapshotHeader followed by the snapshot, the output of CommandSender.Append,
// ClientConfig, LevelInfo, Eye and Unread.
const (
	MessageHello MessageType = 16 + iota
	MessageWelcome
	MessageReject
	MessageSnapshot
	MessageCommands
	MessageReady
	MessageLevel
	MessageEye
	MessageUnread
)

var messageNames = [...]string{messageStream: "stream", messageClose: "close", messageChannel: "channel", messageEvents: "events",
	MessageHello: "hello", MessageWelcome: "welcome", MessageReject: "reject", MessageSnapshot: "snapshot", MessageCommands: "commands",
	MessageReady: "ready", MessageLevel: "level", MessageEye: "eye", MessageUnread: "unread"}

// String returns the message's name in lower case, or "message N".
func (t MessageType) String() string {
	if int(t) < len(messageNames) && messageNames[t] != "" {
		return messageNames[t]
	}
	return fmt.Sprintf("message %d", uint8(t))
}

// Message is one of the caller's messages in the packet just received. Body
// aliases the datagram: it is valid until the next Receive, or until the caller
// reuses the datagram's memory.
type Message struct {
	Type MessageType
	Body []byte
	Seq  Seq // sequence number of the packet that carried the message
}

// readMessage splits the first message off b: type, length as varint, body.
func readMessage(b []byte) (t MessageType, body, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, nil, false
	}
	t = MessageType(b[0])
	n, rest, ok := readVarint(b[1:])
	if !ok || n > uint64(len(rest)) {
		return 0, nil, nil, false
	}
	return t, rest[:n], rest[n:], true
}

// messageRoom returns the longest body that fits in n bytes with its type and
// length.
func messageRoom(n int) int {
	switch {
	case n < 2:
		return 0
	case n-2 < 0x80:
		return n - 2
	case n-3 < 0x80:
		return 0x7f
	}
	return min(n-3, 0x3fff)
}

func messageSize(body int) int { return 1 + varintSize(uint64(body)) + body }
