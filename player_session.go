package foretick

import (
	"bytes"
	"crypto/subtle"
	"time"
	"unicode/utf8"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// session is a player's connection and its stay in the match.
type session struct {
	peer transport.PeerID
	conn *netcode.Conn
	kept *netcode.Conn // the lost connection, while away: its reliable messages wait

	token    [16]byte // what the player comes back with
	identity []byte   // from the transport; empty: unknown
	address  string   // where it comes from, for logs
	origin   string   // what limits by address go by; empty: none
	pending  bool     // counts among its origin's connections that do not play yet

	state       playerState
	since       time.Duration // when it entered this state
	came        time.Duration // when the connection began
	connection  uint64        // its number among all of the server's
	number      uint64        // and that of its stay
	ticksPlayed uint64        // ticks that ran a command of its own, over all of its connections
	hold        time.Duration // while away: how long its place is held

	begun    bool           // its OnJoin ran, or began to
	resumed  bool           // it has the place that it had before
	lostCode transport.Code // else why the place of its token is gone
	lostText string

	over     bool // it is among the players no more
	poisoned bool // decoding what it sent panicked
	kicked   bool // leaves at the end of the tick
	kickCode transport.Code
	kickText string
}

// playerSchemas is what a client of another build of the game asked for.
type playerSchemas struct {
	otherBuilds bool // it was told to ask for the schema
	asked       bool // it did: it has time to read
	answers     netcode.SchemaAnswers
}

// greetingTime is how long a peer may take to say Hello.
const greetingTime = 5 * time.Second

// playerState is how far a peer has come.
type playerState uint8

const (
	greeting playerState = iota // the transport is up, no Hello yet
	refusing                    // it cannot come in: telling the peer why
	watching                    // it observes, and is no player
	playing
	away  // lost its connection; the place is held
	local // of this process: it has no connection, see localPlayer
)

// resumes reports whether a new connection may take this session's place. It may if it
// shows the place's token, or has the same identity and the player is away, or plays and same
// says that the old connection goes. A connection of another identity never may, whatever
// it shows.
func (s *session) resumes(by *session, token [16]byte, same transport.Same) bool {
	if !bytes.Equal(s.identity, by.identity) {
		return false
	}
	return s.holds(token) || len(s.identity) > 0 && (s.state == away || same == transport.ReplaceOld && s.state == playing)
}

// holds reports whether a token is that of the session's place.
func (s *session) holds(token [16]byte) bool {
	return token != [16]byte{} && subtle.ConstantTimeCompare(s.token[:], token[:]) == 1
}

// holdTime returns the time for which a place is held after a connection ended with a code.
// A place is held after a fault of the connection, but not if either end closed it on
// purpose. It is held for at most the time that the player has played, so a player that
// never played holds none. Replaced means that the transport sees the same identity again:
// the place is held until that connection can ask for it.
func (s *session) holdTime(code transport.Code, window, interval time.Duration) time.Duration {
	if s.kicked || window < 0 || s.token == [16]byte{} {
		return 0
	}
	switch code {
	case transport.None, transport.Timeout, transport.Unreachable, transport.Gone:
		return min(window, s.played(interval))
	case transport.Replaced:
		return min(window, max(s.played(interval), greetingTime))
	}
	return 0
}

// played returns the time that a player has played: the ticks that ran its own commands. In
// a game without a command, these are the ticks in which the client is known to have the
// match.
func (s *session) played(interval time.Duration) time.Duration {
	return time.Duration(s.ticksPlayed) * interval
}

// yields reports whether this place is given up before another: its player played less, or
// played equally long and has been absent longer.
func (s *session) yields(other *session) bool {
	if s.ticksPlayed != other.ticksPlayed {
		return s.ticksPlayed < other.ticksPlayed
	}
	return s.since < other.since
}

// queue returns the connection that a player's messages wait in: the current one, or the
// lost one.
func (s *session) queue() *netcode.Conn {
	if s.state == away {
		return s.kept
	}
	return s.conn
}

// cutText cuts a text to at most a number of bytes, between two runes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
