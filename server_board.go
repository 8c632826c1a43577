package foretick

import (
	"github.com/foretick/foretick/internal/published"
	"github.com/foretick/foretick/stats"
)

// board is what a server shows to other goroutines. It has no lock, so no reader ever stops a
// tick: see published.Cell.
type board struct {
	stats   published.Cell[stats.Server]
	players published.Cell[[]PlayerID]
	each    []published.Cell[shownPlayer] // by owner
}

// shownPlayer is what is shown of a player's number.
type shownPlayer struct {
	plays bool
	stats stats.Player
}

// post brings the counters up to date.
func (b *board) post(stats *stats.Server) {
	*b.stats.Draft() = *stats
	b.stats.Publish()
}

// postAll brings the counters of the players up to date as well. They cost a copy each, and
// so are posted with ticks alone.
func (b *board) postAll(stats *stats.Server, s *sessions) {
	b.list(s)
	for _, p := range s.players {
		p.countResent(stats)
	}
	for _, p := range s.owners {
		if p != nil {
			b.show(p)
		}
	}
	b.post(stats)
}

// list lists who plays.
func (b *board) list(s *sessions) {
	players := b.players.Draft()
	*players = (*players)[:0]
	for _, p := range s.players {
		if p.session.state >= playing {
			*players = append(*players, p.owner)
		}
	}
	b.players.Publish()
}

// show shows a player's counters.
func (b *board) show(p *player) {
	c := &b.each[p.owner]
	*c.Draft() = shownPlayer{true, p.count()}
	c.Publish()
}

// change says at once that a player came or went: handlers of the same tick ask.
func (b *board) change(p *player, s *sessions, stats *stats.Server) {
	b.post(stats)
	b.list(s)
	if s.owners[p.owner] == p {
		b.show(p)
		return
	}
	c := &b.each[p.owner]
	*c.Draft() = shownPlayer{}
	c.Publish()
}

// queued returns the bytes of reliable messages that wait for the player.
func (p *player) queued() int {
	if q := p.session.queue(); q != nil {
		return q.Queued()
	}
	return 0
}

// countResent adds what a connection sent again since it was last counted.
func (p *player) countResent(stats *stats.Server) {
	if p.session.conn != nil {
		n := p.session.conn.Stats().EntriesResent
		stats.MessagesResent += n - p.outbox.resent
		p.outbox.resent = n
	}
}

// count returns what was counted of a player.
func (p *player) count() stats.Player {
	st := p.stats
	p.inputs.addTo(&st)
	st.Claims = p.shooter.Claims()
	st.Clamped = st.Claims.Clamped()
	if p.session.conn != nil {
		st.RTT = p.session.conn.RTT()
		c := p.session.conn.Stats()
		st.PacketsLost, st.PacketsLostIn, st.FragmentsLost = c.Lost, c.LostIn, c.FragmentsLost
	}
	st.InputBuffer, st.RenderDelay = p.inputs.buffered, p.inputs.render
	st.Queued = p.queued()
	st.ConnectionNumber, st.SessionNumber = p.session.connection, p.session.number
	return st
}
