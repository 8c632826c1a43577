package rollback

import (
	"errors"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// link is the connection to the relay, and the place in the match that comes with it. After a loss it connects
// again.
type link struct {
	cfg      *Config
	protocol uint64
	rules    settled.Rules
	endpoint transport.Endpoint

	now     time.Duration
	peer    transport.PeerID
	up      bool // up is true if the transport is connected.
	conn    *netcode.Conn
	sender  *netcode.CommandSender
	welcome *settled.Welcome // welcome is the newest one. It is nil before the first.
	let     bool             // let is true if this connection was let in.
	sent    time.Duration
	err     error // err is why the link ended for good.
	lost    lostLink
	closed  bool // closed is true if the endpoint is closed, and there is no other one yet.
	faults  int  // faults counts connections that ended because a message could not be read.
	counts  linkCounts
	scratch []byte
}

// lostLink is the state of connecting again.
type lostLink struct {
	by    error         // by is why the connection was lost. It is nil while there is one.
	since time.Duration // since is when it was lost.
	next  time.Duration // next is when the next try is due.
	wait  time.Duration // wait is the time between two tries.
}

type linkCounts struct {
	bytesIn, bytesOut, malformed, connections uint64
}

const (
	helloInterval = 100 * time.Millisecond
	redialFirst   = 250 * time.Millisecond // redialFirst is the wait after the first try. It doubles with each.
	redialMost    = time.Second
	mostUnread    = 8                // mostUnread is how many connections may end because a message could not be read.
	redialTime    = 30 * time.Second // redialTime is for how long the link tries to connect again.
)

func newLink(cfg *Config, p *compiled) link {
	return link{cfg: cfg, protocol: p.Hash, rules: cfg.rules(p), endpoint: cfg.Transport}
}

// handle takes an event of the transport. It reports whether it is a packet to read.
func (l *link) handle(ev *transport.Event) bool {
	switch ev.Kind {
	case transport.Connected:
		var info transport.Info
		_ = l.endpoint.Info(ev.Peer, &info) // a peer that is gone again is told by the next event
		l.peer, l.up, l.let = ev.Peer, true, false
		l.conn = netcode.NewConn(netcode.Config{MTU: info.MTU, Secure: info.Secure, Timeout: l.cfg.Timeout, Rate: l.cfg.SendRate, Channels: settled.Channels()})
		l.sender = netcode.NewCommandSender(int(l.rules.Size), netcode.CommandConfig{Late: lateCommands, Fields: settled.Widths(l.rules.Fields)})
		l.sent = l.now - helloInterval
		l.counts.connections++
	case transport.Disconnected:
		l.lose(&transport.DisconnectError{Code: ev.Code, Reason: ev.Reason})
	case transport.Data:
		if l.up {
			l.counts.bytesIn += uint64(len(ev.Data))
			err := l.conn.Receive(l.now, ev.Data)
			if errors.Is(err, netcode.ErrMalformed) {
				l.counts.malformed++
			}
			return err == nil
		}
	}
	return false
}

// lateCommands is for how many ticks after its own a command is sent again. The relay waits for it up to
// relay.Config.Wait.
const lateCommands = 32

// watch ends a connection that is silent for too long.
func (l *link) watch() {
	if l.up && (l.conn.Silent(l.now) > l.cfg.Timeout || l.conn.Lapsed()) {
		l.drop(transport.Timeout, "the relay is silent")
	}
	if !l.up {
		return
	}
	if code, text, closed := l.conn.Closed(); closed {
		l.lose(&transport.DisconnectError{Code: transport.Code(code), Reason: text})
	}
}

// nextReliable returns the next reliable message. A world stays in its channel until the welcome of this connection has
// come, which travels on another channel and may be lost.
func (l *link) nextReliable() (netcode.Reliable, bool) {
	if r, ok := l.conn.NextReliableOn(settled.ChannelMain); ok || !l.let {
		return r, ok
	}
	return l.conn.NextReliableOn(settled.ChannelWorld)
}

// drop ends the connection from this side.
func (l *link) drop(code transport.Code, reason string) {
	l.endpoint.Disconnect(l.peer, code, reason)
	l.lose(&transport.DisconnectError{Code: code, Reason: reason})
}

// lose notes that the connection is lost. Unless one end wanted that, the link connects again.
func (l *link) lose(why *transport.DisconnectError) {
	if l.err != nil {
		return
	}
	l.up, l.let = false, false
	back := l.lost.by != nil
	switch why.Code {
	case transport.Timeout, transport.Unreachable, transport.Gone, transport.Restart:
		back = true
	case transport.Malformed: // a world of another peer may mend it, but not if it comes again and again
		l.faults++
		back = l.faults <= mostUnread
	case transport.Closed, transport.Full: // perhaps the port of a relay that ends, or what is left of the lost connection
	default:
		back = false
	}
	if !back || l.cfg.Redial == nil || l.welcome == nil {
		l.err = why
		l.cfg.Logger.Info("rollback: connection ended", "err", why)
		return
	}
	if l.lost.by != nil {
		l.lost.next = l.now + l.lost.wait
		return
	}
	l.cfg.Logger.Info("rollback: connection lost", "err", why)
	l.lost = lostLink{by: why, since: l.now, next: l.now, wait: redialFirst}
}

var errNoEndpoint = errors.New("foretick: rollback.Config.Redial returned neither an endpoint nor an error: return one of them")

// redial tries to connect again, until the time for that is over.
func (l *link) redial() {
	if l.lost.by == nil || l.up || l.err != nil || l.now < l.lost.next {
		return
	}
	if l.now-l.lost.since > redialTime {
		l.err = l.lost.by
		return
	}
	l.lost.next = l.now + l.lost.wait
	l.lost.wait = min(2*l.lost.wait, redialMost)
	if !l.closed {
		_ = l.endpoint.Close(transport.Timeout, "")
	}
	l.closed = true
	e, err := l.cfg.Redial()
	if err == nil && guard.Missing(e) {
		err = errNoEndpoint
	}
	if err != nil {
		l.lost.by = err
		return
	}
	l.endpoint, l.closed = e, false
	l.lost.next = l.now + l.cfg.Timeout // an endpoint says itself when a dial got no answer
}

// takeWelcome takes the welcome of this connection.
func (l *link) takeWelcome(body []byte) (*settled.Welcome, error) {
	w, err := settled.ReadWelcome(body)
	if err != nil {
		return nil, err
	}
	if l.let || (w.Player == 0) != l.cfg.Observe {
		return nil, netcode.ErrMalformed
	}
	l.welcome, l.let, l.lost = &w, true, lostLink{}
	return &w, nil
}

// player returns the own player, or Nobody.
func (l *link) player() (player foretick.PlayerID) {
	if l.welcome != nil {
		player = l.welcome.Player
	}
	return player
}

// sendPacket sends a packet if one is due: after new commands, and otherwise once a tick. has says which settled
// ticks the peer has. match and holds are those of the world that it goes on with.
func (l *link) sendPacket(commands bool, has settled.Presence, match uint64, holds foretick.Tick) {
	if !l.up || l.err != nil {
		return
	}
	interval := time.Second / time.Duration(l.rules.Rate)
	if !l.let {
		commands, interval = false, helloInterval
	}
	if !commands && l.now-l.sent < interval || l.conn.Paused(l.now) {
		return
	}
	l.sent = l.now
	pk := l.conn.Begin(l.now)
	l.takeFates()
	if !l.let {
		l.greet(pk, match, holds)
	} else {
		l.scratch = has.Append(l.scratch[:0])
		pk.Message(settled.MessagePresence, l.scratch)
		if l.scratch = l.sender.Append(l.scratch[:0], pk.Room()); len(l.scratch) > 0 {
			pk.Message(netcode.MessageCommands, l.scratch)
		}
	}
	_, b := pk.Finish()
	if l.endpoint.Send(l.peer, b) == nil {
		l.counts.bytesOut += uint64(len(b))
	}
}

// acknowledge drops the commands that the relay has, or whose tick is settled. What is settled need not have come.
func (l *link) acknowledge(h *settled.Head) {
	newest := h.First + foretick.Tick(h.Count) - 1 // of those that fit into the packet, which nearly always are all
	l.sender.Acked(h.Taken, netcode.Newer(h.Taken, newest))
}

// takeFates tells the sender of commands which packets arrived.
func (l *link) takeFates() {
	for f, ok := l.conn.NextFate(); ok; f, ok = l.conn.NextFate() {
		l.sender.Fate(f.Delivered)
	}
}

// greet writes a hello.
func (l *link) greet(pk *netcode.Packet, match uint64, holds foretick.Tick) {
	d := settled.Declaration{Rules: l.rules, Match: match, Holds: holds}
	h := netcode.Hello{Version: netcode.Version, Protocol: l.protocol, Data: d.Append(nil)}
	if l.cfg.Observe {
		h.Role = netcode.RoleObserve
	}
	if l.welcome != nil {
		h.Resume = l.welcome.Token
	} else {
		copy(h.Resume[:], l.cfg.ResumeToken)
	}
	l.scratch = h.Append(l.scratch[:0])
	pk.Message(netcode.MessageHello, l.scratch)
}

// close leaves the match.
func (l *link) close() error {
	if l.up {
		l.endpoint.Disconnect(l.peer, transport.Closed, "")
	}
	l.up = false
	if l.err == nil {
		l.err = &transport.DisconnectError{Code: transport.Closed}
	}
	if l.closed {
		return nil
	}
	l.closed = true
	return l.endpoint.Close(transport.Closed, "")
}
