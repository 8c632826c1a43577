package foretick

import (
	"cmp"
	"slices"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// receive drains the transport and drops silent peers. The mail comes first, and who was silent
// while the server stood still has all of its time again.
func (s *Server) receive(t time.Duration) {
	s.clock.step(t, s.sim.frame.Tick)
	for {
		n := s.endpoint.Recv(s.events[:])
		for i := range s.events[:n] {
			s.handle(t, &s.events[i])
		}
		if n < len(s.events) {
			break
		}
	}
	s.admission.sweep(s.clock.start, t)
	rested := s.clock.rested(s.cfg.Timeout)
	for _, p := range slices.Backward(s.sessions.players) {
		if p.session.state == local {
			continue
		}
		if s.clock.fetches(p, t, s.cfg.Timeout) {
			p.session.since = t
		}
		switch {
		case p.session.state == away:
			if s.clock.lasted(t, p.session.since) > p.session.hold {
				s.departures.giveUpPlace(p, transport.Timeout, "did not come back in time")
			}
		case rested && p.session.conn.Silent(t) > s.cfg.Timeout:
			s.departures.dropPeer(p, transport.Timeout, "silent for too long")
		case rested && (p.session.state == playing || p.session.state == watching) && s.offenders.dropMute(p, t):
		case p.session.state == greeting && s.clock.lasted(t, p.session.since) > greetingTime:
			s.logs.abuse("dropped: said no hello", p)
			s.departures.dropPeer(p, transport.Timeout, "said no hello")
		case p.session.state == refusing && p.knowsAll(t, &s.clock):
			s.departures.dropPeer(p, p.session.kickCode, p.session.kickText)
		}
	}
}

func (s *Server) handle(t time.Duration, ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		s.admission.admitPeer(t, ev.Peer, s.run.over)
	case transport.Disconnected:
		if p := s.sessions.byPeer[ev.Peer]; p != nil {
			s.departures.forgetPeer(p, ev.Code, ev.Detail)
		}
	case transport.Data:
		if p := s.sessions.byPeer[ev.Peer]; p != nil {
			s.packet(s.clock.cameAt(t, ev.At), p, ev.Data)
		}
	}
}

// packet reads one datagram.
func (s *Server) packet(t time.Duration, p *player, b []byte) {
	s.stats.PacketsIn++
	s.stats.BytesIn += uint64(len(b))
	p.stats.PacketsIn++
	p.stats.BytesIn += uint64(len(b))
	p.faults.roll(t, s.clock.before, p.far())
	err := s.panics.decodePeer(p, b, func() error { return p.session.conn.Receive(t, b) })
	if p.session.poisoned {
		s.offenders.dropPoisoned(p)
		return
	}
	if p.lapsed() {
		s.offenders.dropLapsed(t, p)
		return
	}
	p.faults.received(err)
	p.shooter.Hear(s.clock.ticks(t, s.sim.frame.Tick))
	p.fates(s.clock.now)
	if err == nil { // else counted by the connection
		p = s.messages(t, p, b)
	}
	switch {
	case p == nil:
	case p.session.poisoned:
		s.offenders.dropPoisoned(p)
	default:
		s.offenders.answerFaults(p)
	}
}

// messages handles the messages of a datagram. A message may end the connection, or hand it
// to a returning player, to whom the rest then belongs. It returns the connection's player,
// nil if there is none.
func (s *Server) messages(t time.Duration, p *player, b []byte) *player {
	n, bodies := 0, 0
	conn, peer := p.session.conn, p.session.peer
	for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() {
		if n++; m.Type == netcode.MessageCommands {
			bodies++
		}
		if n > mostMessages || bodies > commandBodies {
			s.stats.Malformed++
			p.faults.fault("more messages than a packet needs")
			break
		}
		err := s.message(t, p, m, b)
		if p = s.sessions.byPeer[peer]; p == nil || p.session.poisoned {
			return p
		}
		if err != nil {
			p.countMalformed(&s.stats, err)
		}
	}
	s.requests.takeRequests(t, p)
	for channel := range uint8(netcode.MaxChannels) {
		if channel == standard.ChannelMain {
			continue
		}
		for r, ok := conn.NextReliableOn(channel); ok; r, ok = conn.NextReliableOn(channel) {
			if err := s.reliable(t, p, r, b); err != nil {
				p.countMalformed(&s.stats, err)
			}
			if p.session.poisoned {
				return p
			}
		}
	}
	for _, ok := conn.NextEvent(); ok; _, ok = conn.NextEvent() {
		p.countMalformed(&s.stats, netcode.ErrMalformed) // what clients send of the game's is reliable
	}
	return p
}

func (s *Server) message(t time.Duration, p *player, m netcode.Message, b []byte) error {
	switch m.Type {
	case netcode.MessageHello:
		if p.session.state != greeting || p.session.kicked {
			return nil // our answer is on its way
		}
		var h netcode.Hello
		err := s.panics.decodePeer(p, b, func() (err error) { h, err = netcode.ParseHello(m.Body); return err })
		if err != nil || p.session.poisoned {
			return err
		}
		s.hello(t, p, h)
	case netcode.MessageCommands:
		if p.observing != nil {
			return netcode.ErrMalformed
		}
		if p.session.state == playing && p.inputs.buffer != nil {
			if s.bandwidth != nil {
				s.bandwidth.up += uint64(len(m.Body))
			}
			return s.panics.decodePeer(p, b, func() error {
				if newest, ok := netcode.NewestCommand(m.Body, s.sim.frame.Tick); ok && int64(newest)-int64(s.sim.frame.Tick) > int64(distant/s.clock.interval) && s.clock.rested(guard.DefaultTimeout) {
					p.faults.fault("a command for a distant future")
				}
				if s.late.world.on {
					p.fates(t) // what this packet acknowledges
					p.inputs.buffer.Knows(p.shooter.Acked())
				}
				return p.inputs.buffer.Read(m.Body, s.clock.ticks(t, s.sim.frame.Tick))
			})
		}
	case netcode.MessageEye:
		var eye netcode.Eye
		err := s.panics.decodePeer(p, b, func() (err error) { eye, err = netcode.ParseEye(m.Body); return err })
		if err != nil || p.session.poisoned || p.observing == nil {
			return cmp.Or(err, netcode.ErrMalformed)
		}
		p.observing.eye = eye
	case messageTrace:
		if p.session.state != playing && p.observing == nil {
			return nil
		}
		a, err := s.traces.traced(p, m.Body)
		if a == nil {
			return err
		}
		return s.panics.decodePeer(p, b, func() error { return a.piece(m.Body) })
	case netcode.MessageUnread:
		return s.takeUnread(p, m.Body, b)
	case messageReport:
		return s.takeReport(p, m.Body, b)
	case netcode.MessageReady:
		if p.session.state != playing && p.session.state != watching {
			return nil
		}
		var w netcode.ClientConfig
		err := s.panics.decodePeer(p, b, func() (err error) { w, err = netcode.ParseClientConfig(m.Body); return err })
		if err != nil || p.session.poisoned {
			return err
		}
		s.grant(p, w)
	default:
		return netcode.ErrMalformed // not for a server
	}
	return nil
}

// reliable handles a request for the schema. Clients send the game's requests on channel 0
// only.
func (s *Server) reliable(t time.Duration, p *player, r netcode.Reliable, b []byte) error {
	if r.Channel == standard.ChannelSchemas {
		return s.panics.decodePeer(p, b, func() error { return s.schemas.answerRequest(s.sim.frame.Tick, p, r) })
	}
	return netcode.ErrMalformed
}
