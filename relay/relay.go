package relay

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// Relay owns the time of a match and its settled inputs. It runs no game code, and knows of the game only
// the size of a command. The first player begins a match, and its settings are those of the match. The match is over
// when the last player has left, and the next player begins another. It is also over when players wait for its world and
// no player has it. They are disconnected with transport.Restart, and Redial brings them to another match.
//
// A Relay is not safe for concurrent use, except for Drain, Stats and Figures.
type Relay struct {
	cfg      Config
	endpoint transport.Endpoint
	events   [64]transport.Event
	guests   guests
	match    *match // match is nil until a player comes.

	begun  bool
	start  time.Time
	now    time.Duration // now is the time of the newest Step, since start.
	sentAt time.Duration // sentAt is when packets were sent last.
	usedAt time.Duration // usedAt is when there was a match last.
	body   []byte

	draining atomic.Pointer[string]
	closed   bool
	broke    error

	counted Stats // counted has no figures of the running match's parts. Stats.add adds those.
	shown   shownStats
}

const (
	mostMessages = 4 // mostMessages is how many messages a packet may have. An honest peer sends two.
	mostPieces   = 4 // mostPieces is how many packets a guest gets in a Step while its world waits.
)

// New returns a relay. An error lists every fault of the config.
func New(cfg Config) (*Relay, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if e, ok := transport.As[hosted](cfg.Transport); ok {
		e.StepAtOnce()
	}
	return &Relay{cfg: cfg, endpoint: cfg.Transport, guests: guests{byPeer: map[transport.PeerID]*guest{}}}, nil
}

// hosted is an endpoint that package host made. Without a call of StepAtOnce, the host steps a match once a tick.
type hosted interface{ StepAtOnce() }

// Step receives packets, settles the ticks that are due, and sends them. Call it when the transport is
// ready, and when Next says; Run does.
func (r *Relay) Step(now time.Time) {
	if r.closed {
		return
	}
	if !r.begun {
		r.begun, r.start = true, now
	}
	r.now = guard.Elapsed(&r.start, r.now, now)
	r.receive()
	r.dropSilent()
	if r.match != nil {
		progress := r.match.settleTicks(r.now)
		r.match.step(r.now, r.cfg.Timeout)
		ended := r.match.settling.ended()
		if !ended && (progress || r.now-r.sentAt >= r.interval()) {
			r.send()
		}
		switch {
		case ended:
			r.endMatch(transport.Closed, "the match is over: no match has more than 2³² ticks")
		case r.match.over():
			r.endMatch(transport.Closed, "the match is over")
		case r.match.lost():
			r.endMatch(transport.Restart, "nobody has the match's world any more: join again, and a new match begins")
		}
	}
	if r.match == nil && r.now-r.sentAt >= idle {
		r.greetObservers()
	}
	r.show()
	r.endpoint.Flush()
	r.closeUnused()
}

// closeUnused closes a relay that drains, or that nobody needs any more, once no match runs.
func (r *Relay) closeUnused() {
	switch draining := r.draining.Load(); {
	case r.match != nil:
		r.usedAt = r.now
	case draining != nil:
		_ = r.Close(*draining)
	case r.cfg.CloseAfter > 0 && r.now-r.usedAt >= r.cfg.CloseAfter:
		_ = r.Close("nobody plays any more")
	}
}

// interval is how long guests are sent nothing while no tick settles. A tick that settles is sent at once, and when it
// does varies with the paths of the inputs. So after just a tick, a packet often leaves right before that of the next
// tick. Peers that run ahead need it: it has the ticks of packets that were lost, and saves them stalls. In lockstep it is
// a quarter of a tick later, when most ticks have settled, because peers there wait for late packets anyway.
func (r *Relay) interval() time.Duration {
	tick := time.Second / time.Duration(r.match.rules.Rate)
	if r.match.rules.Window == 0 {
		return tick + tick/4
	}
	return tick
}

// idle is how often a relay without a match looks for peers that are silent.
const idle = 100 * time.Millisecond

// Next returns when Step is due at the latest, if nothing comes before.
func (r *Relay) Next() time.Time {
	if r.match == nil {
		return r.start.Add(r.now + idle)
	}
	return r.start.Add(min(r.match.settling.nextDue(r.now), r.sentAt+r.interval()))
}

