package foretick

import (
	"cmp"
	"log/slog"
	"slices"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

// send gives each peer its packet of this tick: the snapshot when one is due,
// and acknowledgements and reliable messages in any case.
func (s *Server) send(now time.Duration) {
	s.departures.dropOverflowed()
	for _, p := range s.sessions.players {
		p.outbox.draft.packet = nil
		if p.session.state < away && (p.session.state != greeting || p.schemas.asked || p.schemas.otherBuilds) && !p.session.conn.Paused(now) {
			if s.waits(p) {
				s.owe(p)
			} else {
				s.beginPacket(p, now)
			}
		}
	}
	s.encode()
	s.senders.countLong(&s.stats, &s.sim, s.cfg.Logger)
	clear(s.senders.encoding) // it must not keep players who leave
	s.senders.encoding = s.senders.encoding[:0]
	for _, p := range s.sessions.players {
		if p.outbox.draft.packet != nil {
			s.flush(p)
		}
	}
}

// beginPacket starts a player's packet, with all that comes before a snapshot.
func (s *Server) beginPacket(p *player, now time.Duration) {
	d := &p.outbox.draft
	d.begin(p.session.conn.Begin(now), s.level.epoch)
	p.fates(now)
	if p.session.state != playing && p.session.state != watching {
		return
	}
	if !p.outbox.welcomed {
		s.senders.scratch = s.welcome(p).Append(s.senders.scratch[:0])
		d.carries.welcome = p.outbox.insist(now, netcode.MessageWelcome, s.senders.scratch)
	}
	if s.level.named && !p.outbox.entered {
		s.senders.scratch = s.level.info().Append(s.senders.scratch[:0])
		d.carries.level = p.outbox.insist(now, netcode.MessageLevel, s.senders.scratch)
	}
	if !p.due(s.sim.frame.Tick) && !p.outbox.owed || !p.outbox.reads(s.level.named) {
		return
	}
	if p.interest.near != nil && !s.interest.sees(p) {
		return
	}
	if p.observing == nil {
		if debugBuild {
			s.senders.scratch = p.writeTrail(d.packet, s.sim.frame.Tick, s.senders.scratch)
		}
		s.writeNote(p)
	}
	d.note, d.due, p.outbox.owed = p.reasons.Packed(), true, false
	s.senders.encoding = append(s.senders.encoding, p)
}

// snapshotReserve is what is kept free behind a snapshot for reliable messages.
const snapshotReserve = 96

const (
	sharePlayers = 12 // that share records through a cache
	maxShares    = 16
)

// encode makes the snapshots that are due: on the executor, if there is one, in
// shares of players with like delays, each with a cache of its own.
func (s *Server) encode() {
	shares := 1
	if s.cfg.Executor != nil && s.cfg.TrainCompression == nil && s.profile() == nil {
		shares = min(max(len(s.senders.encoding)/sharePlayers, 1), maxShares)
	}
	for len(s.senders.caches) < shares {
		s.senders.caches = append(s.senders.caches, &snapshot.Cache{})
	}
	if shares == 1 {
		for _, p := range s.senders.encoding {
			s.snapshot(p, s.senders.caches[0])
		}
		return
	}
	slices.SortStableFunc(s.senders.encoding, func(a, b *player) int { return cmp.Compare(a.outbox.sender.Behind(), b.outbox.sender.Behind()) })
	s.senders.shares = shares
	s.cfg.Executor.Run(shares, s.senders.share)
}

// encodeShare makes the snapshots of the i-th share.
func (s *Server) encodeShare(i int) {
	n := len(s.senders.encoding)
	for _, p := range s.senders.encoding[i*n/s.senders.shares : (i+1)*n/s.senders.shares] {
		s.snapshot(p, s.senders.caches[i])
	}
}

// snapshot makes a player's snapshot. It touches only the player's own state and the cache,
// so those of other players may be made at the same time.
func (s *Server) snapshot(p *player, cache *snapshot.Cache) {
	h := netcode.SnapshotHeader{Bare: true, Epoch: s.level.epoch, Lost: s.clock.told(s.sim.frame.Tick)}
	if p.inputs.buffer != nil {
		h.Early, h.HasEarly = p.inputs.buffer.Early()
		h.CommandAck = s.late.ack(p) - s.sim.frame.Tick
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
	t, rate := s.sim.frame.Tick, s.p.TickRate
	budget, affords := p.unread.budget(t, rate, budget)
	if d.due = room > 0 && affords; d.due {
		p.unread.tryAgain(p.outbox.sender, t, rate)
		p.outbox.sender.UseCache(cache)
		shown := p.outbox.sender.Counters().Spawns
		b = p.outbox.sender.AppendBudget(b, budget, room, &d.carries.snapshot)
		p.unread.spent(len(b)-before, p.outbox.sender.Counters().Spawns != shown)
	}
	s.late.tells(p)
	d.snapshot, d.presses = b, len(b) > budget+before
}

// finish sends a packet that carries no snapshot.
func (s *Server) finish(p *player, pk *netcode.Packet) {
	p.outbox.draft.begin(pk, s.level.epoch)
	s.flush(p)
}

// flush sends the packet that was built for a player.
func (s *Server) flush(p *player) {
	d := &p.outbox.draft
	d.write()
	if p.tracing.armed != nil || p.tracing.refused != 0 || p.tracing.stop {
		p.writeTrace(s.clock.now)
	}
	if p.reports.due {
		p.reports.write(s.clock.now, d.packet)
	}
	seq, b := d.packet.Finish()
	slot := p.outbox.sent.Insert(seq)
	*slot, d.carries = d.carries, *slot // swapped, so that both keep their memory
	if err := s.endpoint.Send(p.session.peer, b); err != nil {
		s.stats.PacketsRefused++
		return
	}
	s.stats.PacketsOut++
	s.stats.BytesOut += uint64(len(b))
	p.stats.PacketsOut++
	p.stats.BytesOut += uint64(len(b))
}

// everyFor returns the ticks between snapshots at a rate that a client asked for.
func (s *senders) everyFor(tickRate, rate int) uint32 {
	every := s.every
	if rate > 0 {
		for tickRate > rate*int(every) && every < maxSnapshotTicks {
			every += s.every
		}
	}
	return every
}

// grant applies a client's settings, within the server's own limits.
func (s *Server) grant(p *player, w netcode.ClientConfig) {
	p.outbox.every = s.senders.everyFor(s.p.TickRate, int(w.SnapshotRate))
	rate := s.cfg.SendRate
	if w.Bytes > 0 {
		rate = min(rate, max(int(w.Bytes), minSendRate))
	}
	p.session.conn.SetRate(rate)
}

// minSendRate is the lowest rate that a client can ask for. Its own state would not fit
// into less.
const minSendRate = 2000

// welcome returns everything that an admitted client needs to know.
func (s *Server) welcome(p *player) netcode.Welcome {
	w := netcode.Welcome{
		Owner: uint16(p.views()), TickRate: uint8(s.p.TickRate), SnapshotInterval: uint8(p.outbox.every), Tick: s.sim.frame.Tick, Resume: p.session.token, Epoch: s.level.epoch, Taken: p.requests.taken,
		Server: s.sessions.serverID, Resumed: p.session.resumed, Code: uint16(p.session.lostCode), Text: p.session.lostText, Architecture: s.sessions.architecture,
		Tags: s.p.TagBits(s.cfg.Tags),
	}
	if hold := s.cfg.ReconnectWindow / time.Second; hold > netcode.DefaultHold {
		w.Hold = uint32(hold)
	}
	if s.p.Command != nil {
		w.CommandSize, w.Late = uint16(s.p.Command.Schema.PackedSize()), uint8(s.late.window)
		w.LateShare = s.cfg.toldLateShare()
	}
	return w
}

// roundTick rounds predicted values to the simulation step, and clears references to entities
// that are gone, as clients do after their own ticks. Before that it notes what travels of
// the world's own state, its parents and singletons: a save of the tick has that, too. Values out
// of range are counted in the first run of a tick.
func (m *simulation) roundTick(first bool) {
	m.parents.note()
	m.row.take()
	defer m.row.give()
	for _, rows := range m.entities.All(m.world) {
		m.roundRows(rows, first)
	}
}

func (m *simulation) roundRows(rows ecs.Rows, first bool) {
	for i := range m.p.Components {
		c := &m.p.Components[i]
		if !c.Predicted {
			continue
		}
		if base := rows.Column(c.ID); base != nil {
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*c.Size)
				if c.Varies {
					m.countCut(c, at)
				}
				if first {
					m.losses.bounds(i, at)
				}
				c.Schema.Snap(at)
				if len(c.Refs) > 0 {
					c.Schema.DropRefs(at, m.there)
				}
			}
		}
	}
}

