package foretick

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// sessions holds the players of a match, and those that come and go.
type sessions struct {
	players []*player // in order of arrival, those who are held a place included
	byPeer  map[transport.PeerID]*player
	owners  []*player // by owner; 0 unused
	vacated []vacancy // by owner: when its number was given up
	given   uint64    // numbers given up so far

	observers []*player // of them, those that observe

	joining   []*player
	leaving   []PlayerID
	asked     []*player // left, and their last requests are not handled yet
	moves     []move    // players that lost their connection or came back since the last tick, in order
	kicks     []*player // leave at the end of the tick
	newcomers []newcomer
	departed  []departed // oldest first

	serverID     uint64 // tells this server from others
	architecture string // that it runs on
	begun        uint64 // sessions so far
	connections  uint64 // likewise
}

// move is a player that lost its connection, or came back.
type move struct {
	p    *player
	back bool
}

// newcomer waits for the tick in which the player whose place it takes leaves.
type newcomer struct {
	p     *player
	hello netcode.Hello
	place PlayerID
}

// departed is a record of a place that was given up, for a player that returns with its
// token.
type departed struct {
	token [16]byte
	code  transport.Code
	text  string
}

// maxDeparted bounds the places remembered.
const maxDeparted = 1024

// player returns the player with a number, or nil.
func (s *sessions) player(player PlayerID) *player {
	if int(player) >= len(s.owners) {
		return nil
	}
	return s.owners[player]
}

// plays reports whether somebody with an identity is connected as a player.
func (s *sessions) plays(identity []byte) bool {
	return len(identity) > 0 && slices.ContainsFunc(s.owners, func(p *player) bool {
		return p != nil && p.session.state == playing && bytes.Equal(p.session.identity, identity)
	})
}

// vacancy is when a player's number was given up.
type vacancy struct {
	order uint64        // how many had been given up then, this one included; 0: the number was never used
	at    time.Duration // by the server's clock
}

// numberRests is how long a number stays unused after its player left, if another is free. A
// program may still hold it, in a timer or a request to a database. What it sends to that
// number must not reach a newcomer.
const numberRests = time.Minute

// free returns the number for a newcomer, or 0 if none is free: of those that rested, the one
// that was given up first. Else it is one that nobody had yet, since a number takes memory from
// its first use on. Else it is the one that was given up first.
func (s *sessions) free(now time.Duration) PlayerID {
	var longest, fresh PlayerID
	for i := 1; i < len(s.owners); i++ {
		number := PlayerID(i)
		switch {
		case s.owners[i] != nil || slices.Contains(s.leaving, number):
		case s.vacated[i].order == 0:
			if fresh == 0 {
				fresh = number
			}
		case longest == 0 || s.vacated[i].order < s.vacated[longest].order:
			longest = number
		}
	}
	if fresh != 0 && (longest == 0 || now-s.vacated[longest].at < numberRests) {
		return fresh
	}
	return longest
}

// vacate gives a player's number up.
func (s *sessions) vacate(player PlayerID, now time.Duration) {
	s.given++
	s.owners[player], s.vacated[player] = nil, vacancy{s.given, now}
}

// add adds a peer that connected.
func (s *sessions) add(p *player) {
	s.players = append(s.players, p)
	s.byPeer[p.session.peer] = p
}

// remove removes a peer from the list. It must not be used after that.
func (s *sessions) remove(p *player) {
	p.session.over = true
	s.players = slices.DeleteFunc(s.players, func(x *player) bool { return x == p })
}

// remember stores the reason why the place of a token was given up.
func (s *sessions) remember(token [16]byte, code transport.Code, text string) {
	if token == [16]byte{} {
		return
	}
	if len(s.departed) == maxDeparted {
		s.departed = slices.Delete(s.departed, 0, maxDeparted/4)
	}
	s.departed = append(s.departed, departed{token, code, text})
}

// whyGone returns the reason why the place of a token was given up. It returns false if
// this server does not know the token, or has forgotten it.
func (s *sessions) whyGone(token [16]byte) (transport.Code, string, bool) {
	for _, d := range slices.Backward(s.departed) {
		if d.token == token && token != [16]byte{} {
			return d.code, d.text, true
		}
	}
	return transport.None, "", false
}

