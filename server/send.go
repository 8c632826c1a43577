package server

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

// senders makes the snapshots of a tick.
type senders struct {
	sim      *simulation
	interest *interest
	late     *late.Room
	clock    *matchClock
	level    *playedLevel
	log      *slog.Logger
	source   *snapshot.Source
	every    uint32 // ticks from one snapshot to the next

	// rate, executor and statistics are Config.SendRate, Executor and TrainCompression.
	rate       int
	executor   ecs.Executor
	statistics *snapshot.Statistics
	traffic    *traffic // nil without Config.Profile
	// watched is the profile of package inspect. It is nil if package inspect counts no bytes.
	watched *snapshot.Profile

	// toldLong has the components that were logged because they make an entity too long to send.
	toldLong schema.MaskBuilder
	// toldCrowd is true once it was logged that there are too many entities for a player.
	toldCrowd bool

	encoding []*player         // the players whose snapshots are due in this tick
	caches   []*snapshot.Cache // one for each share of encoding
	shares   int
	share    func(i int) // makes the snapshots of one share
}

// snapshotReserve is how many bytes behind a snapshot stay free for reliable messages.
const snapshotReserve = 96

const (
	sharePlayers = 12 // how many players share a cache
	maxShares    = 16
)

// encodeAll makes the snapshots that are due. With an executor it does so in shares, each with players
// of similar delays and with a cache of its own.
func (s *senders) encodeAll() {
	shares := 1
	if s.executor != nil && s.statistics == nil && s.profile() == nil {
		shares = min(max(len(s.encoding)/sharePlayers, 1), maxShares)
	}
	for len(s.caches) < shares {
		s.caches = append(s.caches, &snapshot.Cache{})
	}
	if shares == 1 {
		for _, p := range s.encoding {
			s.encodeSnapshot(p, s.caches[0])
		}
		return
	}
	slices.SortStableFunc(s.encoding, func(a, b *player) int { return cmp.Compare(a.outbox.sender.Behind(), b.outbox.sender.Behind()) })
	s.shares = shares
	s.executor.Run(shares, s.share)
}

// encodeShare makes the snapshots of the i-th share.
func (s *senders) encodeShare(i int) {
	n := len(s.encoding)
	for _, p := range s.encoding[i*n/s.shares : (i+1)*n/s.shares] {
		s.encodeSnapshot(p, s.caches[i])
	}
}

// encodeSnapshot makes a player's snapshot. It changes only the player's own state and the cache, so
// the snapshots of other players may be made at the same time.
func (s *senders) encodeSnapshot(p *player, cache *snapshot.Cache) {
	h := netcode.SnapshotHeader{Bare: true, Epoch: s.level.epoch, Lost: s.clock.told(s.sim.frame.Tick)}
	if p.inputs.buffer != nil {
		h.Early, h.HasEarly = p.inputs.buffer.Early()
		h.CommandAck = s.late.Ack(&p.late) - s.sim.frame.Tick
		if h.HasEarly {
			p.inputs.buffered = time.Duration(h.Early) * s.clock.interval / 256
			p.inputs.early = max(p.inputs.buffered, 0)
		}
	}
	d := &p.outbox.draft
	b := h.Append(d.snapshot[:0])
	before := len(b)
	budget, room := d.packet.Room()-before-d.noteSize(), d.packet.MostRoom()-before-d.noteSize()
	if p.session.conn.Pending() > 0 {
		budget, room = budget-snapshotReserve, room-snapshotReserve
	}
	t, rate := s.sim.frame.Tick, s.sim.p.TickRate
	budget, affords := p.unread.budget(t, rate, budget)
	if d.due = room > 0 && affords; d.due {
		p.unread.tryAgain(p.outbox.sender, t, rate)
		p.outbox.sender.UseCache(cache)
		shown := p.outbox.sender.Counters().Spawns
		b = p.outbox.sender.AppendBudget(b, budget, room, &d.carries.snapshot)
		p.unread.spent(len(b)-before, p.outbox.sender.Counters().Spawns != shown)
	}
	s.late.Tells(&p.late)
	d.snapshot, d.presses = b, len(b) > budget+before
}

// everyFor returns how many ticks are between snapshots for a rate that a client requested.
func (s *senders) everyFor(rate int) uint32 {
	every := s.every
	if rate > 0 {
		for s.sim.p.TickRate > rate*int(every) && every < maxSnapshotTicks {
			every += s.every
		}
	}
	return every
}

// grantRate applies a client's settings, within the server's own limits.
func (s *senders) grantRate(p *player, w netcode.ClientConfig) {
	p.outbox.every = s.everyFor(int(w.SnapshotRate))
	rate := s.rate
	if w.Bytes > 0 {
		rate = min(rate, max(int(w.Bytes), minSendRate))
	}
	p.session.conn.SetRate(rate)
}

// minSendRate is the lowest rate that a client can request. Its own state would not fit into less.
const minSendRate = 2000

// longCounts has the previous counts of a sender's long records, and of the entities for which it had no
// wire id.
type longCounts struct{ inPieces, tooLong, notShown uint64 }

