package foretick

import (
	"io"
	"time"

	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
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
	logs       *serverLog
	// random is ServerConfig.Random.
	random io.Reader
}

// findPlace makes a peer a player, if there is a place for it: a free one, or from the next tick on
// that of an absent player.
func (x *seats) findPlace(t time.Duration, p *player, h netcode.Hello) bool {
	if place := x.sessions.free(x.senders.clock.now); place != 0 {
		x.admitPlayer(t, p, place, h)
		return true
	}
	place := x.departures.displaceAbsent()
	if place != 0 {
		x.sessions.newcomers = append(x.sessions.newcomers, newcomer{p, h, place})
	}
	return place != 0
}

// admitPlayer makes a peer a player.
func (x *seats) admitPlayer(t time.Duration, p *player, owner PlayerID, h netcode.Hello) {
	if _, err := io.ReadFull(x.random, p.session.token[:]); err != nil {
		p.session.token = [16]byte{} // without a token nobody can come back to this place
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
func (x *seats) takePlace(p *player, owner PlayerID) {
	p.owner = owner
	x.sessions.owners[owner] = p
	x.sessions.begun++
	p.session.number = x.sessions.begun
	p.shooter.Join(x.past, uint32(owner), p)
	p.late.Join(owner, &p.shooter, &p.inputs.replaced)
	if debugBuild {
		p.trail = reason.NewTrail(reason.TrailTicks)
	}
	if c := x.sim.p.Command; c != nil {
		p.inputs.command, p.inputs.last = c.New(), c.New()
	}
	x.sessions.joining = append(x.sessions.joining, p)
	x.sim.stats.Joined++
}

// beginConnection starts a player's side of a connection, the first or a later one.
func (x *seats) beginConnection(t time.Duration, p *player, h netcode.Hello) {
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

// admitNewcomers lets those in whose places became free in this tick.
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
func (x *seats) joinLocal(owner PlayerID, seat *localPlayer) {
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