// waits reports whether a peer takes a place in the next tick.
func (s *sessions) waits(p *player) bool {
	return slices.ContainsFunc(s.newcomers, func(n newcomer) bool { return n.p == p })
}

// yielding returns the absent player that match accepts and that loses its place first, or
// nil. It also returns the number of such players.
func (s *sessions) yielding(match func(*player) bool) (first *player, n int) {
	for _, p := range s.players {
		if p.session.state != away || !match(p) {
			continue
		}
		if n++; first == nil || p.session.yields(&first.session) {
			first = p
		}
	}
	return first, n
}

// changing reports whether hooks are to be called for players that came or went.
func (s *sessions) changing() bool {
	return len(s.leaving)+len(s.newcomers)+len(s.joining)+len(s.moves) > 0
}

// pendingMessages returns how many reliable messages are not acknowledged.
func (s *sessions) pendingMessages() (n int) {
	for _, p := range s.players {
		if p.connected() {
			n += p.session.conn.Pending()
		}
	}
	return n
}

// roomUsed is the share of the world's hard limits above which no newcomer is let in. The
// rest is for the entities of those who play already.
const roomUsed = 0.9

func (s *Server) hello(t time.Duration, p *player, h netcode.Hello) {
	reason, draining := s.drain.draining()
	switch {
	case s.drain.linger != nil:
		s.refusals.turnDown(p, figures.RefusedDraining, "refused: the server drains", transport.Closed, s.drain.linger.detail)
	case h.Version != helloVersion:
		s.refusals.refuseHello(t, p, rejectVersion, "this server speaks another version of the library's own protocol")
	case h.Role > netcode.RoleObserve:
		s.refusals.refuseHello(t, p, rejectRole, fmt.Sprintf("this server does not know role %d: it takes players (0) and observers (1)", h.Role))
	case h.Protocol != s.p.Hash && s.cfg.AllowOtherBuilds:
		s.refusals.offerSchema(t, p, h)
	case h.Protocol != s.p.Hash:
		s.logs.abuse("refused: another protocol", p, "theirs", h.Protocol, "ours", s.p.Hash)
		s.refusals.refuseHello(t, p, rejectMismatch, "the game's protocol differs")
		_ = p.session.conn.SendReliable(s.sim.frame.Tick, kindDescribe, s.p.description.of(s.p))
	case h.Role == netcode.RoleObserve && !draining:
		s.observer(t, p, h)
	case s.sessions.waits(p), h.Role == netcode.RolePlay && s.resumed(t, p, h):
	case s.cfg.Same == transport.RefuseNew && s.sessions.plays(p.session.identity):
		s.refusals.turnDown(p, figures.RefusedTwice, "refused: plays already", transport.Refused, "plays in this match already")
	case draining:
		s.refusals.turnDown(p, figures.RefusedDraining, "refused: the server drains", transport.Refused, reason)
	case s.sim.world.Used() > roomUsed:
		s.refusals.turnDown(p, figures.RefusedCombinations, "refused: the world has hardly room for more combinations of owner and components", transport.Full, "the server's world is full")
	default:
		if place := s.sessions.free(s.clock.now); place != 0 {
			s.admit(t, p, place, h)
		} else if place = s.departures.displaceAbsent(); place != 0 {
			s.sessions.newcomers = append(s.sessions.newcomers, newcomer{p, h, place})
		} else {
			s.refusals.turnDown(p, figures.RefusedFull, "refused: full", transport.Full, "the server is full")
		}
	}
}

// admit makes a peer a player.
func (s *Server) admit(t time.Duration, p *player, owner PlayerID, h netcode.Hello) {
	if _, err := io.ReadFull(s.cfg.Random, p.session.token[:]); err != nil {
		p.session.token = [16]byte{} // without a token nobody can come back to this place
	}
	s.seat(p, owner)
	s.begin(t, p, h)
	if p.schemas.otherBuilds {
		s.stats.OtherBuilds++
	}
	s.board.change(p, &s.sessions, &s.stats)
	line := p.who()
	line = append(line, "architecture", h.Architecture)
	if code, text, known := s.sessions.whyGone(h.Resume); known {
		p.session.lostCode, p.session.lostText = code, cutText(text, netcode.MaxWelcomeText)
		line = append(line, "lost_place", code, "why", text)
	}
	s.logs.Logger.Info("joined", line...)
}

