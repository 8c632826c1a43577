package server

import (
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// departures ends the connections of peers and the places of players.
type departures struct {
	endpoint  transport.Endpoint
	sessions  *sessions
	admission *admission
	interest  *interest
	requests  *requests
	late      *late.Room
	board     *board
	stats     *stats.Counters
	logs      *peerLog
	clock     *matchClock
	// limits are the limits for places that are held.
	limits placeLimits
}

// placeLimits are the fields of Config that decide for which players a place is held: ReconnectWindow,
// MaxHeldPerAddress and KeepPlaces.
type placeLimits struct {
	window     time.Duration
	mostHeld   int
	keepPlaces bool
}

// dropPeer ends a peer's connection from this side.
func (d *departures) dropPeer(p *player, code transport.Code, reason string) {
	d.endpoint.Disconnect(p.session.peer, code, reason)
	d.forgetPeer(p, code, reason)
}

// forgetPeer removes a connection that has ended, whichever end closed it. The place of a player that
// did not leave on purpose is held for a while.
func (d *departures) forgetPeer(p *player, code transport.Code, reason string) {
	if p.session.state == local {
		d.leaveMatch(p, code, reason)
		return
	}
	d.admission.charge(d.clock.now, &p.session)
	d.admission.settle(&p.session)
	if p.session.state != playing {
		if p.observing != nil {
			d.forgetObserver(p)
		}
		delete(d.sessions.byPeer, p.session.peer)
		d.sessions.remove(p)
		return
	}
	if p.session.hold = p.session.holdTime(code, d.limits.window, d.clock.interval); p.session.hold <= 0 {
		d.sessions.remember(p.session.token, code, reason)
		d.leaveMatch(p, code, reason)
		return
	}
	d.logs.Logger.Info("lost", append(p.who(), "code", code, "reason", reason)...)
	d.losePlayer(d.clock.now, p)
	d.boundAbsent(p.session.origin)
}

// losePlayer closes a player's side of a connection and holds its place.
func (d *departures) losePlayer(t time.Duration, p *player) {
	d.late.Lose(&p.late)
	d.closeConnection(p)
	p.session.state, p.session.since = away, t
	d.board.change(p)
	d.sessions.moves = append(d.sessions.moves, move{p, false})
}

// replaceConnection ends the connection of a player that came back by another connection.
func (d *departures) replaceConnection(t time.Duration, p *player) {
	d.endpoint.Disconnect(p.session.peer, transport.Replaced, "the player came back by another connection")
	d.admission.charge(d.clock.now, &p.session)
	d.admission.settle(&p.session)
	d.losePlayer(t, p)
}

// closeConnection frees everything that belonged to a connection.
func (d *departures) closeConnection(p *player) {
	delete(d.sessions.byPeer, p.session.peer)
	d.requests.drainRequests(p)
	p.countResent(d.stats)
	p.outbox.resent = 0
	p.outbox.sender.Close()
	p.session.peer, p.session.conn, p.session.kept = 0, nil, p.session.conn
}

// leaveMatch ends a player's place in the match.
func (d *departures) leaveMatch(p *player, code transport.Code, reason string) {
	d.late.Leave(&p.late)
	if p.session.state == playing {
		d.closeConnection(p)
	}
	if len(p.requests.askings) > 0 && p.session.begun && !p.session.kicked && !p.session.poisoned {
		d.sessions.asked = append(d.sessions.asked, p)
	}
	d.sessions.remove(p)
	if p.session.begun {
		d.sessions.leaving = append(d.sessions.leaving, p.owner)
	}
	d.sessions.vacate(p.owner, d.clock.now)
	if p.local != nil {
		p.local.Gone = &transport.DisconnectError{Code: code, Reason: reason}
	}
	d.dropObserversOf(p.owner)
	d.interest.showObserversAll(p)
	d.stats.Left++
	d.board.change(p)
	d.logs.Logger.Info("left", append(p.who(), "code", code, "reason", reason)...)
}

// giveUpPlace ends the hold of a place. It remembers the reason, for a player that comes back for the
// place.
func (d *departures) giveUpPlace(p *player, code transport.Code, text string) {
	d.sessions.remember(p.session.token, code, text)
	d.leaveMatch(p, code, text)
}

// boundAbsent limits the places held for one address to Config.MaxHeldPerAddress. Beyond the limit, the
// absent player that has played least loses its place.
func (d *departures) boundAbsent(origin string) {
	most := d.limits.mostHeld
	if origin == "" || most < 0 {
		return
	}
	least, n := d.sessions.yielding(func(p *player) bool { return p.session.origin == origin })
	if n > most {
		d.logs.abuse("too many places held for one address", least, "most", most)
		d.giveUpPlace(least, transport.Refused, "too many places are held for this address")
	}
}

// evictAbsent frees a place on a full server: that of the absent player that has played least. It
// returns 0 if there is none, or if Config.KeepPlaces is set.
func (d *departures) evictAbsent() foretick.PlayerID {
	if d.limits.keepPlaces {
		return 0
	}
	least, n := d.sessions.yielding(func(p *player) bool { return !p.session.kicked })
	if n == 0 {
		return 0
	}
	d.stats.PlacesTaken++
	d.logs.abuse("a newcomer took an absent player's place", least, "played", least.session.played(d.clock.interval))
	d.giveUpPlace(least, transport.Full, "the server is full, and somebody else took the place")
	return least.owner
}

// dropOverflowed ends the connections of players that do not receive their messages, because the
// messages that they miss could never be sent later.
func (d *departures) dropOverflowed() {
	for i := len(d.sessions.players) - 1; i >= 0; i-- {
		p := d.sessions.players[i]
		switch {
		case !p.outbox.overflowed:
		case p.session.state == playing, p.session.state == watching:
			d.stats.Overflowed++
			d.dropPeer(p, transport.Overflow, "did not take its messages")
		case p.session.state == away:
			d.stats.Overflowed++
			d.giveUpPlace(p, transport.Overflow, "was away for too many messages")
		}
	}
}

// dropKicked ends the places of the players that were kicked since the last tick. That calls no
// handler, so no other player is kicked meanwhile.
func (d *departures) dropKicked() {
	for _, p := range d.sessions.kicks {
		switch {
		case p.session.over: // it has left by itself
		case p.session.state == away:
			d.giveUpPlace(p, p.session.kickCode, p.session.kickText)
		default:
			d.sessions.remember(p.session.token, p.session.kickCode, p.session.kickText)
			d.sendAway(p, p.session.kickCode, p.session.kickText)
		}
	}
	clear(d.sessions.kicks)
	d.sessions.kicks = d.sessions.kicks[:0]
	if !d.sessions.sendingAway() { // a transport drops banned peers at once
		d.admission.tellBans()
	}
}

// sendAway ends a player's place. It ends the connection once the reliable messages that were sent to
// the player have arrived, or after game.LastWords.
func (d *departures) sendAway(p *player, code transport.Code, reason string) {
	if p.session.state != playing || p.session.poisoned || p.outbox.overflowed || p.session.conn.Pending() == 0 {
		d.dropPeer(p, code, reason)
		return
	}
	was := p.session
	waits := &player{session: session{
		peer: was.peer, conn: was.conn, identity: was.identity, address: was.address, origin: was.origin, came: was.came,
		state: refusing, since: d.clock.now, connection: was.connection, kicked: true, kickCode: code, kickText: reason,
	}}
	waits.outbox.sent, waits.schemas = netcode.NewSequenceBuffer[sentPacket](sentWindow), p.schemas // the peer may still ask for the schema
	d.forgetPeer(p, code, reason)
	d.sessions.add(waits)
}

// forgetObserver frees what belongs to an observer.
func (d *departures) forgetObserver(p *player) {
	p.countResent(d.stats)
	p.outbox.sender.Close()
	d.sessions.observers = slices.DeleteFunc(d.sessions.observers, func(x *player) bool { return x == p })
	d.board.listObservers()
}

// dropObserversOf disconnects the observers that had a player's view. Another player may get the
// player's number.
func (d *departures) dropObserversOf(of foretick.PlayerID) {
	for _, p := range slices.Backward(d.sessions.observers) {
		if p.observing.grant.player == of {
			d.dropPeer(p, transport.Kicked, "the player that it watched left")
		}
	}
}
