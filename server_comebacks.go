package foretick

import (
	"errors"
	"time"

	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// comebacks gives players their places back.
type comebacks struct {
	sim        *simulation
	sessions   *sessions
	seats      *seats
	departures *departures
	late       *late.Room
	board      *board
	logs       *serverLog
	// same is ServerConfig.Same.
	same transport.Same
}

// takeBack gives a player its place back: one that is held, or one whose old connection is
// dead but not timed out yet, by its token or as ServerConfig.Same says.
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
		p.session.pending = false // it is old's to release
		k.sessions.byPeer[old.session.peer] = old
		k.late.StopWorld() // what waits goes behind what the lost connection has not delivered
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

// takeMessages queues for a returning player the messages that the lost connection had not
// delivered. The client's count of received messages is trusted if it is of this session.
func (k *comebacks) takeMessages(p *player, kept *netcode.Conn, h netcode.Hello) {
	channels := standard.GameChannels + len(k.sim.p.Channels)
	counts := p.session.holds(h.Resume) && len(h.Taken) == channels
	if !p.session.holds(h.Resume) || len(h.Taken) == 0 {
		p.requests.taken = 0 // it restarts its count
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
