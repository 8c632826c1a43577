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
	s.encoding = s.encoding[:0]
	for _, p := range s.players {
		p.packet = nil
		if p.state != away && (p.state != greeting || p.asked || p.otherBuilds) {
			s.beginPacket(p, now)
		}
	}
	s.encode()
	for _, p := range s.players {
		if p.packet != nil {
			s.flush(p)
		}
	}
}

// beginPacket starts a player's packet, with all that comes before a snapshot.
func (s *Server) beginPacket(p *player, now time.Duration) {
	pk := p.conn.Begin(now)
	p.packet, p.snapshotDue = pk, false
	p.fates(s)
	welcome := false
	if p.state == playing && !p.welcomed {
		s.scratch = s.welcome(p).Append(s.scratch[:0])
		welcome = s.insist(p, pk, netcode.MessageWelcome, s.scratch)
	}
	if p.state == playing {
		s.levelInfo(p, pk)
	}
	p.next.has, p.next.welcome, p.next.epoch = false, welcome, s.epoch
	if p.state != playing || !p.due(s.frame.Tick) || !s.reads(p) {
		return
	}
	if debugBuild {
		s.trail(p, pk)
	}
	if p.near != nil {
		s.survey.look(s, p)
	}
	s.note(p)
	p.snapshotDue = true
	s.encoding = append(s.encoding, p)
}

// insistEvery is how often a message that must not wait for the rate is sent beyond it.
const insistEvery = 100 * time.Millisecond

// insist writes a message without which the player can read no snapshots. If the rate
// leaves no room for it, it goes beyond the rate, but not in every packet.
func (s *Server) insist(p *player, pk *netcode.Packet, t netcode.MessageType, body []byte) bool {
	if pk.Message(t, body) {
		return true
	}
	if p.insisted != 0 && s.now-p.insisted < insistEvery {
		return false
	}
	p.insisted = s.now
	pk.Press()
	return pk.Message(t, body)
}

// reads reports whether the player can read a snapshot in the packet that is being
// built: it has the welcome and the level, or the packet carries them. It would
// acknowledge what it cannot read, and the server take that for a baseline.
func (s *Server) reads(p *player) bool {
	return (p.welcomed || p.next.welcome) && (!s.named || p.entered || p.next.level)
}

// newSender makes what codes a player's snapshots.
func (s *Server) newSender(p *player) *snapshot.Sender {
	cfg := snapshot.SenderConfig{Statistics: s.cfg.TrainCompression}
	if s.bandwidth != nil {
		cfg.Profile = s.bandwidth.down
	}
	if p.near = nil; s.survey != nil {
		p.near = s.survey.area.NewView()
		cfg.Relevant, cfg.Priority = true, p.near.Priority
	}
	return s.source.NewSender(uint16(p.owner), cfg)
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
	if s.cfg.Executor != nil && s.cfg.TrainCompression == nil && s.bandwidth == nil {
		shares = min(max(len(s.encoding)/sharePlayers, 1), maxShares)
	}
	for len(s.caches) < shares {
		s.caches = append(s.caches, &snapshot.Cache{})
	}
	if shares == 1 {
		for _, p := range s.encoding {
			s.snapshot(p, s.caches[0])
		}
		return
	}
	slices.SortStableFunc(s.encoding, func(a, b *player) int { return cmp.Compare(a.sender.Behind(), b.sender.Behind()) })
	s.shares = shares
	s.cfg.Executor.Run(shares, s.share)
}

// encodeShare makes the snapshots of the i-th share.
func (s *Server) encodeShare(i int) {
	n := len(s.encoding)
	for _, p := range s.encoding[i*n/s.shares : (i+1)*n/s.shares] {
		s.snapshot(p, s.caches[i])
	}
}

// snapshot makes a player's snapshot. It touches nothing but the player's own, and
// the cache: those of others may be made at the same time.
func (s *Server) snapshot(p *player, cache *snapshot.Cache) {
	h := netcode.SnapshotHeader{Bare: true, Epoch: s.epoch}
	if p.buffer != nil {
		h.Early, h.HasEarly = p.buffer.Early()
		h.CommandAck = p.buffer.Ack() - s.frame.Tick
		if h.HasEarly {
			p.early = max(time.Duration(h.Early), 0) * s.interval / 256
		}
	}
	b := h.Append(p.packed[:0])
	before := len(b)
	budget, room := p.packet.Room()-before-p.noteSize(), p.packet.MostRoom()-before-p.noteSize()
	if p.conn.Pending() > 0 {
		budget, room = budget-snapshotReserve, room-snapshotReserve
	}
	if p.snapshotDue = room > 0; p.snapshotDue {
		p.sender.UseCache(cache)
		b = p.sender.AppendBudget(b, budget, room, &p.next.snapshot)
	}
	p.packed, p.presses = b, len(b) > budget+before
}

// finish sends a packet that carries no snapshot.
func (s *Server) finish(p *player, pk *netcode.Packet, welcome bool) {
	p.packet, p.snapshotDue = pk, false
	p.next.has, p.next.welcome, p.next.epoch = false, welcome, s.epoch
	s.flush(p)
}

func (s *Server) flush(p *player) {
	if p.snapshotDue {
		if p.presses {
			p.packet.Press() // the player's own state does not wait for the rate
		}
		if len(p.noteBody) > 0 {
			p.packet.Message(messageNote, p.noteBody)
		}
		p.next.has = p.packet.Message(netcode.MessageSnapshot, p.packed)
	}
	seq, b := p.packet.Finish()
	slot := p.sent.Insert(seq)
	*slot, p.next = p.next, *slot // swapped, so that both keep their memory
	if err := s.endpoint.Send(p.peer, b); err != nil {
		s.stats.PacketsRefused++
		return
	}
	s.stats.PacketsOut++
	s.stats.BytesOut += uint64(len(b))
	p.stats.PacketsOut++
	p.stats.BytesOut += uint64(len(b))
}
