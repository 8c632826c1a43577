package foretick

import "sync"

// board is what a server shows to other goroutines: a copy of what it counted, made at
// the end of each Step, and of its players, made when a tick was computed.
type board struct {
	mu      sync.Mutex
	stats   ServerStats
	players []PlayerID
	each    []PlayerStats // of the places below, in their order
	at      []int32       // by owner: 1 + its place in each
}

// post brings the figures up to date.
func (b *board) post(stats *ServerStats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats = *stats
}

// postAll brings those of the players and of the systems up to date as well. They cost
// a copy each, and so are posted with ticks alone.
func (b *board) postAll(stats *ServerStats, s *sessions, times *systemTimes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	times.post()
	b.list(s)
	clear(b.at)
	b.each = b.each[:0]
	for _, p := range s.players {
		p.countResent(stats)
	}
	for who, p := range s.owners {
		if p != nil {
			b.each = append(b.each, p.count())
			b.at[who] = int32(len(b.each))
		}
	}
	b.stats = *stats
}

// list lists who plays.
func (b *board) list(s *sessions) {
	if b.at == nil {
		b.at = make([]int32, len(s.owners))
	}
	b.players = b.players[:0]
	for _, p := range s.players {
		if p.session.state >= playing {
			b.players = append(b.players, p.owner)
		}
	}
}

// change says at once that a player came or went: handlers of the same tick ask.
func (b *board) change(p *player, s *sessions, stats *ServerStats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats = *stats
	b.list(s)
	switch {
	case s.owners[p.owner] != p:
		b.at[p.owner] = 0
	case b.at[p.owner] == 0:
		b.each = append(b.each, p.count())
		b.at[p.owner] = int32(len(b.each))
	default:
		b.each[b.at[p.owner]-1] = p.count()
	}
}

// queued returns the bytes of reliable messages that wait for the player.
func (p *player) queued() int {
	if q := p.session.queue(); q != nil {
		return q.Queued()
	}
	return 0
}

// countResent adds what a connection sent again since it was last counted.
func (p *player) countResent(stats *ServerStats) {
	if p.session.conn != nil {
		n := p.session.conn.Stats().EntriesResent
		stats.MessagesResent += n - p.outbox.resent
		p.outbox.resent = n
	}
}

// count returns what was counted of a player.
func (p *player) count() PlayerStats {
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