// countLong counts the records in the tick's snapshots that are longer than a packet, and logs those
// that are too long to send. It also counts the entities that are too many for a player.
func (s *senders) countLong() {
	st, m, log := s.sim.stats, s.sim, s.log
	for _, p := range s.encoding {
		sender := p.outbox.sender
		was, now := &p.outbox.long, sender.Counters()
		if now.NoWireID != was.notShown {
			st.NotShown += now.NoWireID - was.notShown
			was.notShown = now.NoWireID
			if !s.toldCrowd {
				s.toldCrowd = true
				log.Warn("too many entities for a player: it is shown 65 535 and no others: declare foretick.Interest, or hide some with ServerFrame.SetVisible",
					append(p.who(), "tick", m.frame.Tick)...)
			}
		}
		if !sender.Cuts() {
			continue
		}
		st.LongRecords += now.InPieces - was.inPieces
		st.RecordsTooLong += now.TooLong - was.tooLong
		was.inPieces, was.tooLong = now.InPieces, now.TooLong
		for _, l := range sender.TakeTooLong() {
			if !s.toldLong.Has(l.Component) { // the log names each component once
				s.toldLong.Set(l.Component)
				line := append(p.who(), "tick", m.frame.Tick, "entity", uint32(l.Entity), "prefab", m.prefabOfNet(l.Entity), "bytes", l.Bytes, "max", snapshot.MaxRecord,
					"component", m.p.Components[l.Component].Name, "component_bytes", l.Share)
				log.Warn("the state of an entity is too long to send, so players do not see it: shorten the component's strings and slices, or move some to other entities", line...)
			}
		}
	}
}

// prefabOfNet returns the name of an entity's prefab, or "" if it is gone.
func (m *simulation) prefabOfNet(id snapshot.NetID) string {
	for _, rows := range m.entities.All(m.world) {
		for _, at := range m.p.Identity.Slice(rows) {
			if at.Net == uint32(id) {
				return m.p.Prefabs[at.Prefab].ECS.Name()
			}
		}
	}
	return ""
}

// takeUnread reads a player's report of a snapshot that it refused as malformed. Then all entities are
// sent in full, except the one that the report names, which is sent again after 1, 2, 4 s and so on. A
// false report gains nothing: see playerUnread.
func (s *senders) takeUnread(p *player, u *netcode.Unread) {
	t, rate, sender := s.sim.frame.Tick, s.sim.p.TickRate, p.outbox.sender
	if p.session.state != playing && p.session.state != watching || sender == nil || u.Epoch != s.level.epoch || p.unread.early(t, rate) {
		return
	}
	s.sim.stats.SnapshotsUnread++
	p.stats.SnapshotsUnread++
	p.unread.last = t
	line := p.who()
	line, again := append(line, "tick", t), false
	if id, ok := sender.Named(schema.WireID(u.Wire)); ok {
		seconds, first := p.unread.leaveOut(id, sender, t, rate)
		line, again = append(line, "entity", uint32(id), "left_out_s", seconds), !first
	}
	if !again { // otherwise only the entity that was sent again is at fault
		p.unread.restart(sender)
	}
	s.log.Warn("a client could not read a snapshot", line...)
}

const maxSnapshotTicks = 120 // the largest number of ticks between two snapshots to a client

// openSender makes a peer's sender, for a new connection or a new level, and passes to it what the game
// grants the peer and hides from it.
func (s *senders) openSender(p *player) {
	p.unread.forgetLevel()
	p.reasons.ForgetConcealed()
	p.outbox.long = longCounts{}
	cfg := snapshot.SenderConfig{Statistics: s.statistics, Profile: s.profile()}
	if p.interest.near = s.interest.newView(); p.interest.near != nil {
		cfg.Relevant, cfg.Priority = true, p.interest.near.Priority
	}
	cfg.Everything = p.observing != nil && p.observing.grant.everything
	p.outbox.sender = s.source.NewSender(uint16(p.views()), cfg)
	p.outbox.entered, p.outbox.epoch = false, s.level.epoch
	if p.observing != nil {
		s.interest.introduceObserver(p)
	}
	p.outbox.sender.SetTeam(p.interest.team)
	s.interest.passAudiences(p)
}

// profile returns the profile that counts the bytes of snapshots. It is nil if nothing counts them.
func (s *senders) profile() *snapshot.Profile {
	if s.traffic != nil {
		return s.traffic.down
	}
	return s.watched
}

// traffic counts the bytes for Config.Profile.
type traffic struct {
	down *snapshot.Profile
	up   uint64 // bytes of messages with commands
}

// trafficLines returns the bytes sent to and received from all clients since the server began,
// by component and field. It returns nil unless [Config].Profile is set. The bytes of
// a vector are counted at its first field. Commands are sent as differences from one
// another, so their bytes are divided among the fields by size.
func (b *traffic) trafficLines(command *layout.Command, st *stats.Counters) []stats.Traffic {
	if b == nil {
		return nil
	}
	var out []stats.Traffic
	for _, l := range b.down.Lines() {
		line := stats.Traffic{Component: l.Component, Field: l.Field, Bytes: l.Bytes}
		if l.Component == "" {
			line.What = "snapshots"
		}
		out = append(out, line)
	}
	out = append(out, stats.Traffic{What: "packets", Bytes: float64(st.BytesOut) - float64(b.down.Bytes())})
	if c := command; c != nil {
		bits := 0
		for _, f := range c.Schema.Fields() {
			bits += f.Bits
		}
		for _, f := range c.Schema.Fields() {
			share := float64(b.up) * float64(f.Bits) / float64(max(bits, 1))
			out = append(out, stats.Traffic{Up: true, Component: c.Schema.Name(), Field: f.Name, Bytes: share})
		}
	}
	return append(out, stats.Traffic{Up: true, What: "packets", Bytes: float64(st.BytesIn) - float64(b.up)})
}
