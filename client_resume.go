package foretick

import (
	"encoding/binary"
	"fmt"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// SessionKind says whether a client got its old place or a new one.
type SessionKind uint8

const (
	// SessionJoined: a new player without an earlier place.
	SessionJoined SessionKind = iota
	// SessionResumed: the player has the place that it had before.
	SessionResumed
	// SessionNewServer: a new player, because the server was restarted. It does not know
	// what the client sent to the one before (a name, a team).
	SessionNewServer
	// SessionPlaceGone: a new player, because the server gave the old place up.
	// Session.Code and Text say why, if the server still knows.
	SessionPlaceGone
)

// String names the kind.
func (k SessionKind) String() string {
	return [...]string{"joined", "resumed", "new server", "place gone"}[k&3]
}

// Session is the argument of [ClientConfig.OnSession].
type Session struct {
	Kind SessionKind
	// Code and Text say why the place is gone. They are set with SessionPlaceGone only:
	// [transport.Timeout] after too long an absence, [transport.Full] when another player
	// took the place on a full server, or the code and text of a kick. The code is
	// [transport.None] when the server no longer knows.
	Code transport.Code
	Text string
}

// resumeTokenSize is a server's number and the token of a place there.
const resumeTokenSize = 8 + 16

// ResumeToken returns the token with which another process of the same player takes its
// place: pass it to [ClientConfig.ResumeToken]. It is nil before the server first lets the
// client in, and changes when the client gets a new place. The token is a secret: anyone
// who has it can take the place.
func (c *Client) ResumeToken() []byte {
	if c.token == [16]byte{} {
		return nil
	}
	return append(binary.LittleEndian.AppendUint64(nil, c.server), c.token[:]...)
}

// checkResumeToken is the fault of a configured token, if any.
func (c *ClientConfig) checkResumeToken() error {
	if n := len(c.ResumeToken); n != 0 && n != resumeTokenSize {
		return fmt.Errorf("foretick: ClientConfig.ResumeToken has %d bytes: pass what Client.ResumeToken returned, %d bytes, or nil", n, resumeTokenSize)
	}
	return nil
}

// restore takes a configured token.
func (c *Client) restore(token []byte) {
	if len(token) == resumeTokenSize {
		c.server = binary.LittleEndian.Uint64(token)
		copy(c.token[:], token[8:])
	}
}

// session is what a Welcome makes of the client.
func (c *Client) session(w *netcode.Welcome) Session {
	switch {
	case w.Resumed:
		return Session{Kind: SessionResumed}
	case c.token == [16]byte{}:
		return Session{Kind: SessionJoined}
	case w.Server != c.server:
		return Session{Kind: SessionNewServer}
	}
	return Session{Kind: SessionPlaceGone, Code: transport.Code(w.Code), Text: w.Text}
}