// endMatch sends away who is still in the match. The next player begins another match, also one that is greeting.
func (r *Relay) endMatch(code transport.Code, reason string) {
	m := r.match
	r.counted.add(m)
	r.match = nil
	for i := len(r.guests.all) - 1; i >= 0; i-- {
		if g := r.guests.all[i]; g.state != greeting {
			r.drop(g, code, reason)
		}
	}
}

// drop ends a guest's connection.
func (r *Relay) drop(g *guest, code transport.Code, reason string) {
	r.endpoint.Disconnect(g.peer, code, reason)
	r.forget(g, code, reason, false)
}

// forget takes in that a guest is gone. goes is true if its player leaves the match.
func (r *Relay) forget(g *guest, code transport.Code, reason string, goes bool) {
	r.guests.remove(g)
	r.cfg.Logger.Info("a peer is gone", "peer", g.peer, "player", g.player, "code", code, "reason", reason)
	if r.match != nil {
		r.match.forget(g, goes)
	}
}

// dropSilent drops peers that play no player and are silent, or have sent no hello that could be taken.
func (r *Relay) dropSilent() {
	for i := len(r.guests.all) - 1; i >= 0; i-- {
		if g := r.guests.all[i]; g.player == 0 && r.now-g.heard > r.cfg.Timeout {
			r.drop(g, transport.Timeout, "nothing was received that lets the peer in")
		}
	}
}

func (r *Relay) receive() {
	for {
		n := r.endpoint.Recv(r.events[:])
		for i := range r.events[:n] {
			r.handle(&r.events[i])
		}
		if n < len(r.events) {
			return
		}
	}
}

func (r *Relay) handle(ev *transport.Event) {
	g := r.guests.byPeer[ev.Peer]
	switch {
	case ev.Kind == transport.Connected:
		r.connect(ev.Peer)
	case g == nil:
	case ev.Kind == transport.Disconnected:
		r.forget(g, ev.Code, ev.Reason, ev.Code == transport.Closed)
	case ev.Kind == transport.Data:
		r.read(g, ev.Data)
	}
}

func (r *Relay) connect(peer transport.PeerID) {
	var info transport.Info
	if !r.endpoint.Info(peer, &info) {
		return
	}
	if len(r.guests.all) >= 2*(r.cfg.Players+max(r.cfg.MaxObservers, 0))+16 {
		r.endpoint.Disconnect(peer, transport.Full, "too many peers wait to be let in: try again later")
		r.counted.Refused++
		return
	}
	if info.MTU > 0 && info.MTU < settled.MostTick+100 {
		r.endpoint.Disconnect(peer, transport.Refused, fmt.Sprintf("the transport carries packets of %d bytes, and a match needs %d", info.MTU, settled.MostTick+100))
		r.counted.Refused++
		return
	}
	conn := netcode.NewConn(netcode.Config{MTU: max(info.MTU, 0), Secure: info.Secure, Rate: r.cfg.SendRate, Channels: settled.Channels(), Newcomer: true})
	r.guests.add(&guest{peer: peer, conn: conn, heard: r.now})
}

// read reads a datagram.
func (r *Relay) read(g *guest, b []byte) {
	r.counted.PacketsIn++
	r.counted.BytesIn += uint64(len(b))
	err := g.conn.Receive(r.now, b)
	drainFates(g.conn)
	if err != nil {
		r.counted.Malformed += uint64(isMalformed(err)) // such packets may be anybody's: the guest is not blamed
		return
	}
	if g.state != greeting {
		g.heard = r.now
		if g.player != 0 {
			r.match.places.at(g.player).heard = r.now
		}
	}
	n := 0
	for m, ok := g.conn.NextMessage(); ok; m, ok = g.conn.NextMessage() {
		if n++; n > mostMessages {
			r.blame(g, netcode.ErrMalformed)
			break
		}
		if r.blame(g, r.readMessage(g, m)) {
			return
		}
	}
	for m, ok := g.conn.NextReliable(); ok; m, ok = g.conn.NextReliable() {
		if r.blame(g, r.readReliable(g, m)) {
			return
		}
	}
	if code, text, ok := g.conn.Closed(); ok {
		r.endpoint.Disconnect(g.peer, transport.Closed, "")
		r.forget(g, transport.Code(code), text, true)
	} else if g.conn.Lapsed() {
		r.drop(g, transport.Timeout, "the connection was silent for too long")
	}
}

