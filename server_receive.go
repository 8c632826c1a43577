package foretick

import (
	"cmp"
	"slices"
	"time"

	"github.com/foretick/foretick/figures"
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
		case p.session.state == refusing && s.told(t, p):
			s.departures.dropPeer(p, p.session.kickCode, p.session.kickText)
		}
	}
}

func (s *Server) handle(t time.Duration, ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		s.arrive(t, ev.Peer)
	case transport.Disconnected:
		if p := s.sessions.byPeer[ev.Peer]; p != nil {
			s.departures.forgetPeer(p, ev.Code, ev.Detail)
		}
	case transport.Data:
		if p := s.sessions.byPeer[ev.Peer]; p != nil {
			s.packet(s.cameAt(t, ev.At), p, ev.Data)
		}
	}
}

// cameAt returns the time of a datagram, which lies between the last Step and this one.
func (s *Server) cameAt(t time.Duration, at time.Time) time.Duration {
	if at.IsZero() {
		return t
	}
	return min(max(at.Sub(s.clock.start), s.clock.before), t)
}

func (s *Server) arrive(t time.Duration, peer transport.PeerID) {
	info := s.peerInfo(peer)
	origin := originOf(info.Addr)
	text, banned := s.admission.banned(info.Identity, s.clock.start.Add(t))
	switch {
	case s.run.over:
		s.refused(figures.RefusedDraining)
		s.endpoint.Disconnect(peer, transport.Closed, ended)
		return
	case banned:
		s.turnAway(peer, transport.Refused, &info, figures.RefusedBanned, "refused: banned", text)
		return
	case s.admission.visits.now(origin, t) < 1:
		s.turnAway(peer, transport.Full, &info, figures.RefusedTooOften, "refused: comes and goes too often", "comes and goes too often; try again in a few seconds")
		return
	case !s.admission.mayWait(origin, s.cfg.MaxWaitingPerAddress):
		s.turnAway(peer, transport.Full, &info, figures.RefusedWaiting, "refused: too many from one address do not play", "too many connections from this address do not play yet; try again in a few seconds")
		return
	}
	p := &player{session: session{peer: peer, address: info.Addr, origin: origin, came: t, since: t, conn: s.newConn(&info), identity: slices.Clone(info.Identity)}}
	p.schemas.answers.Library = &s.schemas.library
	s.admission.await(&p.session)
	p.outbox.sent = netcode.NewSequenceBuffer[sentPacket](sentWindow)
	s.sessions.add(p)
}

// peerInfo returns the transport's information about a peer, empty if it has none.
func (s *Server) peerInfo(peer transport.PeerID) (info transport.Info) {
	if !s.endpoint.Info(peer, &info) {
		return transport.Info{}
	}
	return info
}

func (s *Server) newConn(info *transport.Info) *netcode.Conn {
	return netcode.NewConn(netcode.Config{MTU: max(info.MTU, 0), Timeout: s.cfg.Timeout, Rate: s.cfg.SendRate, Channels: s.p.NetChannels(), Newcomer: true})
}

// turnAway refuses a peer before it is a player. Refused is permanent. Full is temporary,
// so a client that lost its connection tries again.
func (s *Server) turnAway(peer transport.PeerID, code transport.Code, info *transport.Info, why figures.Refusal, kind, text string) {
	s.refused(why)
	s.logs.refusal(kind, peer, info.Addr, info.Identity)
	s.endpoint.Disconnect(peer, code, text)
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
