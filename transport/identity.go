package transport

import "time"

// Same is what a server's endpoint does with a second connection of one identity. An empty identity is nobody's, and so
// never the same as another.
type Same uint8

const (
	// ReplaceOld drops the first connection, with Replaced: who lost its connection need not wait until the server
	// notices.
	ReplaceOld Same = iota
	// RefuseNew refuses the second with Refused: nobody is thrown out by who stole a token.
	RefuseNew
	// AllowBoth lets both be.
	AllowBoth
)

// BanList is a server's Endpoint that knows its peers by the identity that its accept hook gave them, and keeps out
// whom it is told to. An empty identity is nobody's: nothing is done by it.
type BanList interface {
	Endpoint

	// DisconnectIdentity is Disconnect for every peer of an identity, and tells the caller of each by an event, as it may
	// not be the one who calls Recv. It reports whether there was one.
	DisconnectIdentity(identity []byte, c Code, detail string) bool

	// Ban is DisconnectIdentity with Kicked, and refuses the identity with Refused and the detail until a time; the zero
	// time: until Unban or the end of the endpoint. A later Ban takes the place of an earlier one.
	Ban(identity []byte, until time.Time, detail string)

	// Unban ends a ban.
	Unban(identity []byte)
}
