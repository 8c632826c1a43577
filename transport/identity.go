package transport

import (
	"strconv"
	"time"
)

// Same decides what a server's endpoint does with a second connection of one identity. An empty identity never equals
// another.
type Same uint8

const (
	// ReplaceOld drops the first connection, with Replaced. A player that lost its connection can then reconnect
	// before the server notices the loss.
	ReplaceOld Same = iota
	// RefuseNew refuses the second connection with Refused. A thief of a token then cannot kick out the owner.
	RefuseNew
	// AllowBoth keeps both connections.
	AllowBoth
)

// String returns the rule in lower case, such as "replace old".
func (s Same) String() string {
	switch s {
	case ReplaceOld:
		return "replace old"
	case RefuseNew:
		return "refuse new"
	case AllowBoth:
		return "allow both"
	}
	return "rule " + strconv.Itoa(int(s))
}

// BanList is a server's Endpoint that knows the identity of each peer, as set by its accept hook, and can ban
// identities. Calls with an empty identity do nothing. [As] finds it.
type BanList interface {
	Endpoint

	// DisconnectIdentity is Disconnect for every peer of an identity. The endpoint also reports each by an event,
	// since the caller may not be the one that calls Recv. It returns whether there was such a peer.
	DisconnectIdentity(identity []byte, c Code, reason string) bool

	// Ban is DisconnectIdentity with Kicked. It also refuses the identity, with Refused and the reason, until the
	// given time; the zero time means until Unban or the end of the endpoint. A later Ban replaces an earlier one.
	Ban(identity []byte, until time.Time, reason string)

	// Unban ends a ban.
	Unban(identity []byte)
}
