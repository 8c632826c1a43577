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

// sessions holds the players of a match, and those that come and go.
type sessions struct {
	players []*player      // players has the order of arrival. It includes those whose place is held.
	late    []*late.Player // late is the late.Player of each of players.
	byPeer  map[transport.PeerID]*player
	owners  []*player // owners has the player of each owner. 0 is unused.
	vacated []vacancy // vacated has, by owner, when its number was given up.
	given   uint64    // given is how many numbers were given up so far.

	observers []*player // observers are those that observe. They are not among players.

	joining []*player
	leaving []foretick.PlayerID
	// asked are players that left, and whose last requests are not handled yet.
	asked []*player
	// moves are the players that lost their connection or came back since the last tick, in
	// order.
	moves     []move
	kicks     []*player // kicks leave at the end of the tick.
	newcomers []newcomer
	departed  []departed // departed has the oldest first.

	serverID     uint64 // serverID tells this server from others.
	architecture string // architecture is what the server runs on.
	begun        uint64 // begun is the number of sessions so far.
	connections  uint64 // connections is the number of connections so far.
}

// move is a player that lost its connection, or came back.
type move struct {
	p    *player
	back bool
}

// newcomer waits for the tick in which the player whose place it takes leaves.
type newcomer struct {
	p     *player
	hello netcode.Hello
	place foretick.PlayerID
}

// departed is a record of a place that was given up, for a player that returns with its
// token.
type departed struct {
	token [16]byte
	code  transport.Code
	text  string
}

// maxDeparted bounds the places remembered.
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

// plays reports whether somebody with an identity is connected as a player.
func (s *sessions) plays(identity []byte) bool {
	return len(identity) > 0 && slices.ContainsFunc(s.owners, func(p *player) bool {
		return p != nil && p.session.state == playing && bytes.Equal(p.session.identity, identity)
	})
}

// vacancy is when a player's number was given up.
type vacancy struct {
	// order is how many numbers had been given up then, this one included. 0 means that the
	// number was never used.
	order uint64
	at    time.Duration // at is the time on the server's clock.
}

// numberRests is how long a number stays unused after its player left, if another is free. A
// program may still hold it, in a timer or a request to a database. What it sends to that
// number must not reach a newcomer.
const numberRests = time.Minute

// free returns the number for a newcomer, or 0 if none is free: of those that rested, the one
// that was given up first. Else it is one that nobody had yet, since a number takes memory from
// its first use on. Else it is the one that was given up first.
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

// vacate gives a player's number up.
func (s *sessions) vacate(player foretick.PlayerID, now time.Duration) {
	s.given++
	s.owners[player], s.vacated[player] = nil, vacancy{s.given, now}
}

// add adds a peer that connected.
func (s *sessions) add(p *player) {
	s.players, s.late = append(s.players, p), append(s.late, &p.late)
	s.byPeer[p.session.peer] = p
}

// remove removes a peer from the list. It must not be used after that.
func (s *sessions) remove(p *player) {
	p.session.over = true
	s.players = slices.DeleteFunc(s.players, func(x *player) bool { return x == p })
	s.late = slices.DeleteFunc(s.late, func(x *late.Player) bool { return x == &p.late })
}

// remember stores the reason why the place of a token was given up.
func (s *sessions) remember(token [16]byte, code transport.Code, text string) {
	if token == [16]byte{} {
		return
	}
	if len(s.departed) == maxDeparted {
		s.departed = slices.Delete(s.departed, 0, maxDeparted/4)
	}
	s.departed = append(s.departed, departed{token, code, text})
}

// whyGone returns the reason why the place of a token was given up. It returns false if
// this server does not know the token, or has forgotten it.
func (s *sessions) whyGone(token [16]byte) (transport.Code, string, bool) {
	for _, d := range slices.Backward(s.departed) {
		if d.token == token && token != [16]byte{} {
			return d.code, d.text, true
		}
	}
	return transport.None, "", false
}

// waits reports whether a peer takes a place in the next tick.
func (s *sessions) waits(p *player) bool {
	return slices.ContainsFunc(s.newcomers, func(n newcomer) bool { return n.p == p })
}

// yielding returns the absent player that match accepts and that loses its place first, or
// nil. It also returns the number of such players.
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

// changing reports whether hooks are to be called for players that came or went.
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

// countPlayed counts a tick for every player that played in it. commanded says that the game has
// a command.
func (s *sessions) countPlayed(t foretick.Tick, clock *matchClock, a *admission, commanded bool) {
	for _, p := range s.players {
		if p.session.state == watching && p.session.pending && clock.now-p.session.since >= settledAfter {
			a.settle(&p.session)
		}
		if p.session.state != playing {
			continue
		}
		if !commanded && p.shooter.Acked() > 0 || p.inputs.tookTick == t {
			p.session.ticksPlayed++
		}
		if p.session.pending && p.session.played(clock.interval) >= settledAfter {
			a.settle(&p.session)
		}
	}
}

// mostLevels is how many levels a player may miss on one connection: a quarter of the circle of
// their epochs.
const mostLevels = 64

// lapsed reports whether a player that is heard again was away for too long to understand what
// this connection sends, or to be understood.
func (p *player) lapsed() bool { return p.session.conn.Lapsed() || p.outbox.levels > mostLevels }