// blame counts a message that could not be read, and reports whether the guest is gone, for that or
// another reason.
func (r *Relay) blame(g *guest, err error) (gone bool) {
	if err != nil {
		r.counted.Malformed++
		if g.faults++; g.faults > mostFaults {
			r.drop(g, transport.Malformed, "too many messages could not be read")
		}
	}
	return r.guests.byPeer[g.peer] != g
}

func (r *Relay) readMessage(g *guest, m netcode.Message) error {
	switch {
	case m.Type == netcode.MessageHello:
		if g.state != greeting {
			return nil // the welcome is on its way
		}
		h, err := netcode.ParseHello(m.Body)
		if err != nil {
			return err
		}
		if code, reason := r.takeHello(r.now, g, h); reason != "" {
			r.counted.Refused++
			r.drop(g, code, reason)
		}
		return nil
	case g.state == greeting:
		return netcode.ErrMalformed
	case m.Type == settled.MessagePresence:
		p, err := settled.ReadPresence(m.Body)
		if err != nil {
			return err
		}
		return r.match.takePresence(g, p)
	case m.Type == netcode.MessageCommands && g.player != 0:
		s := r.match.settling
		return r.match.places.at(g.player).readCommands(m.Body, r.match.clock.ticks(r.now), s.wait, s.newest)
	}
	return netcode.ErrMalformed
}

func (r *Relay) readReliable(g *guest, m netcode.Reliable) error {
	switch {
	case g.player == 0:
	case m.Kind == settled.KindSum && m.Channel == settled.ChannelMain:
		s, err := settled.ReadSum(m.Payload)
		if err == nil {
			r.match.sums.take(g.player, s)
		}
		return err
	case m.Kind == settled.KindClue && m.Channel == settled.ChannelMain:
		return r.match.passClue(g, m.Payload)
	case m.Kind == settled.KindPiece && m.Channel == settled.ChannelWorld:
		return r.match.worlds.take(r.now, g, m.Payload)
	}
	return netcode.ErrMalformed
}

// send sends every guest that was let in a packet with the ticks that it does not have.
func (r *Relay) send() {
	r.sentAt = r.now
	for _, g := range r.guests.all {
		if g.state == greeting || g.conn.Paused(r.now) {
			continue
		}
		p := g.conn.Begin(r.now)
		drainFates(g.conn)
		if r.match.settling.holds(g.holds+1) && len(r.match.settling.bytesOf(g.holds+1)) > p.Room()-settled.HeadSize {
			p.Press() // a tick must not wait for a path that has no room
		}
		r.body = r.match.appendSettled(r.body[:0], g, r.now, p.Room())
		p.Message(settled.MessageSettled, r.body)
		size := r.finish(g, p)
		for n := 1; n < mostPieces && size > netcode.MinMTU && g.conn.PendingOn(settled.ChannelWorld) > 0; n++ {
			size = r.finish(g, g.conn.Begin(r.now))
		}
	}
}

// greetObservers sends something to those that wait for a match, so that they know that the relay is there.
func (r *Relay) greetObservers() {
	r.sentAt = r.now
	for _, g := range r.guests.all {
		if g.observes && !g.conn.Paused(r.now) {
			r.finish(g, g.conn.Begin(r.now))
			drainFates(g.conn)
		}
	}
}

// finish sends a packet and returns its size.
func (r *Relay) finish(g *guest, p *netcode.Packet) int {
	_, b := p.Finish()
	if r.endpoint.Send(g.peer, b) == nil {
		r.counted.PacketsOut++
		r.counted.BytesOut += uint64(len(b))
	}
	return len(b)
}

// drainFates forgets what became of packets: everything unreliable is sent until the peer says that it
// has it.
func drainFates(c *netcode.Conn) {
	for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
	}
}

// Drain makes the relay refuse new players with [transport.Refused] and the reason. Players that lost
// their connections come back as before. Once the last player has left, the next Step closes the relay.
// Any goroutine may call Drain. The reason of the first call counts.
func (r *Relay) Drain(reason string) { r.draining.CompareAndSwap(nil, &reason) }

// Shutdown is Close: the relay holds nothing that must arrive before. It exists for hosts, and does not
// wait.
func (r *Relay) Shutdown(reason string, _ time.Duration) error { return r.Close(reason) }

// Close ends the match, tells all peers the reason, and closes the transport. A second Close returns
// [transport.ErrClosed].
func (r *Relay) Close(reason string) error {
	if r.closed {
		return transport.ErrClosed
	}
	r.closed = true
	r.broke = r.endpoint.Close(transport.Closed, reason)
	return r.broke
}
