package server

import (
	"cmp"
	"time"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// intake reads the transport's events.
type intake struct {
	endpoint   transport.Endpoint
	events     [64]transport.Event // memory for the events
	sessions   *sessions
	clock      *matchClock
	run        *progress
	admission  *admission
	departures *departures
	inbox      *inbox
}

// receiveAll reads all waiting events of the transport.
func (r *intake) receiveAll(t time.Duration) {
	for {
		n := r.endpoint.Recv(r.events[:])
		for i := range r.events[:n] {
			r.handleEvent(t, &r.events[i])
		}
		if n < len(r.events) {
			return
		}
	}
}

func (r *intake) handleEvent(t time.Duration, ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		r.admission.admitPeer(t, ev.Peer, r.run.over)
	case transport.Disconnected:
		if p := r.sessions.byPeer[ev.Peer]; p != nil {
			r.departures.forgetPeer(p, ev.Code, ev.Reason)
		}
	case transport.Data:
		if p := r.sessions.byPeer[ev.Peer]; p != nil {
			r.inbox.readPacket(r.clock.cameAt(t, ev.At), p, ev.Data)
		}
	}
}

// inbox reads the datagrams of peers.
type inbox struct {
	sim       *simulation
	sessions  *sessions
	clock     *matchClock
	panics    *panics
	offenders *offenders
	requests  *requests
	dispatch  *dispatcher
}

// readPacket reads one datagram.
func (in *inbox) readPacket(t time.Duration, p *player, b []byte) {
	in.sim.stats.PacketsIn++
	in.sim.stats.BytesIn += uint64(len(b))
	p.stats.PacketsIn++
	p.stats.BytesIn += uint64(len(b))
	p.faults.roll(t, in.clock.before, p.far())
	err := in.panics.decodePeer(p, b, func() error { return p.session.conn.Receive(t, b) })
	if p.session.poisoned {
		in.offenders.dropPoisoned(p)
		return
	}
	if p.lapsed() {
		in.offenders.dropLapsed(t, p)
		return
	}
	p.faults.received(err)
	p.shooter.Hear(in.clock.ticks(t, in.sim.frame.Tick))
	p.fates(in.clock.now)
	if err == nil { // otherwise the connection has counted it
		p = in.readMessages(t, p, b)
	}
	switch {
	case p == nil:
	case p.session.poisoned:
		in.offenders.dropPoisoned(p)
	default:
		in.offenders.answerFaults(p)
	}
}

// readMessages handles the messages of a datagram. A message may end the connection, or pass it to a
// player that comes back, to which the rest of the messages then belongs. It returns the connection's
// player, or nil if there is none.
func (in *inbox) readMessages(t time.Duration, p *player, b []byte) *player {
	n, bodies := 0, 0
	conn, peer := p.session.conn, p.session.peer
	for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() {
		if n++; m.Type == netcode.MessageCommands {
			bodies++
		}
		if n > mostMessages || bodies > commandBodies {
			in.sim.stats.Malformed++
			p.faults.fault("more messages than a packet needs")
			break
		}
		err := in.dispatch.readMessage(t, p, m, b)
		if p = in.sessions.byPeer[peer]; p == nil || p.session.poisoned {
			return p
		}
		if err != nil {
			p.countMalformed(in.sim.stats, err)
		}
	}
	in.requests.takeRequests(t, p)
	for channel := range uint8(netcode.MaxChannels) {
		if channel == standard.ChannelMain {
			continue
		}
		for r, ok := conn.NextReliableOn(channel); ok; r, ok = conn.NextReliableOn(channel) {
			if err := in.dispatch.readReliable(p, r, b); err != nil {
				p.countMalformed(in.sim.stats, err)
			}
			if p.session.poisoned {
				return p
			}
		}
	}
	for _, ok := conn.NextEvent(); ok; _, ok = conn.NextEvent() {
		p.countMalformed(in.sim.stats, netcode.ErrMalformed) // clients send messages of the game only reliably
	}
	return p
}

// dispatcher passes a peer's messages to the parts that handle them.
type dispatcher struct {
	panics   *panics
	door     *door
	commands *commands
	senders  *senders
	traces   *traceRequests
	reports  *correctionReports
	schemas  *schemaQueue
}

// readMessage handles a message of packet b, which arrived at t.
func (d *dispatcher) readMessage(t time.Duration, p *player, m netcode.Message, b []byte) error {
	switch m.Type {
	case netcode.MessageHello:
		if p.session.state != greeting || p.session.kicked {
			return nil // a reply is on its way
		}
		var h netcode.Hello
		err := d.panics.decodePeer(p, b, func() (err error) { h, err = netcode.ParseHello(m.Body); return err })
		if err != nil || p.session.poisoned {
			return err
		}
		d.door.takeHello(t, p, h)
	case netcode.MessageCommands:
		return d.commands.readCommands(t, p, m.Body, b)
	case netcode.MessageEye:
		var eye netcode.Eye
		err := d.panics.decodePeer(p, b, func() (err error) { eye, err = netcode.ParseEye(m.Body); return err })
		if err != nil || p.session.poisoned || p.observing == nil {
			return cmp.Or(err, netcode.ErrMalformed)
		}
		p.observing.eye = eye
	case game.MessageTrace:
		return d.traces.takeTrace(p, m.Body, b)
	case netcode.MessageUnread:
		var u netcode.Unread
		err := d.panics.decodePeer(p, b, func() (err error) { u, err = netcode.ParseUnread(m.Body); return err })
		if err != nil || p.session.poisoned {
			return err
		}
		d.senders.takeUnread(p, &u)
	case game.MessageReport:
		return d.reports.takeReport(p, m.Body, b)
	case netcode.MessageReady:
		if p.session.state != playing && p.session.state != watching {
			return nil
		}
		var w netcode.ClientConfig
		err := d.panics.decodePeer(p, b, func() (err error) { w, err = netcode.ParseClientConfig(m.Body); return err })
		if err != nil || p.session.poisoned {
			return err
		}
		d.senders.grantRate(p, w)
	default:
		return netcode.ErrMalformed // a server does not read these
	}
	return nil
}

// readReliable handles a request for the schema. Clients send the game's requests on channel 0
// only.
func (d *dispatcher) readReliable(p *player, r netcode.Reliable, b []byte) error {
	if r.Channel == standard.ChannelSchemas {
		return d.panics.decodePeer(p, b, func() error { return d.schemas.answerRequest(p, r) })
	}
	return netcode.ErrMalformed
}
