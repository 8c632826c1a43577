package server

import (
	"bytes"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// sessions has the players of a match, and those that join and leave.
type sessions struct {
	players []*player      // all peers in the order of arrival: also observers, and players whose place is held
	late    []*late.Player // the late.Player of each of players
	byPeer  map[transport.PeerID]*player
	owners  []*player // the player with each number; 0 is unused
	vacated []vacancy // by number, when it was given up
	given   uint64    // how many numbers were given up so far

	observers []*player // in the order of arrival; they are among players too
	watched   uint64    // how many peers asked to observe so far

	joining []*player
	leaving []foretick.PlayerID
	// asked has the players that left and whose last requests are not handled yet.
	asked []*player
	// moves has the players that lost their connection or came back since the last tick, in order.
	moves     []move
	kicks     []*player // players that leave at the end of the tick
	newcomers []newcomer
	departed  []departed // the oldest is the first

	serverID     uint64 // differs from that of other servers
	architecture string // what the server runs on
	begun        uint64 // how many sessions there have been
	connections  uint64 // how many connections there have been
}

// move is a player that lost its connection or came back.
type move struct {
	p    *player
	back bool
}

// newcomer is a peer that waits for the tick in which the player whose place it gets leaves.
type newcomer struct {
	p     *player
	hello netcode.Hello
	place foretick.PlayerID
}

// departed is a record of a place that was given up, for a player that comes back with its token.
type departed struct {
	token [16]byte
	code  transport.Code
	text  string
}

// maxDeparted is how many such places are remembered.
const maxDeparted = 1024

// player returns the player with a number, or nil.
func (s *sessions) player(player foretick.PlayerID) *player {
	if int(player) >= len(s.owners) {
		return nil
	}
	return s.owners[player]
}

// lateOf returns a player's part in late inputs, or nil.
func (s *sessions) lateOf(player foretick.PlayerID) *late.Player {
	if p := s.player(player); p != nil {
		return &p.late
	}
	return nil
}

// plays reports whether a player with an identity is connected.
func (s *sessions) plays(identity []byte) bool {
	return len(identity) > 0 && slices.ContainsFunc(s.owners, func(p *player) bool {
		return p != nil && p.session.state == playing && bytes.Equal(p.session.identity, identity)
	})
}

// vacancy is when a player's number was given up.
type vacancy struct {
	// order is how many numbers had been given up by then, including this one. 0 means that the number
	// was never used.
	order uint64
	at    time.Duration // the match's time
}

// numberRests is for how long a number stays unused after its player has left, if another one is free.
// A program may still have the number, in a timer or a request to a database, and its messages to that
// number must not reach a new player.
const numberRests = time.Minute

// free returns a number for a new player, or 0 if none is free. It prefers the number that was given up
// first, if that was at least numberRests ago. Otherwise it is one that no player has had, because a
// number takes memory from its first use on; or else the one that was given up first.
func (s *sessions) free(now time.Duration) foretick.PlayerID {
	var longest, fresh foretick.PlayerID
	for i := 1; i < len(s.owners); i++ {
		number := foretick.PlayerID(i)
		switch {
		case s.owners[i] != nil || slices.Contains(s.leaving, number):
		case s.vacated[i].order == 0:
			if fresh == 0 {
				fresh = number
			}
		case longest == 0 || s.vacated[i].order < s.vacated[longest].order:
			longest = number
		}
	}
	if fresh != 0 && (longest == 0 || now-s.vacated[longest].at < numberRests) {
		return fresh
	}
	return longest
}

// vacate frees a player's number.
func (s *sessions) vacate(player foretick.PlayerID, now time.Duration) {
	s.given++
	s.owners[player], s.vacated[player] = nil, vacancy{s.given, now}
}

// add adds a peer that has connected.
func (s *sessions) add(p *player) {
	s.players, s.late = append(s.players, p), append(s.late, &p.late)
	s.byPeer[p.session.peer] = p
}

// remove removes a peer. The peer must not be used after that.
func (s *sessions) remove(p *player) {
	p.session.over = true
	s.players = slices.DeleteFunc(s.players, func(x *player) bool { return x == p })
	s.late = slices.DeleteFunc(s.late, func(x *late.Player) bool { return x == &p.late })
}

// remember stores why the place of a token was given up.
func (s *sessions) remember(token [16]byte, code transport.Code, text string) {
	if token == [16]byte{} {
		return
	}
	if len(s.departed) == maxDeparted {
		s.departed = slices.Delete(s.departed, 0, maxDeparted/4)
	}
	s.departed = append(s.departed, departed{token, code, text})
}

// whyGone returns why the place of a token was given up. It returns false if this server does not know
// the token, or has forgotten it.
func (s *sessions) whyGone(token [16]byte) (transport.Code, string, bool) {
	for _, d := range slices.Backward(s.departed) {
		if d.token == token && token != [16]byte{} {
			return d.code, d.text, true
		}
	}
	return transport.None, "", false
}

// waits reports whether a peer gets a place in the next tick.
func (s *sessions) waits(p *player) bool {
	return slices.ContainsFunc(s.newcomers, func(n newcomer) bool { return n.p == p })
}

// yielding returns the absent player that match accepts and that would lose its place first, or nil. It
// also returns the number of such players.
func (s *sessions) yielding(match func(*player) bool) (first *player, n int) {
	for _, p := range s.players {
		if p.session.state != away || !match(p) {
			continue
		}
		if n++; first == nil || p.session.yields(&first.session) {
			first = p
		}
	}
	return first, n
}

// changing reports whether hooks must be called for players that joined, left or moved.
func (s *sessions) changing() bool {
	return len(s.leaving)+len(s.newcomers)+len(s.joining)+len(s.moves) > 0
}

// pendingMessages returns how many reliable messages are not acknowledged.
func (s *sessions) pendingMessages() (n int) {
	for _, p := range s.players {
		if p.connected() {
			n += p.session.conn.Pending()
		}
	}
	return n
}

// countPlayed counts a tick for every player that played in it. commanded is true if the game has a
// command.
func (s *sessions) countPlayed(t foretick.Tick, clock *matchClock, a *admission, commanded bool) {
	for _, p := range s.players {
		if p.session.state == watching && p.session.pending && clock.now-p.session.since >= provenAfter {
			a.settle(&p.session)
		}
		if p.session.state != playing {
			continue
		}
		if !commanded && p.shooter.Acked() > 0 || p.inputs.tookTick == t {
			p.session.ticksPlayed++
		}
		if p.session.pending && p.session.played(clock.interval) >= provenAfter {
			a.settle(&p.session)
		}
	}
}

// mostLevels is how many levels a player may miss on one connection: a quarter of the number of epochs.
const mostLevels = 64

// lapsed reports whether a player from which a packet has arrived was silent for so long that the ends
// of this connection can no longer understand each other.
func (p *player) lapsed() bool { return p.session.conn.Lapsed() || p.outbox.levels > mostLevels }
