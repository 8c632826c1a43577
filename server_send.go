package foretick

import (
	"cmp"
	"slices"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// send gives each peer its packet of this tick: the snapshot when one is due,
// and acknowledgements and reliable messages in any case.
func (s *Server) send(now time.Duration) {
	s.dropOverflowed()
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
	s.countLong()
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
	if p.interest.near != nil && !s.sees(p) {
		return
	}
	if p.observing == nil {
		if debugBuild {
			s.sendTrail(p, d.packet)
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
		s.writeTrace(p)
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
