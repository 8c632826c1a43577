package foretick

import (
	"io"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

const (
	helloVersion          = netcode.Version
	sentWindow            = 1024 // packets whose content is remembered, at most: those whose fate is open
	greetingTime          = 5 * time.Second
	kindDescribe          = 255 // reliable: the server's protocol, told to a peer of another
	rejectBuildDifference = 4   // another build: ask for the schema
	rejectMismatch        = 1
	maxSnapshotTicks      = 120
	rejectFull            = 2
	rejectVersion         = 3
)

// messageNote carries what explains a correction: see note.go.
const messageNote netcode.MessageType = 64

// receive drains the transport and drops who is silent.
func (s *Server) receive(t time.Duration) {
	s.before, s.now = s.now, t
	for {
		n := s.endpoint.Recv(s.events[:])
		for i := range s.events[:n] {
			s.handle(t, &s.events[i])
		}
		if n < len(s.events) {
			break
		}
	}
	s.visits.forget(t)
	s.forgetBans(t)
	for _, p := range slices.Backward(s.players) {
		if s.fetching(p, t) {
			p.since = t
		}
		switch {
		case p.state == away:
			if t-p.since > p.hold {
				s.giveUp(p, transport.Timeout, "did not come back in time")
			}
		case p.conn.Silent(t) > s.cfg.Timeout:
			s.drop(p, transport.Timeout, "silent for too long")
		case p.state == playing && s.dropMute(p, t):
		case p.state == greeting && t-p.since > greetingTime:
			s.logAbuse("dropped: said no hello", p)
			s.drop(p, transport.Timeout, "said no hello")
		case p.state == refusing && (p.conn.Pending() == 0 || t-p.since > greetingTime):
			s.drop(p, transport.Mismatch, "another protocol")
		}
	}
}

func (s *Server) handle(t time.Duration, ev *transport.Event) {
	switch ev.Kind {
	case transport.Connected:
		s.arrive(t, ev.Peer)
	case transport.Disconnected:
		if p := s.byPeer[ev.Peer]; p != nil {
			s.forget(p, ev.Code, ev.Detail)
		}
	case transport.Data:
		if p := s.byPeer[ev.Peer]; p != nil {
			s.packet(t, p, ev.Data)
		}
	}
}

func (s *Server) arrive(t time.Duration, peer transport.PeerID) {
	address, origin := s.address(peer)
	named, text, banned := s.identified(peer)
	switch {
	case s.over:
		s.stats.Refused++
		s.endpoint.Disconnect(peer, transport.Closed, ended)
		return
	case banned:
		s.turnAway(peer, transport.Refused, address, named, "refused: banned", text)
		return
	case s.visits.now(origin, t) < 1:
		s.turnAway(peer, transport.Full, address, named, "refused: comes and goes too often", "comes and goes too often; try again in a few seconds")
		return
	case !s.mayWait(origin):
		s.turnAway(peer, transport.Full, address, named, "refused: too many from one address do not play", "too many connections from this address do not play yet; try again in a few seconds")
		return
	}
	p := &player{peer: peer, address: address, origin: origin, came: t, since: t, conn: s.newConn(peer), named: named, answers: netcode.SchemaAnswers{Library: &s.library}}
	s.await(p)
	p.sent = netcode.NewSequenceBuffer[sentPacket](sentWindow)
	s.players = append(s.players, p)
	s.byPeer[peer] = p
}

// packet takes one datagram in.
func (s *Server) packet(t time.Duration, p *player, b []byte) {
	s.stats.PacketsIn++
	s.stats.BytesIn += uint64(len(b))
	p.stats.PacketsIn++
	p.stats.BytesIn += uint64(len(b))
	p.conduct.roll(t, s.before, p.far())
	err := s.decode(p, b, func() error { return p.conn.Receive(t, b) })
	if p.poisoned {
		s.dropPoisoned(p)
		return
	}
	p.conduct.received(err)
	p.known = moment(s.ticks(t))
	p.fates(s)
	if err == nil { // else counted by the connection
		p = s.messages(t, p, b)
	}
	switch {
	case p == nil:
	case p.poisoned:
		s.dropPoisoned(p)
	default:
		s.answerConduct(p)
	}
}

// messages takes in what a datagram carried. Any message may end the connection, or
// hand it to a player who comes back: the rest is of whoever has it then, who is
// returned; nil for nobody.
func (s *Server) messages(t time.Duration, p *player, b []byte) *player {
	n, bodies := 0, 0
	conn, peer := p.conn, p.peer
	for m, ok := conn.NextMessage(); ok; m, ok = conn.NextMessage() {
		if n++; m.Type == netcode.MessageCommands {
			bodies++
		}
		if n > mostMessages || bodies > commandBodies {
			s.stats.Malformed++
			p.conduct.fault("more messages than a packet needs")
			break
		}
		err := s.message(t, p, m, b)
		if p = s.byPeer[peer]; p == nil || p.poisoned {
			return p
		}
		if err != nil {
			s.malformed(p, err)
		}
	}
	s.takeRequests(t, p)
	for channel := range uint8(netcode.MaxChannels) {
		if channel == channelMain {
			continue
		}
		for r, ok := conn.NextReliableOn(channel); ok; r, ok = conn.NextReliableOn(channel) {
			if err := s.reliable(t, p, r, b); err != nil {
				s.malformed(p, err)
			}
			if p.poisoned {
				return p
			}
		}
	}
	for _, ok := conn.NextEvent(); ok; _, ok = conn.NextEvent() {
		s.malformed(p, netcode.ErrMalformed) // what clients send of the game's is reliable
	}
	return p
}

// reliable takes a request for the schema; clients send the game's on channel 0 alone.
func (s *Server) reliable(t time.Duration, p *player, r netcode.Reliable, b []byte) error {
	if r.Channel == channelSchemas {
		return s.decode(p, b, func() error { return s.answer(t, p, r) })
	}
	return netcode.ErrMalformed
}

func (s *Server) malformed(p *player, err error) {
	s.stats.Malformed++
	p.conduct.fault(err.Error())
}

func (p *player) fates(s *Server) {
	for f, ok := p.conn.NextFate(); ok; f, ok = p.conn.NextFate() {
		p.fate(f, s)
	}
}

// fate tells the snapshot sender what became of a packet.
func (p *player) fate(f netcode.Fate, s *Server) {
	sent := p.sent.Find(f.Seq)
	if sent == nil {
		return
	}
	p.conduct.blank.note(s.now, sent.has, f.Delivered)
	if p.decided++; f.Delivered {
		p.conduct.news = s.now
		p.welcomed = p.welcomed || sent.welcome
		p.entered = p.entered || sent.level && sent.epoch == p.epoch
	} else {
		p.lost++
	}
	// What a snapshot of another level carried is no baseline of this one.
	if sent.has && p.sender != nil && sent.epoch == p.epoch {
		if f.Delivered {
			p.sender.Delivered(&sent.snapshot)
			p.acked = max(p.acked, sent.snapshot.Tick())
			p.deliveries.note(&sent.snapshot, p.every, p.known)
		} else {
			p.sender.Lost(&sent.snapshot)
		}
	}
	p.sent.Remove(f.Seq)
}

func (s *Server) message(t time.Duration, p *player, m netcode.Message, b []byte) error {
	switch m.Type {
	case netcode.MessageHello:
		if p.state != greeting || p.kicked {
			return nil // our answer is on its way
		}
		var h netcode.Hello
		err := s.decode(p, b, func() (err error) { h, err = netcode.ParseHello(m.Body); return err })
		if err != nil || p.poisoned {
			return err
		}
		s.hello(t, p, h)
	case netcode.MessageCommands:
		if p.state == playing && p.buffer != nil {
			if s.bandwidth != nil {
				s.bandwidth.up += uint64(len(m.Body))
			}
			return s.decode(p, b, func() error {
				if newest, ok := netcode.NewestCommand(m.Body); ok && int64(newest)-int64(s.frame.Tick) > int64(distant/s.interval) {
					p.conduct.fault("a command for a distant future")
				}
				return p.buffer.Read(m.Body, s.ticks(t))
			})
		}
	case netcode.MessageReady:
		if p.state != playing {
			return nil
		}
		var w netcode.ClientConfig
		err := s.decode(p, b, func() (err error) { w, err = netcode.ParseClientConfig(m.Body); return err })
		if err != nil || p.poisoned {
			return err
		}
		s.grant(p, w)
	default:
		return netcode.ErrMalformed // not for a server
	}
	return nil
}

// ticks is the server's time in ticks: tick k is computed at k.0. A command for
// a tick that is due but not yet computed still counts as in time.
func (s *Server) ticks(t time.Duration) float64 {
	return min((t-s.slipped).Seconds()*float64(s.p.tickRate), float64(s.frame.Tick+1))
}

func (s *Server) hello(t time.Duration, p *player, h netcode.Hello) {
	switch {
	case h.Version != helloVersion:
		s.refuse(t, p, netcode.Reject{Code: rejectVersion, Protocol: s.p.Hash(), Text: "this server speaks another version of the library's own protocol"})
	case h.Protocol != s.p.Hash() && s.cfg.AllowOtherBuilds:
		s.otherBuilds(t, p, h)
	case h.Protocol != s.p.Hash():
		s.logAbuse("refused: another protocol", p, "theirs", h.Protocol, "ours", s.p.Hash())
		s.refuse(t, p, netcode.Reject{Code: rejectMismatch, Protocol: s.p.Hash(), Text: "the game's protocol differs"})
		_ = p.conn.SendReliable(s.frame.Tick, kindDescribe, []byte(s.p.Describe()))
	case s.waits(p), s.resumed(t, p, h):
	default:
		if place := s.freeOwner(); place != 0 {
			s.admit(t, p, place, h)
		} else if place = s.displace(); place != 0 {
			s.newcomers = append(s.newcomers, newcomer{p, h, place})
		} else {
			s.stats.Refused++
			s.logAbuse("refused: full", p)
			s.drop(p, transport.Full, "the server is full")
		}
	}
}

func (s *Server) refuse(t time.Duration, p *player, r netcode.Reject) {
	s.stats.Refused++
	p.state, p.since = refusing, t
	pk := p.conn.Begin(t)
	pk.Message(netcode.MessageReject, r.Append(nil))
	s.finish(p, pk, false)
}

func (s *Server) freeOwner() PlayerID {
	for i := 1; i < len(s.owners); i++ {
		if s.owners[i] == nil && !slices.Contains(s.leaving, PlayerID(i)) {
			return PlayerID(i)
		}
	}
	return 0
}

// admit makes a player of a peer.
func (s *Server) admit(t time.Duration, p *player, owner PlayerID, h netcode.Hello) {
	p.owner = owner
	if _, err := io.ReadFull(s.cfg.Random, p.token[:]); err != nil {
		p.token = [16]byte{} // without a token nobody can come back to this place
	}
	s.owners[owner] = p
	s.sessions++
	p.session = s.sessions
	p.judge = lagcomp.NewJudge(s.lag)
	if debugBuild {
		p.trails = newTrails(trailTicks)
	}
	if c := s.p.command; c != nil {
		t := c.handle.Type()
		p.command, p.last = reflect.New(t).UnsafePointer(), reflect.New(t).UnsafePointer()
	}
	s.begin(t, p, h)
	s.joining = append(s.joining, p)
	s.stats.Joined++
	if p.otherBuilds {
		s.stats.OtherBuilds++
	}
	s.postOne(p)
	line := s.who(p)
	if code, text, known := s.whyGone(h.Resume); known {
		p.lostCode, p.lostText = code, cutText(text, netcode.MaxWelcomeText)
		line = append(line, "lost_place", code, "why", text)
	}
	s.cfg.Logger.Info("joined", line...)
}

// begin starts a player's side of a connection, the first or a later one.
func (s *Server) begin(t time.Duration, p *player, h netcode.Hello) {
	p.state, p.since, p.welcomed, p.epoch, p.overflowed = playing, t, false, s.epoch, false
	p.conn.Admit()
	s.connections++
	p.conduct = conduct{window: t, news: t, blank: blank{since: t}}
	p.connection = s.connections
	p.sender = s.newSender(p)
	s.reintroduce(p)
	p.acked, p.heard, p.early = 0, false, 0
	p.deliveries.begin(s.p.tickRate)
	s.rehide(p)
	p.every, p.entered = s.everyFor(int(h.SnapshotRate)), false
	if s.p.command != nil {
		p.buffer = netcode.NewCommandBuffer(s.p.command.schema.PackedSize(), s.p.tickRate*2)
	}
}

// resumed lets a player back into its place: one that is held, or, by token, one
// whose old connection has not been noticed to be dead.
func (s *Server) resumed(t time.Duration, p *player, h netcode.Hello) bool {
	for _, old := range s.owners {
		if old == nil || old == p || old.overflowed || old.kicked || !old.resumes(p, h.Resume) {
			continue
		}
		if old.state == playing {
			s.endpoint.Disconnect(old.peer, transport.Replaced, "the player came back by another connection")
			s.brief(old)
			s.lose(t, old)
		}
		s.settle(old)
		s.remove(p)
		old.peer, old.conn, old.sent, old.named, old.answers = p.peer, p.conn, p.sent, p.named, p.answers
		old.resent = p.resent
		old.address, old.origin, old.came, old.pending = p.address, p.origin, p.came, p.pending
		p.pending = false // it is old's to release
		s.byPeer[old.peer] = old
		s.begin(t, old, h)
		old.resumed, old.lostCode, old.lostText = true, transport.None, ""
		s.takeOver(old, old.kept, h)
		old.kept = nil
		s.back = append(s.back, old)
		s.stats.Resumed++
		s.postOne(old)
		s.cfg.Logger.Info("came back", s.who(old)...)
		return true
	}
	return false
}

// welcome is what an admitted client needs to know.
func (s *Server) welcome(p *player) netcode.Welcome {
	w := netcode.Welcome{
		Owner: uint16(p.owner), TickRate: uint8(s.p.tickRate), SnapshotInterval: uint8(p.every), Tick: s.frame.Tick, Resume: p.token, Epoch: s.epoch, Taken: p.requests,
		Server: s.number, Resumed: p.resumed, Code: uint16(p.lostCode), Text: p.lostText,
	}
	if s.p.command != nil {
		w.CommandSize = uint16(s.p.command.schema.PackedSize())
	}
	return w
}

// drop ends a peer's connection from this side.
func (s *Server) drop(p *player, code transport.Code, detail string) {
	s.endpoint.Disconnect(p.peer, code, detail)
	s.forget(p, code, detail)
}

// forget takes a lost connection out, whoever ended it. A player who did not
// want to go keeps its place for a while.
func (s *Server) forget(p *player, code transport.Code, detail string) {
	s.brief(p)
	s.settle(p)
	if p.state != playing {
		delete(s.byPeer, p.peer)
		s.remove(p)
		return
	}
	if p.hold = s.holdTime(p, code); p.hold <= 0 {
		s.remember(p.token, code, detail)
		s.leave(p, code, detail)
		return
	}
	s.cfg.Logger.Info("lost", append(s.who(p), "code", code, "detail", detail)...)
	s.lose(s.now, p)
	s.boundAbsent(p.origin)
}

// lose closes a player's side of a connection and holds its place.
func (s *Server) lose(t time.Duration, p *player) {
	s.disconnect(p)
	p.state, p.since = away, t
	s.postOne(p)
	s.absent = append(s.absent, p)
}

// disconnect lets go of what belonged to a connection.
func (s *Server) disconnect(p *player) {
	delete(s.byPeer, p.peer)
	s.drainRequests(p)
	s.countResent(p)
	p.resent = 0
	p.sender.Close()
	p.peer, p.conn, p.kept = 0, nil, p.conn
}

// leave gives a player's place up.
func (s *Server) leave(p *player, code transport.Code, detail string) {
	if p.state == playing {
		s.disconnect(p)
	}
	s.remove(p)
	if p.begun {
		s.leaving = append(s.leaving, p.owner)
	}
	s.owners[p.owner] = nil
	s.stats.Left++
	s.postOne(p)
	s.cfg.Logger.Info("left", append(s.who(p), "code", code, "detail", detail)...)
}

// remove takes a peer out of the list; nobody may use it after that.
func (s *Server) remove(p *player) {
	p.over = true
	s.players = slices.DeleteFunc(s.players, func(x *player) bool { return x == p })
}

// who is what a log line says of a player.
func (s *Server) who(p *player) []any {
	return []any{"player", p.owner, "session", p.session, "peer", p.peer, "address", p.address, "identity", string(p.named)}
}

// copyBytes copies n bytes of a component.
func copyBytes(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}
