package foretick

import (
	"time"

	"github.com/foretick/foretick/transport"
)

// giveUp ends the hold of a place, and remembers why, for a player that returns to it.
func (s *Server) giveUp(p *player, code transport.Code, text string) {
	s.sessions.remember(p.session.token, code, text)
	s.leave(p, code, text)
}

// boundAbsent limits the places held for one address to ServerConfig.MaxHeldPerAddress. Beyond
// that, the player that played least loses its place.
func (s *Server) boundAbsent(origin string) {
	most := s.cfg.MaxHeldPerAddress
	if origin == "" || most < 0 {
		return
	}
	least, n := s.sessions.yielding(func(p *player) bool { return p.session.origin == origin })
	if n > most {
		s.logs.abuse(s.clock.now, "too many places held for one address", least, "most", most)
		s.giveUp(least, transport.Refused, "too many places are held for this address")
	}
}

// drop ends a peer's connection from this side.
func (s *Server) drop(p *player, code transport.Code, detail string) {
	s.endpoint.Disconnect(p.session.peer, code, detail)
	s.forget(p, code, detail)
}

// forget removes a lost connection, whichever end closed it. A player that did not leave on
// purpose keeps its place for a while.
func (s *Server) forget(p *player, code transport.Code, detail string) {
	if p.session.state == local {
		s.leave(p, code, detail)
		return
	}
	s.admission.charge(s.clock.now, &p.session)
	s.admission.settle(&p.session)
	if p.session.state != playing {
		if p.observing != nil {
			s.forgetObserver(p)
		}
		delete(s.sessions.byPeer, p.session.peer)
		s.sessions.remove(p)
		return
	}
	if p.session.hold = p.session.holdTime(code, s.cfg.ReconnectWindow, s.clock.interval); p.session.hold <= 0 {
		s.sessions.remember(p.session.token, code, detail)
		s.leave(p, code, detail)
		return
	}
	s.cfg.Logger.Info("lost", append(p.who(), "code", code, "detail", detail)...)
	s.lose(s.clock.now, p)
	s.boundAbsent(p.session.origin)
}

// lose closes a player's side of a connection and holds its place.
func (s *Server) lose(t time.Duration, p *player) {
	s.late.block(p)
	s.disconnect(p)
	p.session.state, p.session.since = away, t
	s.board.change(p, &s.sessions, &s.stats)
	s.sessions.moves = append(s.sessions.moves, move{p, false})
}

// disconnect frees everything that belonged to a connection.
func (s *Server) disconnect(p *player) {
	delete(s.sessions.byPeer, p.session.peer)
	s.drainRequests(p)
	p.countResent(&s.stats)
	p.outbox.resent = 0
	p.outbox.sender.Close()
	p.session.peer, p.session.conn, p.session.kept = 0, nil, p.session.conn
}

// leave gives a player's place up.
func (s *Server) leave(p *player, code transport.Code, detail string) {
	s.late.block(p)
	if p.session.state == playing {
		s.disconnect(p)
	}
	if len(p.requests.askings) > 0 && p.session.begun && !p.session.kicked && !p.session.poisoned {
		s.sessions.asked = append(s.sessions.asked, p)
	}
	s.late.leave(p)
	s.sessions.remove(p)
	if p.session.begun {
		s.sessions.leaving = append(s.sessions.leaving, p.owner)
	}
	s.sessions.vacate(p.owner, s.clock.now)
	if p.local != nil {
		p.local.gone = &transport.DisconnectError{Code: code, Detail: detail}
	}
	s.dropObserversOf(p.owner)
	s.showObserversAll(p)
	s.stats.Left++
	s.board.change(p, &s.sessions, &s.stats)
	s.cfg.Logger.Info("left", append(p.who(), "code", code, "detail", detail)...)
}

// dropOverflowed ends the connections of players who do not take their messages:
// what they miss would never be made up for.
func (s *Server) dropOverflowed() {
	for i := len(s.sessions.players) - 1; i >= 0; i-- {
		p := s.sessions.players[i]
		switch {
		case !p.outbox.overflowed:
		case p.session.state == playing, p.session.state == watching:
			s.stats.Overflowed++
			s.drop(p, transport.Overflow, "did not take its messages")
		case p.session.state == away:
			s.stats.Overflowed++
			s.giveUp(p, transport.Overflow, "was away for too many messages")
		}
	}
}

// dropKicked ends the places of those who were kicked since the last tick. Leaving
// calls no handler, so nobody is added meanwhile.
func (s *Server) dropKicked() {
	for _, p := range s.sessions.kicks {
		switch {
		case p.session.over: // left by itself
		case p.session.state == away:
			s.giveUp(p, p.session.kickCode, p.session.kickText)
		default:
			s.sessions.remember(p.session.token, p.session.kickCode, p.session.kickText)
			s.sendAway(p, p.session.kickCode, p.session.kickText)
		}
	}
	clear(s.sessions.kicks)
	s.sessions.kicks = s.sessions.kicks[:0]
	if !s.sessions.sendingAway() { // a transport drops whom it bans at once
		s.admission.tellBans(s.endpoint)
	}
}
