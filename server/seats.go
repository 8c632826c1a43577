package server

import (
	"errors"
	"io"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// seats gives peers their places in the match.
type seats struct {
	sim        *simulation
	sessions   *sessions
	senders    *senders
	late       *late.Room
	past       *rewind.Past
	departures *departures
	board      *board
	logs       *peerLog
	// random is Config.Random.
	random io.Reader
}

// findPlace makes a peer a player, if there is a place for it: a free one now, or that of an absent
// player from the next tick on.
func (x *seats) findPlace(t time.Duration, p *player, h netcode.Hello) bool {
	if place := x.sessions.free(x.senders.clock.now); place != 0 {
		x.admitPlayer(t, p, place, h)
		return true
	}
	place := x.departures.evictAbsent()
	if place != 0 {
		x.sessions.newcomers = append(x.sessions.newcomers, newcomer{p, h, place})
	}
	return place != 0
}

// admitPlayer makes a peer a player.
func (x *seats) admitPlayer(t time.Duration, p *player, owner foretick.PlayerID, h netcode.Hello) {
	if _, err := io.ReadFull(x.random, p.session.token[:]); err != nil {
		p.session.token = [16]byte{} // without a token no player can come back to this place
	}
	x.takePlace(p, owner)
	x.beginConnection(t, p, h)
	if p.schemas.otherBuilds {
		x.sim.stats.OtherBuilds++
	}
	x.board.change(p)
	line := p.who()
	line = append(line, "architecture", h.Architecture)
	if code, text, known := x.sessions.whyGone(h.Resume); known {
		p.session.lostCode, p.session.lostText = code, cutText(text, netcode.MaxWelcomeText)
		line = append(line, "lost_place", code, "why", text)
	}
	x.logs.Logger.Info("joined", line...)
}

// takePlace gives a new player its place.
func (x *seats) takePlace(p *player, owner foretick.PlayerID) {
	p.owner = owner
	x.sessions.owners[owner] = p
	x.sessions.begun++
	p.session.number = x.sessions.begun
	p.shooter.Join(x.past, uint32(owner), p)
	p.late.Join(owner, &p.shooter, &p.inputs.replaced)
	if game.DebugBuild {
		p.trail = cause.NewTrail(cause.TrailTicks)
	}
	if c := x.sim.p.Command; c != nil {
		p.inputs.command, p.inputs.last = c.New(), c.New()
	}
	x.sessions.joining = append(x.sessions.joining, p)
	x.sim.stats.Joined++
}

// beginConnection starts a player's side of a connection, the first one or a later one.
func (x *seats) beginConnection(t time.Duration, p *player, h netcode.Hello) {
	x.late.StopWorld() // waiting messages come after those that a lost connection has not delivered
	p.session.state, p.session.since = playing, t
	p.session.conn.Admit()
	x.sessions.connections++
	p.session.connection = x.sessions.connections
	p.faults = faultsFrom(t)
	p.outbox.beginConnection(x.senders.everyFor(int(h.SnapshotRate)))
	x.senders.openSender(p)
	x.senders.interest.rehidePlayer(p)
	p.shooter.Connect()
	p.inputs.beginConnection(&p.stats, x.sim.p.Command, x.sim.p.TickRate)
	if x.sim.p.Command != nil {
		x.late.Connect(&p.late, p.inputs.buffer)
	}
}

// admitNewcomers admits the newcomers whose places became free in this tick.
func (x *seats) admitNewcomers() {
	for _, n := range x.sessions.newcomers {
		if x.sessions.byPeer[n.p.session.peer] == n.p && n.p.session.state == greeting && x.sessions.owners[n.place] == nil {
			x.admitPlayer(x.senders.clock.now, n.p, n.place, n.hello)
		}
	}
	clear(x.sessions.newcomers)
	x.sessions.newcomers = x.sessions.newcomers[:0]
}

// joinLocal adds a player without a connection. Its OnJoin runs in the next tick.
func (x *seats) joinLocal(owner foretick.PlayerID, seat *seat.Player) {
	p := &player{owner: owner, local: seat}
	p.session.state = local
	p.outbox.every = 1
	x.sessions.players, x.sessions.late = append(x.sessions.players, p), append(x.sessions.late, &p.late)
	x.sessions.connections++
	p.session.connection = x.sessions.connections
	x.takePlace(p, owner)
	p.shooter.Connect()
	x.board.change(p)
}

// comebacks gives players their places back.
type comebacks struct {
	sim        *simulation
	sessions   *sessions
	seats      *seats
	departures *departures
	board      *board
	logs       *peerLog
	// same is Config.Same.
	same transport.Same
}

// takeBack gives a player its place back, by its token or as Config.Same says: a place that is held, or
// one whose old connection is dead but has not timed out yet.
func (k *comebacks) takeBack(t time.Duration, p *player, h netcode.Hello) bool {
	for _, old := range k.sessions.owners {
		if old == nil || old == p || old.outbox.overflowed || old.session.kicked || !old.session.resumes(&p.session, h.Resume, k.same) {
			continue
		}
		if old.session.state == playing {
			k.departures.replaceConnection(t, old)
		}
		k.sessions.remove(p)
		old.session.peer, old.session.conn, old.outbox.sent, old.session.identity, old.schemas.answers = p.session.peer, p.session.conn, p.outbox.sent, p.session.identity, p.schemas.answers
		old.outbox.resent = p.outbox.resent
		old.session.address, old.session.origin, old.session.came, old.session.pending = p.session.address, p.session.origin, p.session.came, p.session.pending
		p.session.pending = false // old ends the count now
		k.sessions.byPeer[old.session.peer] = old
		k.seats.beginConnection(t, old, h)
		old.session.resumed, old.session.lostCode, old.session.lostText = true, transport.None, ""
		k.takeMessages(old, old.session.kept, h)
		old.session.kept = nil
		k.sessions.moves = append(k.sessions.moves, move{old, true})
		k.sim.stats.Resumed++
		k.board.change(old)
		k.logs.Logger.Info("came back", old.who()...)
		return true
	}
	return false
}

// takeMessages queues for a player that came back the messages that its lost connection had not
// delivered. The client's count of received messages is used if it belongs to this session.
func (k *comebacks) takeMessages(p *player, kept *netcode.Conn, h netcode.Hello) {
	channels := standard.GameChannels + len(k.sim.p.Channels)
	counts := p.session.holds(h.Resume) && len(h.Taken) == channels
	if !p.session.holds(h.Resume) || len(h.Taken) == 0 {
		p.requests.taken = 0 // the client counts from 0 again
	}
	for i := range channels {
		if i == standard.ChannelSchemas || !k.sim.p.Reliable(uint8(i)) {
			continue
		}
		taken := int64(netcode.Forgotten)
		if counts {
			taken = int64(h.Taken[i])
		}
		err := p.session.conn.TakeOver(kept, uint8(i), taken)
		if errors.Is(err, netcode.ErrTaken) {
			p.countMalformed(k.sim.stats, err)
			err = p.session.conn.TakeOver(kept, uint8(i), netcode.Forgotten)
		}
		if err != nil {
			k.logs.Logger.Error("messages lost with a connection", append(p.who(), "channel", i, "err", err)...)
		}
	}
}

// turnover calls the game's hooks for the players that joined and left since the last tick.
type turnover struct {
	sim      *simulation
	sessions *sessions
	panics   *panics
	requests *requests
	seats    *seats
}

// changePlayers adds the players that joined and removes those that left. Handlers may kick any player;
// such a kick waits for the end of the tick. Every OnJoin that began is followed by an OnLeave.
func (o *turnover) changePlayers() {
	o.requests.handleLastRequests()
	for _, player := range o.sessions.leaving {
		o.panics.runHooks(&o.sim.frame, player, "OnLeave", o.sim.p.Handlers.Leaves)
		o.sim.destroyOwned(player)
	}
	o.sessions.leaving = o.sessions.leaving[:0]
	o.seats.admitNewcomers()
	for _, p := range o.sessions.joining {
		if o.sessions.owners[p.owner] != p || p.session.kicked { // it left before its OnJoin
			continue // gone before it was there
		}
		p.session.begun = true
		o.panics.runHooks(&o.sim.frame, p.owner, "OnJoin", o.sim.p.Handlers.Joins)
	}
	clear(o.sessions.joining)
	o.sessions.joining = o.sessions.joining[:0]
	o.tellMoves()
}

// tellMoves calls the hooks for players that lost their connection or came back, in order, if they
// still have their place.
func (o *turnover) tellMoves() {
	h := &o.sim.p.Handlers
	for _, m := range o.sessions.moves {
		if o.sessions.owners[m.p.owner] != m.p || !m.p.session.begun {
			continue
		}
		name, hooks := "OnDisconnect", h.Disconnects
		if m.back {
			name, hooks = "OnReconnect", h.Reconnects
		}
		o.panics.runHooks(&o.sim.frame, m.p.owner, name, hooks)
	}
	clear(o.sessions.moves)
	o.sessions.moves = o.sessions.moves[:0]
}
