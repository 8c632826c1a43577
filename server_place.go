package foretick

import (
	"slices"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// newcomer waits for the tick in which the player whose place it takes leaves.
type newcomer struct {
	p     *player
	hello netcode.Hello
	place PlayerID
}

// departed is what is remembered of a place that was given up, for who comes back
// with its token.
type departed struct {
	token [16]byte
	code  transport.Code
	text  string
}

// maxDeparted bounds the places remembered.
const maxDeparted = 1024

// holdTime is how long a player's place is held after a connection that ended with a
// code. It is held after what happens to connections, and not after what somebody
// wanted; and for no longer than the player played, so that who never played holds
// none. Replaced is the transport's word that the same identity is back already: it
// gets the time that it needs to say so itself.
func (s *Server) holdTime(p *player, code transport.Code) time.Duration {
	if p.kicked || s.cfg.ReconnectWindow < 0 || p.token == [16]byte{} {
		return 0
	}
	switch code {
	case transport.None, transport.Timeout, transport.Unreachable, transport.Gone:
		return min(s.cfg.ReconnectWindow, s.played(p))
	case transport.Replaced:
		return min(s.cfg.ReconnectWindow, max(s.played(p), greetingTime))
	}
	return 0
}

// played is the time that a player has played: the ticks that ran its own commands.
// A game without a command counts those in which the client is known to have the
// match.
func (s *Server) played(p *player) time.Duration {
	return time.Duration(p.ticksPlayed) * s.interval
}

// countPlayed counts a tick for everybody who played in it.
func (s *Server) countPlayed() {
	for _, p := range s.players {
		if p.state != playing {
			continue
		}
		if s.p.command == nil && p.acked > 0 || p.tookTick == s.frame.Tick {
			p.ticksPlayed++
		}
		if p.pending && s.played(p) >= settledAfter {
			s.settle(p)
		}
	}
}

// yields reports whether place a is given up before b: it played less, or as long
// and is absent for longer.
func (s *Server) yields(a, b *player) bool {
	if a.ticksPlayed != b.ticksPlayed {
		return a.ticksPlayed < b.ticksPlayed
	}
	return a.since < b.since
}

// giveUp ends the hold of a place, and remembers why for who comes back to it.
func (s *Server) giveUp(p *player, code transport.Code, text string) {
	s.remember(p.token, code, text)
	s.leave(p, code, text)
}

func (s *Server) remember(token [16]byte, code transport.Code, text string) {
	if token == [16]byte{} {
		return
	}
	if len(s.departed) == maxDeparted {
		s.departed = slices.Delete(s.departed, 0, maxDeparted/4)
	}
	s.departed = append(s.departed, departed{token, code, text})
}

// whyGone is why the place of a token was given up; false where this server does not
// know the token, or has forgotten it.
func (s *Server) whyGone(token [16]byte) (transport.Code, string, bool) {
	for _, d := range slices.Backward(s.departed) {
		if d.token == token && token != [16]byte{} {
			return d.code, d.text, true
		}
	}
	return transport.None, "", false
}

// displace finds a place on a full server: that of the absent player who played
// least. 0 if there is none, or ServerConfig.KeepPlaces is set.
func (s *Server) displace() PlayerID {
	if s.cfg.KeepPlaces {
		return 0
	}
	var least *player
	for _, p := range s.players {
		if p.state == away && !p.kicked && (least == nil || s.yields(p, least)) {
			least = p
		}
	}
	if least == nil {
		return 0
	}
	s.stats.PlacesTaken++
	s.logAbuse("a newcomer took an absent player's place", least, "played", s.played(least))
	s.giveUp(least, transport.Full, "the server is full, and somebody else took the place")
	return least.owner
}

// boundAbsent keeps the places held for one address to a quarter of all: beyond
// that the one who played least is given up.
func (s *Server) boundAbsent(origin string) {
	if origin == "" {
		return
	}
	n := 0
	var least *player
	for _, p := range s.players {
		if p.state != away || p.origin != origin {
			continue
		}
		if n++; least == nil || s.yields(p, least) {
			least = p
		}
	}
	if n > max(1, s.cfg.MaxClients/4) {
		s.logAbuse("too many places held for one address", least, "most", max(1, s.cfg.MaxClients/4))
		s.giveUp(least, transport.Refused, "too many places are held for this address")
	}
}

// admitNewcomers lets those in whose places became free in this tick.
func (s *Server) admitNewcomers() {
	for _, n := range s.newcomers {
		if s.byPeer[n.p.peer] == n.p && n.p.state == greeting && s.owners[n.place] == nil {
			s.admit(s.now, n.p, n.place, n.hello)
		}
	}
	clear(s.newcomers)
	s.newcomers = s.newcomers[:0]
}

// waits reports whether a peer is going to take a place in the next tick.
func (s *Server) waits(p *player) bool {
	return slices.ContainsFunc(s.newcomers, func(n newcomer) bool { return n.p == p })
}
