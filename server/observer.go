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

// Observer is a client that asks to observe the match: see [Config.Observe].
type Observer struct {
	// Address is the client's address, as the transport reports it.
	Address string
	// Identity is the identity that the transport's Config.Accept returned for the client's
	// token. It is empty for a client without one.
	Identity []byte
	// Data is the client's client.Config.ObserveData, at most 256 bytes. A client may send
	// anything: trust Identity alone.
	Data []byte
}

// Grant is what an observer may see. The zero Grant is public: the fields that every player
// receives, of the entities that are hidden from no player. At most one of Team, Player and
// Everything may be set.
type Grant struct {
	// Team adds the fields that this team receives, of its members and of other teams. The
	// observer then sees the entities that are hidden from no player of the team.
	Team uint8
	// Player is the player whose view the observer has: its entities, its private fields,
	// its messages and its eye. The observer is disconnected when the player leaves.
	Player foretick.PlayerID
	// Everything grants every field of every entity, and every message. Without an eye the
	// observer receives the whole world. For tools of the operator.
	Everything bool
	// FollowOnly ignores positions that the observer sends with client.Client.SetEye. It can
	// then only follow players, with Team only those of the team.
	FollowOnly bool
}

// observing is the state of an observer.
type observing struct {
	who   Observer
	grant Grant
	eye   netcode.Eye
}

func (g *Grant) check(s *sessions) error {
	set := 0
	for _, is := range [...]bool{g.Team != 0, g.Player != ecs.Nobody, g.Everything} {
		if is {
			set++
		}
	}
	switch {
	case set > 1:
		return fmt.Errorf("foretick: server.Config.Observe granted %+v: set one of Team, Player and Everything", *g)
	case g.Player != ecs.Nobody && s.player(g.Player) == nil:
		return fmt.Errorf("foretick: server.Config.Observe granted the view of player %d, which does not play", g.Player)
	}
	return nil
}

// observers admits observers.
type observers struct {
	sim      *simulation
	sessions *sessions
	senders  *senders
	refusals *refusals
	panics   *panics
	tape     *recording
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
	o := &observing{who: Observer{Address: p.session.address, Identity: p.session.identity, Data: slices.Clone(h.Data)}}
	err := g.askGrant(o)
	if err == nil {
		err = o.grant.check(g.sessions)
	}
	if err != nil {
		g.refusals.refuseObserver(t, p, err.Error())
		return
	}
	p.observing = o
	p.session.state, p.session.since = watching, t
	p.session.conn.Admit()
	p.faults = faultsFrom(t)
	p.outbox.beginConnection(g.senders.everyFor(int(h.SnapshotRate)))
	g.sessions.observers = append(g.sessions.observers, p)
	g.senders.openSender(p)
	g.sim.stats.Observers++
	g.refusals.logs.Logger.Info("observes", append(p.who(), "grant", o.grant)...)
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

// KickObservers disconnects the observers that match accepts, with [transport.Kicked] and a
// reason, and returns how many it disconnects. A reason longer than 120 bytes is cut. Called in
// a tick, they leave at the end of that tick, and otherwise at the end of the next one.
// match must not call the server.
func (s *Server) KickObservers(reason string, match func(Observer, Grant) bool) int {
	n, matched := 0, []byte(nil)
	for i, p := range s.sessions.observers {
		if match(p.observing.who, p.observing.grant) {
			s.sessions.kick(p, transport.Kicked, reason)
			n++
			matched = binary.AppendUvarint(matched, uint64(i))
		}
	}
	s.tape.outside(tape.Call{Op: tape.KickObservers, Data: matched, Text: reason})
	return n
}
