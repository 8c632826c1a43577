package server

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/published"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// board has the data that a server shows to other goroutines. It has no lock, so no reader ever delays a tick:
// see published.Cell.
type board struct {
	of      *sessions
	counted *stats.Counters

	stats     published.Cell[stats.Counters]
	players   published.Cell[[]Player]
	observers published.Cell[[]Observer]
	each      []published.Cell[shownPlayer] // each has a cell for each owner.
}

// shownPlayer has the data about a player that other goroutines may read.
type shownPlayer struct {
	plays    bool
	stats    stats.Player
	identity []byte // Nobody changes its bytes.
}

// player returns the data about the player that has a number, and whether there is one.
func (b *board) player(id foretick.PlayerID) (shownPlayer, bool) {
	if int(id) >= len(b.each) {
		return shownPlayer{}, false
	}
	p := b.each[id].Hold()
	if p == nil {
		return shownPlayer{}, false
	}
	defer p.Release()
	return p.Value, p.Value.plays
}

// shownOf returns the data about a player. It returns false if the player has left.
func (b *board) shownOf(of Player) (shownPlayer, bool) {
	shown, ok := b.player(of.ID)
	if !ok || shown.stats.SessionNumber != of.Session {
		return shownPlayer{}, false
	}
	return shown, true
}

// post publishes the server's current counters.
func (b *board) post() {
	*b.stats.Draft() = *b.counted
	b.stats.Publish()
}

// postAll publishes the current counters of the server and of all players. Each player's cost a copy,
// so they are published only at the end of ticks.
func (b *board) postAll() {
	b.list()
	for _, p := range b.of.players {
		p.countResent(b.counted)
	}
	for _, p := range b.of.owners {
		if p != nil {
			b.show(p)
		}
	}
	b.post()
}

// list publishes which players play.
func (b *board) list() {
	players := b.players.Draft()
	*players = (*players)[:0]
	for _, p := range b.of.players {
		if p.session.state >= playing {
			*players = append(*players, Player{p.owner, p.session.number})
		}
	}
	b.players.Publish()
}

// listObservers publishes who observes.
func (b *board) listObservers() {
	observers := b.observers.Draft()
	clear(*observers)
	*observers = (*observers)[:0]
	for _, p := range b.of.observers {
		*observers = append(*observers, p.observing.who)
	}
	b.observers.Publish()
}

// show publishes a player's counters.
func (b *board) show(p *player) {
	c := &b.each[p.owner]
	*c.Draft() = shownPlayer{true, p.count(), p.session.identity}
	c.Publish()
}