// seat gives a new player its place.
func (s *Server) seat(p *player, owner PlayerID) {
	p.owner = owner
	s.sessions.owners[owner] = p
	s.sessions.begun++
	p.session.number = s.sessions.begun
	p.shooter.Join(s.past, uint32(owner), p)
	if debugBuild {
		p.trail = reason.NewTrail(reason.TrailTicks)
	}
	if c := s.p.Command; c != nil {
		t := c.Handle.Type()
		p.inputs.command, p.inputs.last = reflect.New(t).UnsafePointer(), reflect.New(t).UnsafePointer()
	}
	s.sessions.joining = append(s.sessions.joining, p)
	s.stats.Joined++
}

// begin starts a player's side of a connection, the first or a later one.
func (s *Server) begin(t time.Duration, p *player, h netcode.Hello) {
	p.session.state, p.session.since, p.outbox.welcomed, p.outbox.epoch, p.outbox.overflowed = playing, t, false, s.level.epoch, false
	p.session.conn.Admit()
	p.outbox.levels = 0
	s.sessions.connections++
	p.faults = peerFaults{window: t, news: t, blank: blank{since: t}}
	p.session.connection = s.sessions.connections
	p.outbox.sender = s.newSender(p)
	s.interest.reintroducePlayer(p)
	p.inputs.heard, p.inputs.early, p.inputs.buffered, p.inputs.render = false, 0, 0, 0
	p.shooter.Connect()
	s.interest.rehidePlayer(p)
	p.outbox.every, p.outbox.entered = s.senders.everyFor(s.p.TickRate, int(h.SnapshotRate)), false
	if s.p.Command != nil {
		p.inputs.addTo(&p.stats)
		p.inputs.buffer = netcode.NewCommandBuffer(s.p.Command.Schema.PackedSize(), s.p.TickRate*2, s.p.Command.Schema.PackedFields()...)
		p.inputs.buffer.KeepLate(int(s.late.window))
		s.late.block(p)
	}
}

// resumed gives a player its place back: one that is held, or one whose old connection is
// dead but not timed out yet, by its token or as ServerConfig.Same says.
func (s *Server) resumed(t time.Duration, p *player, h netcode.Hello) bool {
	for _, old := range s.sessions.owners {
		if old == nil || old == p || old.outbox.overflowed || old.session.kicked || !old.session.resumes(&p.session, h.Resume, s.cfg.Same) {
			continue
		}
		if old.session.state == playing {
			s.endpoint.Disconnect(old.session.peer, transport.Replaced, "the player came back by another connection")
			s.admission.charge(s.clock.now, &old.session)
			s.departures.losePlayer(t, old)
		}
		s.admission.settle(&old.session)
		s.sessions.remove(p)
		old.session.peer, old.session.conn, old.outbox.sent, old.session.identity, old.schemas.answers = p.session.peer, p.session.conn, p.outbox.sent, p.session.identity, p.schemas.answers
		old.outbox.resent = p.outbox.resent
		old.session.address, old.session.origin, old.session.came, old.session.pending = p.session.address, p.session.origin, p.session.came, p.session.pending
		p.session.pending = false // it is old's to release
		s.sessions.byPeer[old.session.peer] = old
		s.late.world.stop() // what waits goes behind what the lost connection has not delivered
		s.begin(t, old, h)
		old.session.resumed, old.session.lostCode, old.session.lostText = true, transport.None, ""
		s.takeOver(old, old.session.kept, h)
		old.session.kept = nil
		s.sessions.moves = append(s.sessions.moves, move{old, true})
		s.stats.Resumed++
		s.board.change(old, &s.sessions, &s.stats)
		s.logs.Logger.Info("came back", old.who()...)
		return true
	}
	return false
}