// countCut counts a value that cannot be sent whole, and logs the first of each component.
func (m *simulation) countCut(c *layout.Component, at unsafe.Pointer) {
	i := c.Schema.Unfit(at)
	if i < 0 {
		return
	}
	m.stats.ValuesCut++
	if !m.toldCut[c.ID] {
		m.toldCut[c.ID] = true
		f := c.Schema.Field(i)
		m.losses.log.Warn("a string or slice does not fit its tag, and is sent cut", "tick", m.frame.Tick, "component", c.Name, "field", f.Name, "max", f.Most)
	}
}

// capture passes the tick's state to the snapshots and to the history of hitboxes.
func (s *Server) capture() {
	t := s.sim.frame.Tick
	s.senders.source.Begin(t)
	s.late.fades.age(s)
	s.senders.put.tables = 0
	for _, rows := range s.sim.entities.All(s.sim.world) {
		s.putRows(rows)
	}
	s.interest.passGroups()
	if s.interest.survey != nil {
		s.interest.fillSurvey()
	}
	s.senders.source.End()
	s.views.recordPast(s.senders.put.masks, s.senders.source)
}

// tableMask has the components of a table's entities. It is kept for the next tick: then the
// same table mostly has the same place, and needs no new mask.
type tableMask struct {
	has    schema.Mask // those of the game
	sent   schema.Mask // and the library's own, of entities of a prefab
	prefab int         // that one; −1: sent is not known
}

