package foretick

import (
	"time"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// refusals answers peers that said hello and do not come in.
type refusals struct {
	departures *departures
	admission  *admission
	logs       *serverLog
	clock      *serverClock
	sim        *simulation
	packets    *packets
}

// turnDown ends the connection of a peer that the server has no place for.
func (r *refusals) turnDown(p *player, why figures.Refusal, kind string, code transport.Code, text string) {
	r.admission.countRefused(why)
	r.logs.abuse(kind, p)
	r.departures.dropPeer(p, code, text)
}

// refuseHello tells a peer with a code of netcode.Reject why its hello is refused.
func (r *refusals) refuseHello(t time.Duration, p *player, code uint8, text string) {
	why := figures.RefusedProtocol
	p.session.kickCode, p.session.kickText = transport.Mismatch, "another protocol"
	if code == rejectRole { // the packet may be lost: the connection's end says the same
		why = figures.RefusedObservers
		p.session.kickCode, p.session.kickText = transport.Refused, transport.CutDetail(text)
	}
	r.admission.countRefused(why)
	p.session.state, p.session.since = refusing, t
	r.sendReject(p, p.session.conn.Begin(t), code, text)
}

func (r *refusals) sendReject(p *player, pk *netcode.Packet, code uint8, text string) {
	pk.Message(netcode.MessageReject, netcode.Reject{Code: code, Protocol: r.sim.p.Hash, Text: text}.Append(nil))
	r.packets.sendPlain(p, pk)
}

// refuseProtocol refuses a peer whose game has another protocol, and describes the server's to it.
func (r *refusals) refuseProtocol(t time.Duration, p *player, h netcode.Hello) {
	r.logs.abuse("refused: another protocol", p, "theirs", h.Protocol, "ours", r.sim.p.Hash)
	r.refuseHello(t, p, rejectMismatch, "the game's protocol differs")
	_ = p.session.conn.SendReliable(r.sim.frame.Tick, kindDescribe, r.sim.p.description.of(r.sim.p))
}

// offerSchema tells a peer of another build that it may ask for the schema and then send a
// Hello for it.
func (r *refusals) offerSchema(t time.Duration, p *player, h netcode.Hello) {
	if !p.schemas.otherBuilds {
		r.logs.Logger.Info("another build", append(p.who(), "theirs", h.Protocol, "ours", r.sim.p.Hash)...)
	}
	p.schemas.otherBuilds = true
	pk := p.session.conn.Begin(t)
	p.fates(r.clock.now)
	r.sendReject(p, pk, rejectBuildDifference, "another build of the game: ask for the schema")
}

// refuseObserver refuses a peer that would observe.
func (r *refusals) refuseObserver(t time.Duration, p *player, text string) {
	r.logs.abuse("refused: observer", p, "why", text)
	r.refuseHello(t, p, rejectRole, cutText(text, netcode.MaxRejectText))
}
