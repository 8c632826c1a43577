package foretick

import (
	"slices"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// sendAway ends a player's place, and its connection once the reliable messages that were sent
// to it have arrived, or after lastWords.
func (s *Server) sendAway(p *player, code transport.Code, detail string) {
	if p.session.state != playing || p.session.poisoned || p.outbox.overflowed || p.session.conn.Pending() == 0 {
		s.drop(p, code, detail)
		return
	}
	was := p.session
	waits := &player{session: session{
		peer: was.peer, conn: was.conn, identity: was.identity, address: was.address, origin: was.origin, came: was.came,
		state: refusing, since: s.clock.now, connection: was.connection, kicked: true, kickCode: code, kickText: detail,
	}}
	waits.outbox.sent, waits.schemas = netcode.NewSequenceBuffer[sentPacket](sentWindow), p.schemas // it may still ask
	s.forget(p, code, detail)
	s.sessions.add(waits)
}

// sendingAway reports whether a kicked player is still told its last messages.
func (s *sessions) sendingAway() bool {
	return slices.ContainsFunc(s.players, func(p *player) bool { return p.session.state == refusing && p.session.kicked })
}

// told reports whether a peer that is refused or kicked knows all that it is to know, or had
// its time for it.
func (s *Server) told(t time.Duration, p *player) bool {
	most := greetingTime
	if p.session.kicked {
		most = lastWords
	}
	return p.session.conn.Pending() == 0 || s.clock.lasted(t, p.session.since) > most
}

// end returns the reason with which a peer is dropped where the match closes: its own, if it
// was refused or kicked before.
func (p *player) end(code transport.Code, detail string) (transport.Code, string) {
	if p.session.state == refusing {
		return p.session.kickCode, p.session.kickText
	}
	return code, detail
}

// handleLastRequests handles what players asked who left since the last tick, before OnLeave runs
// for them.
func (s *Server) handleLastRequests() {
	for _, p := range s.sessions.asked {
		s.sessions.owners[p.owner], p.session.state = p, away // the handlers may ask who it is
		s.handleRequestsOf(p)
		s.sessions.owners[p.owner] = nil
	}
	clear(s.sessions.asked)
	s.sessions.asked = s.sessions.asked[:0]
}