// next returns the mask of the next table, which has these components of the game.
func (p *putScratch) next(has schema.MaskBuilder) *tableMask {
	if p.tables == len(p.masks) {
		p.masks = append(p.masks, tableMask{prefab: -1})
	}
	m := &p.masks[p.tables]
	p.tables++
	if now := has.MaskLike(m.has); !now.Equal(m.has) {
		m.has, m.prefab = now, -1
	}
	return m
}

// of returns the mask of the table's entities of a prefab.
func (m *tableMask) of(p *compiled, prefab uint16) schema.Mask {
	if m.prefab == int(prefab) {
		return m.sent
	}
	set, k := m.has.Builder(), &p.Prefabs[prefab]
	switch {
	case k.Matched():
		set.Set(p.Origins.Matched)
	case k.ClientOnly():
		set.Set(p.Origins.ClientOnly)
	}
	if k.Interpolated {
		set.Set(p.Origins.Interpolated)
	}
	m.sent, m.prefab = set.MaskLike(m.sent), int(prefab)
	return m.sent
}

func (s *Server) putRows(rows ecs.Rows) {
	var set schema.MaskBuilder
	cols := s.senders.put.columns[:0]
	for i := range s.p.Components {
		c := &s.p.Components[i]
		if base := rows.Column(c.ID); base != nil {
			set.Set(i)
			cols = append(cols, column{base, c.Size, i})
		}
	}
	s.senders.put.columns = cols
	ids, mask := s.p.identity.Slice(rows), s.senders.put.next(set)
	for k := range ids {
		at := s.senders.put.pointers[:0]
		for _, c := range cols {
			at = append(at, unsafe.Add(c.base, uintptr(k)*c.size))
			if p := &s.p.Components[c.index]; !p.Predicted {
				if p.Varies {
					s.sim.countCut(p, at[len(at)-1])
				}
				s.sim.losses.bounds(c.index, at[len(at)-1])
			}
		}
		owner, prefab := uint16(rows.Owner()), &s.p.Prefabs[ids[k].Prefab]
		switch {
		case prefab.Matched():
			at = append(at, ids[k].sent(rows.Owner()))
		case prefab.ClientOnly():
			at = append(at, unsafe.Pointer(&noOrigin))
		}
		if prefab.Interpolated {
			at = append(at, unsafe.Pointer(&ids[k].ahead))
		}
		s.senders.put.pointers = at
		if owner == 0 && prefab.Common {
			owner = snapshot.Everyone
		}
		s.late.fades.displace(s.senders.source, rows.Entity(k))
		if s.senders.source.Put(snapshot.NetID(ids[k].Net), int(ids[k].Prefab), owner, mask.of(s.p, ids[k].Prefab), at, serverRefs{s}) {
			s.interest.appears(rows.Entity(k), snapshot.NetID(ids[k].Net))
		}
		if rows.Entity(k) == s.sim.row.e {
			s.senders.source.SetFirst(snapshot.NetID(ids[k].Net))
		}
		if s.p.Teams {
			s.senders.source.SetTeam(snapshot.NetID(ids[k].Net), s.interest.teamOf(rows.Entity(k), rows.Owner()))
		}
	}
}

// serverRefs maps entity references to network ids and back.
type serverRefs struct{ s *Server }

