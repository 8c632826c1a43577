package foretick

import (
	"time"

	"github.com/foretick/foretick/netcode"
)

// send gives each peer its packet of this tick: the snapshot when one is due,
// and acknowledgements and reliable messages in any case.
func (s *Server) send(now time.Duration) {
	for _, p := range s.players {
		if p.state == greeting || p.state == away {
			continue
		}
		pk := p.conn.Begin(now)
		p.fates()
		welcome := false
		if p.state == playing && !p.welcomed {
			s.scratch = s.welcome(p).Append(s.scratch[:0])
			welcome = pk.Message(netcode.MessageWelcome, s.scratch)
		}
		if p.state == playing {
			s.levelInfo(p, pk)
		}
		if p.state != playing || s.frame.Tick%p.every != 0 {
			s.finish(p, pk, welcome)
			continue
		}
		s.note(p, pk)
		s.snapshot(p, pk, welcome)
	}
}

// snapshotReserve is what is kept free behind a snapshot for reliable messages.
const snapshotReserve = 96

func (s *Server) snapshot(p *player, pk *netcode.Packet, welcome bool) {
	h := netcode.SnapshotHeader{Tick: s.frame.Tick, Epoch: s.epoch}
	if p.buffer != nil {
		h.Early, h.HasEarly = p.buffer.Early()
		h.CommandAck = p.buffer.Ack()
		if h.HasEarly {
			p.early = max(time.Duration(h.Early), 0) * s.interval / 256
		}
	}
	b := h.Append(s.scratch[:0])
	room := pk.Room() - len(b)
	if p.conn.Pending() > 0 {
		room -= snapshotReserve
	}
	p.next.has, p.next.welcome, p.next.epoch = false, welcome, s.epoch
	if room > 0 {
		b = p.sender.Append(b, room, &p.next.snapshot)
		p.next.has = pk.Message(netcode.MessageSnapshot, b)
	}
	s.scratch = b[:0]
	s.flush(p, pk)
}

// finish sends a packet that carries no snapshot.
func (s *Server) finish(p *player, pk *netcode.Packet, welcome bool) {
	p.next.has, p.next.welcome, p.next.epoch = false, welcome, s.epoch
	s.flush(p, pk)
}

func (s *Server) flush(p *player, pk *netcode.Packet) {
	seq, b := pk.Finish()
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
