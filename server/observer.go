package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Observer is a client that asks to observe the match, see [Config].Observe, or that observes it, see
// [Server.Observers].
type Observer struct {
	// ID tells this observer from all others of the match, also from the same client after it
	// has reconnected.
	ID uint64
	// Address is the client's address, as the transport reports it.
	Address string
	// Identity is the identity that the transport's Config.Accept returned for the client's
	// token. It is empty for a client without one.
	Identity []byte
	// Data is the client's client.Observe.Data, at most 256 bytes. A client may send
	// anything: trust Identity alone.
	Data []byte
	// Grant is what the observer may see. In Config.Observe, which decides it, it is the zero
	// Grant.
	Grant Grant
}

// Observers appends the observers of the match to dst, in order of arrival. It shares the bytes of
// their Identity and Data: do not change them. Any goroutine may call it, also while Run runs.
func (s *Server) Observers(dst []Observer) []Observer {
	p := s.board.observers.Hold()
	if p == nil {
		return dst
	}
	defer p.Release()
	return append(dst, p.Value...)
}

// KickObserver disconnects the observer with an ID at the end of the next tick, with [transport.Kicked]
// and a reason. A reason longer than 120 bytes is cut. For an observer that has left it does nothing. Its
// errors are those of [Server.Do]. Any goroutine may call it.
func (s *Server) KickObserver(id uint64, reason string) error {
	return s.Do(fmt.Sprintf("kick observer %d", id), func(*foretick.ServerFrame) {
		s.kickObservers(reason, func(_ int, o *Observer) bool { return o.ID == id })
	})
}

// kickObservers disconnects the observers that chosen accepts, by their place in the list.
func (s *Server) kickObservers(reason string, chosen func(int, *Observer) bool) {
	var places []byte
	for i, p := range s.sessions.observers {
		if chosen(i, &p.observing.who) {
			s.sessions.kick(p, transport.Kicked, reason)
			places = binary.AppendUvarint(places, uint64(i))
		}
	}
	s.tape.outside(tape.Call{Op: tape.KickObservers, Data: places, Text: reason})
}

// KickObservers kicks the observers with the places in a tape's call.
func (in *internals) KickObservers(reason string, places []byte) {
	(*Server)(in).kickObservers(reason, func(i int, _ *Observer) bool {
		place, n := binary.Uvarint(places)
		hit := n > 0 && place == uint64(i)
		if hit {
			places = places[n:]
		}
		return hit
	})
}

// Grant is what an observer may see. [Public], [OfTeam], [OfPlayer] and [Everything] make one. The zero
// Grant is Public. Grants can be compared.
type Grant struct {
	team       uint8
	player     foretick.PlayerID
	ofPlayer   bool // ofPlayer tells OfPlayer of nobody from Public.
	everything bool
	followOnly bool
}

// Public grants what every player receives, of the entities that are hidden from no player.
func Public() Grant { return Grant{} }

// OfTeam grants also the fields that a team receives, of its members and of other teams. The observer
// then sees the entities that are hidden from no player of the team. Team 0 is no team, so OfTeam(0) is
// Public.
func OfTeam(team uint8) Grant { return Grant{team: team} }

// OfPlayer grants the view of a player: its entities, its private fields, its messages and its eye. The
// observer is refused if nobody plays with this number, and disconnected when the player leaves.
func OfPlayer(player foretick.PlayerID) Grant { return Grant{player: player, ofPlayer: true} }

// Everything grants every field of every entity, and every message. Without an eye the observer receives
// the whole world. It is for tools of the operator.
func Everything() Grant { return Grant{everything: true} }

// FollowOnly returns the grant of an observer whose client.Client.SetEye is ignored. The observer can
// then only follow players, with OfTeam only those of the team.
func (g Grant) FollowOnly() Grant {
	g.followOnly = true
	return g
}

// String returns the grant in words, for logs.
func (g Grant) String() string {
	s := "public"
	switch {
	case g.team != 0:
		s = fmt.Sprintf("team %d", g.team)
	case g.ofPlayer:
		s = fmt.Sprintf("player %d", g.player)
	case g.everything:
		s = "everything"
	}
	if g.followOnly {
		s += ", to follow only"
	}
	return s
}

// observing is the state of an observer.
type observing struct {
	who   Observer
	grant Grant
	eye   netcode.Eye
}

func (g *Grant) check(s *sessions) error {
	if g.ofPlayer && s.player(g.player) == nil {
		return errNotViewed(g.player)
	}
	return nil
}

func errNotViewed(player foretick.PlayerID) error {
	return fmt.Errorf("foretick: server.Config.Observe granted the view of player %d, which does not play", player)
}

// observers admits observers.
type observers struct {
	sim      *simulation
	sessions *sessions
	senders  *senders
	refusals *refusals
	panics   *panics
	tape     *recording
	board    *board
	// observe and most are Config.Observe and MaxObservers.
	observe func(Observer) (Grant, error)
	most    int
}

// takeObserver admits a peer as an observer, if the game grants it something to see.
func (g *observers) takeObserver(t time.Duration, p *player, h netcode.Hello) {
	switch {
	case g.observe == nil:
		g.refusals.refuseObserver(t, p, "this server takes no observers")
		return
	case len(g.sessions.observers) >= g.most:
		g.refusals.turnDown(p, stats.RefusedObservers, "refused: enough observers", transport.Full, "the server takes no more observers")
		return
	}
	g.sessions.watched++
	o := &observing{who: Observer{ID: g.sessions.watched, Address: p.session.address, Identity: p.session.identity, Data: slices.Clone(h.Data)}}
	err := g.askGrant(o)
	if err == nil {
		err = o.grant.check(g.sessions)
	}
	if err != nil {
		g.refusals.refuseObserver(t, p, err.Error())
		return
	}
	o.who.Grant = o.grant
	p.observing = o
	p.session.state, p.session.since = watching, t
	p.session.conn.Admit()
	p.faults = faultsFrom(t)
	p.outbox.beginConnection(g.senders.everyFor(int(h.SnapshotRate)))
	g.sessions.observers = append(g.sessions.observers, p)
	g.senders.openSender(p)
	g.sim.stats.Observers++
	g.board.listObservers()
	g.refusals.logs.Logger.Info("observes", append(p.who(), "grant", o.grant.String())...)
}

// askGrant asks the game what an observer may see. A panic in that refuses the observer.
func (g *observers) askGrant(o *observing) error {
	err := errors.New("the server failed at what it did for this observer")
	func() {
		defer g.panics.Contain(ecs.Nobody, "Observe")
		o.grant, err = g.tape.observeGrant(g.observe, o.who)
	}()
	return err
}