func (r serverRefs) Net(entity uint64) uint32 {
	if id := r.s.p.identity.Find(r.s.sim.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity is never needed on the server: words are only read back for hitboxes, which do not
// use references.
func (r serverRefs) Entity(uint32) uint64 { return 0 }

// longCounts is what was counted so far of a sender's long records, and of the entities for
// which it had no wire id.
type longCounts struct{ inPieces, tooLong, notShown uint64 }

// countLong counts the records of the tick's snapshots that are longer than a packet, and names
// those that are too long to send. It counts the entities that are one too many for a player, too.
func (s *senders) countLong(st *stats.Server, m *simulation, log *slog.Logger) {
	for _, p := range s.encoding {
		sender := p.outbox.sender
		was, now := &p.outbox.long, sender.Counters()
		if now.NoWireID != was.notShown {
			st.NotShown += now.NoWireID - was.notShown
			was.notShown = now.NoWireID
			if !s.toldCrowd {
				s.toldCrowd = true
				log.Warn("too many entities for a player: it is shown 65 535 and no others: declare foretick.Interest, or hide some with Frame.SetVisible",
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
			if !s.toldLong.Has(l.Component) { // each component that takes most is named once
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
		for _, at := range m.p.identity.Slice(rows) {
			if at.Net == uint32(id) {
				return m.p.Prefabs[at.Prefab].ECS.Name()
			}
		}
	}
	return ""
}

// takeUnread takes a player's report of a snapshot that it refused as malformed. All
// entities are sent in full, without the one that the report names, which is tried again
// after 1, 2, 4 s and so on. A report that is not true gains nothing: see playerUnread.
func (s *Server) takeUnread(p *player, body []byte, b []byte) error {
	var u netcode.Unread
	err := s.panics.decodePeer(p, b, func() (err error) { u, err = netcode.ParseUnread(body); return err })
	if err != nil || p.session.poisoned {
		return err
	}
	t, rate, sender := s.sim.frame.Tick, s.p.TickRate, p.outbox.sender
	if p.session.state != playing && p.session.state != watching || sender == nil || u.Epoch != s.level.epoch || p.unread.early(t, rate) {
		return nil
	}
	s.stats.SnapshotsUnread++
	p.stats.SnapshotsUnread++
	p.unread.last = t
	line := p.who()
	line, again := append(line, "tick", t), false
	if id, ok := sender.Named(schema.WireID(u.Wire)); ok {
		seconds, first := p.unread.leaveOut(id, sender, t, rate)
		line, again = append(line, "entity", uint32(id), "left_out_s", seconds), !first
	}
	if !again { // else nothing but the entity that was tried again is at fault
		p.unread.restart(sender)
	}
	s.logs.Logger.Warn("a client could not read a snapshot", line...)
	return nil
}

// bandwidthLines returns the bytes sent to and received from all clients since the server began,
// by component and field. It returns nil unless [ServerConfig].Profile is set. The bytes of
// a vector are counted at its first field. Commands are sent as differences from one
// another, so their bytes are divided among the fields by size.
func (s *Server) bandwidthLines() []stats.Bandwidth {
	if s.bandwidth == nil {
		return nil
	}
	var out []stats.Bandwidth
	for _, l := range s.bandwidth.down.Lines() {
		line := stats.Bandwidth{Component: l.Component, Field: l.Field, Bytes: l.Bytes}
		if l.Component == "" {
			line.What = "snapshots"
		}
		out = append(out, line)
	}
	out = append(out, stats.Bandwidth{What: "packets", Bytes: float64(s.stats.BytesOut) - float64(s.bandwidth.down.Bytes())})
	if c := s.p.Command; c != nil {
		bits := 0
		for _, f := range c.Schema.Fields() {
			bits += f.Bits
		}
		for _, f := range c.Schema.Fields() {
			share := float64(s.bandwidth.up) * float64(f.Bits) / float64(max(bits, 1))
			out = append(out, stats.Bandwidth{Up: true, Component: c.Schema.Name(), Field: f.Name, Bytes: share})
		}
	}
	return append(out, stats.Bandwidth{Up: true, What: "packets", Bytes: float64(s.stats.BytesIn) - float64(s.bandwidth.up)})
}

const maxSnapshotTicks = 120 // between two snapshots to one client, at most

// newSender makes what codes a player's snapshots.
func (s *Server) newSender(p *player) *snapshot.Sender {
	p.unread.forgetLevel()
	p.reasons.ForgetConcealed()
	p.outbox.long = longCounts{}
	cfg := snapshot.SenderConfig{Statistics: s.cfg.TrainCompression, Profile: s.profile()}
	if p.interest.near = s.interest.newView(); p.interest.near != nil {
		cfg.Relevant, cfg.Priority = true, p.interest.near.Priority
	}
	cfg.Everything = p.observing != nil && p.observing.grant.Everything
	return s.senders.source.NewSender(uint16(p.views()), cfg)
}
