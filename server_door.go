package foretick

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// roomUsed is the share of the world's hard limits above which no newcomer is let in. The
// rest is for the entities of those who play already.
const roomUsed = 0.9

// door decides what becomes of a peer that says hello.
type door struct {
	sim       *simulation
	sessions  *sessions
	drain     *serverDrain
	refusals  *refusals
	observers *observers
	seats     *seats
	comebacks *comebacks
	// otherBuilds and same are ServerConfig.AllowOtherBuilds and Same.
	otherBuilds bool
	same        transport.Same
}

// takeHello handles the hello of a peer, which came at t.
func (d *door) takeHello(t time.Duration, p *player, h netcode.Hello) {
	reason, draining := d.drain.draining()
	switch {
	case d.drain.linger != nil:
		d.refusals.turnDown(p, figures.RefusedDraining, "refused: the server drains", transport.Closed, d.drain.linger.detail)
	case h.Version != helloVersion:
		d.refusals.refuseHello(t, p, rejectVersion, "this server speaks another version of the library's own protocol")
	case h.Role > netcode.RoleObserve:
		d.refusals.refuseHello(t, p, rejectRole, fmt.Sprintf("this server does not know role %d: it takes players (0) and observers (1)", h.Role))
	case h.Protocol != d.sim.p.Hash && d.otherBuilds:
		d.refusals.offerSchema(t, p, h)
	case h.Protocol != d.sim.p.Hash:
		d.refusals.refuseProtocol(t, p, h)
	case h.Role == netcode.RoleObserve && !draining:
		d.observers.takeObserver(t, p, h)
	case d.sessions.waits(p), h.Role == netcode.RolePlay && d.comebacks.takeBack(t, p, h):
	case d.same == transport.RefuseNew && d.sessions.plays(p.session.identity):
		d.refusals.turnDown(p, figures.RefusedTwice, "refused: plays already", transport.Refused, "plays in this match already")
	case draining:
		d.refusals.turnDown(p, figures.RefusedDraining, "refused: the server drains", transport.Refused, reason)
	case d.sim.world.Used() > roomUsed:
		d.refusals.turnDown(p, figures.RefusedCombinations, "refused: the world has hardly room for more combinations of owner and components", transport.Full, "the server's world is full")
	case !d.seats.findPlace(t, p, h):
		d.refusals.turnDown(p, figures.RefusedFull, "refused: full", transport.Full, "the server is full")
	}
}