// changePlayers adds the players that came and removes those that left. Handlers may kick
// any player, which waits for the tick's end. Every OnJoin that began is followed by an
// OnLeave.
func (s *Server) changePlayers() {
	s.requests.handleLastRequests()
	for _, player := range s.sessions.leaving {
		s.panics.runHooks(&s.sim.frame, player, "OnLeave", s.p.handlers.leaves)
		s.sim.destroyOwned(player)
	}
	s.sessions.leaving = s.sessions.leaving[:0]
	s.admitNewcomers()
	for _, p := range s.sessions.joining {
		if s.sessions.owners[p.owner] != p || p.session.kicked {
			continue // gone before it was there
		}
		p.session.begun = true
		s.panics.runHooks(&s.sim.frame, p.owner, "OnJoin", s.p.handlers.joins)
	}
	clear(s.sessions.joining)
	s.sessions.joining = s.sessions.joining[:0]
	s.sessions.tellMoves(&s.sim.frame, &s.panics, &s.p.handlers)
}

// tellMoves calls the hooks of players that lost their connection or came back, in order,
// for those that still have their place.
func (s *sessions) tellMoves(f *Frame, c *panics, h *handlers) {
	for _, m := range s.moves {
		if s.owners[m.p.owner] != m.p || !m.p.session.begun {
			continue
		}
		name, hooks := "OnDisconnect", h.disconnects
		if m.back {
			name, hooks = "OnReconnect", h.reconnects
		}
		c.runHooks(f, m.p.owner, name, hooks)
	}
	clear(s.moves)
	s.moves = s.moves[:0]
}

// countPlayed counts a tick for every player that played in it. commanded says that the game has
// a command.
func (s *sessions) countPlayed(t Tick, clock *serverClock, a *admission, commanded bool) {
	for _, p := range s.players {
		if p.session.state == watching && p.session.pending && clock.now-p.session.since >= settledAfter {
			a.settle(&p.session)
		}
		if p.session.state != playing {
			continue
		}
		if !commanded && p.shooter.Acked() > 0 || p.inputs.tookTick == t {
			p.session.ticksPlayed++
		}
		if p.session.pending && p.session.played(clock.interval) >= settledAfter {
			a.settle(&p.session)
		}
	}
}

// admitNewcomers lets those in whose places became free in this tick.
func (s *Server) admitNewcomers() {
	for _, n := range s.sessions.newcomers {
		if s.sessions.byPeer[n.p.session.peer] == n.p && n.p.session.state == greeting && s.sessions.owners[n.place] == nil {
			s.admit(s.clock.now, n.p, n.place, n.hello)
		}
	}
	clear(s.sessions.newcomers)
	s.sessions.newcomers = s.sessions.newcomers[:0]
}

// takeOver queues for a returning player the messages that the lost connection had not
// delivered. The client's count of received messages is trusted if it is of this session.
func (s *Server) takeOver(p *player, kept *netcode.Conn, h netcode.Hello) {
	channels := standard.GameChannels + len(s.p.Channels)
	counts := p.session.holds(h.Resume) && len(h.Taken) == channels
	if !p.session.holds(h.Resume) || len(h.Taken) == 0 {
		p.requests.taken = 0 // it restarts its count
	}
	for i := range channels {
		if i == standard.ChannelSchemas || !s.p.Reliable(uint8(i)) {
			continue
		}
		taken := int64(netcode.Forgotten)
		if counts {
			taken = int64(h.Taken[i])
		}
		err := p.session.conn.TakeOver(kept, uint8(i), taken)
		if errors.Is(err, netcode.ErrTaken) {
			p.countMalformed(&s.stats, err)
			err = p.session.conn.TakeOver(kept, uint8(i), netcode.Forgotten)
		}
		if err != nil {
			s.logs.Logger.Error("messages lost with a connection", append(p.who(), "channel", i, "err", err)...)
		}
	}
}

// mostLevels is how many levels a player may miss on one connection: a quarter of the circle of
// their epochs.
const mostLevels = 64

// lapsed reports whether a player that is heard again was away for too long to understand what
// this connection sends, or to be understood.
func (p *player) lapsed() bool { return p.session.conn.Lapsed() || p.outbox.levels > mostLevels }
