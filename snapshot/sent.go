package snapshot

// Sent remembers what one snapshot carried, until the fate of its packet is known.
// It belongs to the caller, which keeps one for each packet in flight and reuses it.
type Sent struct {
	tick  Tick
	view  uint32
	items []sentItem
}

type sentItem struct {
	wire WireID
	away bool // a removal
	life uint32
}

// Tick is the tick of the snapshot, 0 if none was appended.
func (r *Sent) Tick() Tick { return r.tick }

// Len is the number of records and removals carried.
func (r *Sent) Len() int { return len(r.items) }

// Reset forgets the contents and keeps the memory.
func (r *Sent) Reset() { r.tick, r.items = 0, r.items[:0] }

// Delivered says that the packet with this snapshot arrived: its records become
// baselines, and its removals need not be repeated. Call Delivered or Lost once for
// each packet, in any order.
func (s *Sender) Delivered(rec *Sent) {
	if rec.tick == 0 {
		return
	}
	for _, it := range rec.items {
		if int(it.wire) >= len(s.shown) || s.shown[it.wire].life != it.life {
			continue
		}
		g := &s.shown[it.wire]
		switch {
		case it.away:
			if g.state == wireLeaving {
				g.state = wireResting
				s.rest = append(s.rest, resting{it.wire, s.src.tick, s.appends})
			}
		case rec.view == s.view && g.acks && !after(rec.tick, g.acked):
			g.hold(rec.tick)
		case rec.view == s.view:
			if !g.acks && g.state == wireLive {
				s.mapEpoch++
			}
			g.hold(rec.tick)
			g.acks, g.acked = true, rec.tick
			g.since = rec.tick + 1
		}
	}
	switch {
	case s.newest == 0:
		s.newest, s.acked = rec.tick, 1
	case after(rec.tick, s.newest):
		s.newest, s.acked = rec.tick, shifted(s.acked, rec.tick-s.newest)|1
	default:
		s.acked |= bitAt(s.newest - rec.tick)
	}
}

// hold notes that the record of a tick was delivered.
func (g *shown) hold(t Tick) {
	g.held |= bitAt(g.last - t)
	g.safe = g.safe || t == g.anchor
}

func bitAt(d uint32) uint64 {
	if d < 64 {
		return 1 << d
	}
	return 0
}

func shifted(m uint64, d uint32) uint64 {
	if d < 64 {
		return m << d
	}
	return 0
}

// Lost says that the packet with this snapshot did not arrive. Nothing is sent
// again for it: what changed is in every snapshot until one is delivered. Entities
// that it carried go a little earlier in the next.
func (s *Sender) Lost(rec *Sent) {
	for _, it := range rec.items {
		if int(it.wire) < len(s.shown) {
			if g := &s.shown[it.wire]; g.life == it.life && !it.away {
				g.gained++
			}
		}
	}
}