// change publishes at once that a player joined or left, because handlers of the same tick may read
// that.
func (b *board) change(p *player) {
	b.post()
	b.list()
	if b.of.owners[p.owner] == p {
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

// countResent adds how many messages a connection has sent again since the last call.
func (p *player) countResent(stats *stats.Counters) {
	if p.session.conn != nil {
		n := p.session.conn.Stats().EntriesResent
		stats.MessagesResent += n - p.outbox.resent
		p.outbox.resent = n
	}
}

// count returns a player's counters.
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

// ownFigures makes the figures of a server, for monitoring.
type ownFigures struct {
	sim      *simulation
	sessions *sessions
	clock    *matchClock
	times    *systemTimes
	logs     *peerLog
	board    *board

	counted stats.Server  // counted is what stats.Counters does not have.
	posted  uint64        // posted is the number of ticks whose causes are counted.
	took    time.Duration // took is how long the newest tick took. It is 0 without a clock.
	newest  published.Cell[stats.Server]

	endpoint endpointCounts
}

// Figures sets dst to the server's figures as of the end of the newest tick, and before the first tick
// to zeros with the names of the systems. It uses the memory of dst.Systems and dst.Endpoint. Any
// goroutine may call it, also while Run runs. No tick ever waits for it.
func (s *Server) Figures(dst *stats.Server) {
	p := s.figures.newest.Hold()
	if p == nil {
		dst.Copy(&stats.Server{})
		return
	}
	defer p.Release()
	dst.Copy(&p.Value)
}

// clocked is an endpoint that has a clock, as those of package host do. With such an endpoint
// Config.Clock need not be set to measure ticks.
type clocked interface{ Clock() func() time.Duration }

// clockOf returns the clock that measures systems and ticks. It is nil if there is none.
func clockOf(cfg *Config) func() time.Duration {
	if c, ok := transport.As[clocked](cfg.Transport); ok && cfg.Clock == nil {
		return c.Clock()
	}
	return cfg.Clock
}

// begin counts how late a tick begins, and returns the time at which it begins.
func (f *ownFigures) begin(now time.Duration) (began time.Duration) {
	f.counted.Lateness.Observe(now - f.clock.due(f.sim.frame.Tick))
	if f.times.clock != nil {
		began = f.times.clock()
	}
	return began
}

// end counts how long a tick took.
func (f *ownFigures) end(began time.Duration) {
	if f.times.clock != nil {
		f.took = f.times.clock() - began
		f.counted.TickTime.Observe(f.took)
	}
}

// postAll publishes the counters and the figures.
func (f *ownFigures) postAll() {
	f.board.postAll()
	f.post()
}

// post publishes the figures.
func (f *ownFigures) post() {
	to, st := f.newest.Draft(), f.sim.stats
	f.endpoint.read(f.clock.now, f.logs)
	systems, endpoint := append(to.Systems[:0], f.times.each...), append(to.Endpoint[:0], f.endpoint.shown...)
	if f.posted < st.Ticks { // once a tick
		f.posted = st.Ticks
		f.countCauses()
	}
	*to = f.counted
	to.Systems, to.Endpoint = systems, endpoint
	to.Counters = *st
	for _, p := range f.sessions.players {
		switch p.session.state {
		case playing, local:
			to.Players++
		case away:
			to.Held++
		case watching:
			to.Observing++
		default:
			to.Waiting++
		}
		queued := p.queued()
		to.QueuedBytes += queued
		to.QueuedMost = max(to.QueuedMost, queued)
	}
	f.newest.Publish()
}

// skipTicks skips the due ticks that this Step does not compute, and logs the reason at most once a
// minute.
func (f *ownFigures) skipTicks() {
	lost := f.clock.skip(f.sim.frame.Tick)
	if lost == 0 {
		return
	}
	f.sim.stats.Slips++
	f.sim.stats.TicksLost += lost
	if skipped, ok := f.logs.allow("slip"); ok {
		f.logs.Logger.Warn("the server falls behind and skips ticks", "why", f.whySlip(), "lost", lost, "tick", f.sim.frame.Tick, "skipped", skipped)
	}
}

// whySlip returns the reason for skipped ticks, in words that show an operator what to change.
func (f *ownFigures) whySlip() string {
	took := f.took
	switch {
	case f.times.clock == nil:
		return "ticks take longer than their interval, or Step was called late: set server.Config.Clock to tell which"
	case took >= f.clock.interval:
		return "a tick took " + took.Round(time.Microsecond).String() + " of " + f.clock.interval.String() + ": see the times of systems in Server.Figures"
	}
	return "Step was called " + (f.clock.now - f.clock.before).Round(time.Microsecond).String() + " after the Step before, and ticks are short: the process or its loop stood still"
}

// countCauses counts the reasons for which clients mispredict in this tick, their claims of render
// times, and the loss on the paths to them.
func (f *ownFigures) countCauses() {
	now := f.sim.frame.Tick
	count := func(c prediction.Cause, is bool) {
		if is {
			f.counted.Causes.Count(c, 1)
		}
	}
	for _, p := range f.sessions.players {
		if p.session.state < playing {
			continue
		}
		claims := p.shooter.Claims()
		all, clamped := claims.Judged(), claims.Clamped()
		f.counted.Rewinds += all - p.counted.rewinds
		f.counted.RewindsClamped += clamped - p.counted.clamped
		p.counted.rewinds, p.counted.clamped = all, clamped
		if p.session.state == playing {
			count(prediction.Input, p.inputs.replaced.To == now)
			count(prediction.ServerEffect, p.reasons.AffectedIn(now))
			count(prediction.RemoteInput, p.reasons.PushedIn(now))
			p.path.look(&f.counted, f.clock.now, &p.session)
		}
	}
}

// countedClaims has how many of a player's claims the server's figures include.
type countedClaims struct{ rewinds, clamped uint64 }

// playerCounts has the corrections that a player's client has reported on its connection.
type playerCounts struct {
	connection uint64
	said       cause.Counts
	counted    uint64 // counted is how many of said are in the figures.
}

// takeCounts reads a client's counts of its corrections, from packet b. They only change the figures. A
// client corrects itself at most once for each of the server's ticks, so no more than that is counted,
// whatever the client reports.
func (r *correctionReports) takeCounts(p *player, body, b []byte) error {
	if p.observing != nil {
		return netcode.ErrMalformed
	}
	var said cause.Counts
	err := r.panics.decodePeer(p, b, func() (err error) { said, err = cause.ParseCounts(body); return err })
	if err != nil || p.session.poisoned {
		return err
	}
	c := &p.counts
	if c.connection != p.session.connection {
		*c = playerCounts{connection: p.session.connection}
	}
	more, ok := said.Since(&c.said)
	if !ok {
		return nil
	}
	c.said = said
	ticks := uint64(max(r.clock.now-p.session.came, 0)/r.clock.interval) + 1
	for i, n := range more {
		n := min(uint64(n), ticks-min(c.counted, ticks))
		c.counted += n
		r.figures.Corrections.Count(prediction.Cause(i), n)
	}
	return nil
}
