package simtest

import (
	"github.com/foretick/foretick"
)

// MessageSent is a reliable message that the server queued for a player.
type MessageSent struct {
	To foretick.PlayerID
	// Session is a number for the player's stay on this server, from joining to leaving,
	// across lost and replaced connections. During a session each message is delivered
	// exactly once, in the order of its channel.
	Session uint64
	Channel int
	Tick    foretick.Tick
	Kind    uint8
	Payload []byte // the packed message; valid during the call
}

// MessageReceived is a reliable message that reached a client.
type MessageReceived struct {
	Channel int
	Tick    foretick.Tick // tick of the server in which it sent the message
	Kind    uint8
	Payload []byte // the packed message; valid during the call
}

// RequestSent is a request that a client queued.
type RequestSent struct {
	Kind    uint8  // number of the request in the server's protocol
	Payload []byte // the packed request; valid during the call
}

// RequestTaken is a player's request that the server is about to handle.
type RequestTaken struct {
	By foretick.PlayerID
	// Session is the player's stay; see MessageSent. While it lasts, each request is
	// handled exactly once, in order.
	Session uint64
	Kind    uint8
	Payload []byte // the packed request; valid during the call
}
