package foretick

import (
	"encoding/binary"
	"fmt"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// SessionKind says what a client is to the server that let it in.
type SessionKind uint8

const (
	// SessionJoined: a new player, who had no place before.
	SessionJoined SessionKind = iota
	// SessionResumed: the player has the place that it had before.
	SessionResumed
	// SessionNewServer: a new player, because the server was restarted. What the
	// client told the server before (a name, a team) is not known there.
	SessionNewServer
	// SessionPlaceGone: a new player, because the place was given up. Session.Code
	// and Text say why, unless it was too long ago.
	SessionPlaceGone
)

// String names the kind.
func (k SessionKind) String() string {
	return [...]string{"joined", "resumed", "new server", "place gone"}[k&3]
}

// Session is what [ClientConfig.OnSession] is told.
type Session struct {
	Kind SessionKind
	// Code and Text say why the place is gone, with SessionPlaceGone:
	// [transport.Timeout] after an absence that was too long, [transport.Full] where
	// somebody else took the place on a full server, or what a kick said. The code is
	// [transport.None] where the server does not know any more.
	Code transport.Code
	Text string
}

// resumeTokenSize is a server's number and the token of a place there.
const resumeTokenSize = 8 + 16

// ResumeToken is what another process of this player's needs to take the place over:
// give it to [ClientConfig.ResumeToken]. It changes when the server lets the player in
// anew; nil before the first time. Keep it where the player's other secrets are:
// whoever has it can take the place.
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
