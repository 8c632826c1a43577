package server

import (
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// roomUsed is the share of the world's hard limits above which no new player is admitted. The rest is
// for the entities of those who play already.
const roomUsed = 0.9

// door decides about each peer that sends a hello.
type door struct {
	sim       *simulation
	sessions  *sessions
	drain     *draining
	refusals  *refusals
	observers *observers
	seats     *seats
	comebacks *comebacks
	// otherBuilds and same are Config.AllowOtherBuilds and Same.
	otherBuilds bool
	same        transport.Same
}

// takeHello handles the hello of a peer, which arrived at t.
func (d *door) takeHello(t time.Duration, p *player, h netcode.Hello) {
	reason, draining := d.drain.draining()
	switch {
	case d.drain.linger != nil:
		d.refusals.turnDown(p, stats.RefusedDraining, "refused: the server drains", transport.Closed, d.drain.linger.reason)
	case h.Version != game.HelloVersion:
		d.refusals.refuseHello(t, p, game.RejectVersion, "this server speaks another version of the library's own protocol")
	case h.Role > netcode.RoleObserve:
		d.refusals.refuseHello(t, p, game.RejectRole, fmt.Sprintf("this server does not know role %d: it takes players (0) and observers (1)", h.Role))
	case h.Protocol != d.sim.p.Hash && d.otherBuilds:
		d.refusals.offerSchema(t, p, h)
	case h.Protocol != d.sim.p.Hash:
		d.refusals.refuseProtocol(t, p, h)
	case h.Role == netcode.RoleObserve && !draining:
		d.observers.takeObserver(t, p, h)
	case d.sessions.waits(p), h.Role == netcode.RolePlay && d.comebacks.takeBack(t, p, h):
	case d.same == transport.RefuseNew && d.sessions.plays(p.session.identity):
		d.refusals.turnDown(p, stats.RefusedTwice, "refused: plays already", transport.Refused, "plays in this match already")
	case draining:
		d.refusals.turnDown(p, stats.RefusedDraining, "refused: the server drains", transport.Refused, reason)
	case d.sim.world.Used() > roomUsed:
		d.refusals.turnDown(p, stats.RefusedCombinations, "refused: the world has hardly room for more combinations of owner and components", transport.Full, "the server's world is full")
	case !d.seats.findPlace(t, p, h):
		d.refusals.turnDown(p, stats.RefusedFull, "refused: full", transport.Full, "the server is full")
	}
}

// refusals replies to peers that sent a hello and are not admitted.
type refusals struct {
	departures *departures
	admission  *admission
	logs       *peerLog
	clock      *matchClock
	sim        *simulation
	packets    *packets
}

// turnDown ends the connection of a peer that the server does not admit.
func (r *refusals) turnDown(p *player, why stats.Refusal, kind string, code transport.Code, text string) {
	r.admission.countRefused(why)
	r.logs.abuse(kind, p)
	r.departures.dropPeer(p, code, text)
}

// refuseHello sends a peer the reason why its hello is refused, with a code of netcode.Reject.
func (r *refusals) refuseHello(t time.Duration, p *player, code uint8, text string) {
	why := stats.RefusedProtocol
	p.session.kickCode, p.session.kickText = transport.Mismatch, "another protocol"
	if code == game.RejectRole { // that packet may be lost; the connection ends with the same reason
		why = stats.RefusedObservers
		p.session.kickCode, p.session.kickText = transport.Refused, transport.CutReason(text)
	}
	r.admission.countRefused(why)
	p.session.state, p.session.since = refusing, t
	r.sendReject(p, p.session.conn.Begin(t), code, text)
}

func (r *refusals) sendReject(p *player, pk *netcode.Packet, code uint8, text string) {
	pk.Message(netcode.MessageReject, netcode.Reject{Code: code, Protocol: r.sim.p.Hash, Text: text}.Append(nil))
	r.packets.sendPlain(p, pk)
}

// refuseProtocol refuses a peer with another protocol, and sends it a description of the server's.
func (r *refusals) refuseProtocol(t time.Duration, p *player, h netcode.Hello) {
	r.logs.abuse("refused: another protocol", p, "theirs", h.Protocol, "ours", r.sim.p.Hash)
	r.refuseHello(t, p, game.RejectMismatch, "the game's protocol differs")
	_ = p.session.conn.SendReliable(r.sim.frame.Tick, game.KindDescribe, r.sim.p.Description.TextOf(&r.sim.p.Facts))
}

// offerSchema tells a peer of another build that it may ask for the schema and then send a hello for
// it.
func (r *refusals) offerSchema(t time.Duration, p *player, h netcode.Hello) {
	if !p.schemas.otherBuilds {
		r.logs.Logger.Info("another build", append(p.who(), "theirs", h.Protocol, "ours", r.sim.p.Hash)...)
	}
	p.schemas.otherBuilds = true
	pk := p.session.conn.Begin(t)
	p.fates(r.clock.now)
	r.sendReject(p, pk, game.RejectBuildDifference, "another build of the game: ask for the schema")
}

// refuseObserver refuses a peer that wants to observe.
func (r *refusals) refuseObserver(t time.Duration, p *player, text string) {
	r.logs.abuse("refused: observer", p, "why", text)
	r.refuseHello(t, p, game.RejectRole, cutText(text, netcode.MaxRejectText))
}
