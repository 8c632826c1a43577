package snapshot

import "math/bits"

// Sent remembers what one snapshot carried, until the fate of its packet is known.
// It belongs to the caller, which keeps one for each packet in flight and reuses it.
type Sent struct {
	tick    Tick
	view    uint32
	seq     uint32
	records wireSet
	count   int
	away    []removal
	late    []span // wire ids of what it said to have put off
}

type removal struct {
	wire WireID
	life uint32
}

// Tick is the tick of the snapshot, 0 if none was appended.
func (r *Sent) Tick() Tick { return r.tick }

// Len is the number of records and removals carried.
func (r *Sent) Len() int { return r.count + len(r.away) }

// Reset forgets the contents and keeps the memory.
func (r *Sent) Reset() {
	r.tick, r.count, r.records, r.away, r.late = 0, 0, r.records[:0], r.away[:0], r.late[:0]
}

// Delivered says that the packet with this snapshot arrived: its records become
// baselines, and its removals need not be repeated. Call Delivered or Lost once for
// each packet, in any order.
func (s *Sender) Delivered(rec *Sent) {
	if rec.tick == 0 || s.closed {
		return
	}
	for _, it := range rec.away {
		if g := &s.shown[it.wire]; g.life == it.life && g.state == wireLeaving {
			g.state = wireResting
			s.away.drop(it.wire)
			s.rest = append(s.rest, resting{it.wire, s.src.tick, s.appends})
		}
	}
	if age := s.trail.ageOf(rec.seq); age >= 0 {
		s.arrived(age)
	} else if rec.view == s.view {
		s.arrivedLate(rec)
	}
	if s.newest == 0 || after(rec.tick, s.newest) {
		s.newest = rec.tick
	}
}

// arrived makes the records of a snapshot baselines. What did not change since is
// known to the viewer.
func (s *Sender) arrived(age int) {
	l := &s.trail
	l.delivered |= 1 << ((l.here - age) & (trailLength - 1))
	for i, m := range l.aged(age).carried {
		if fresh := m &^ s.held[i]; fresh != 0 {
			s.held[i] |= m
			s.mapEpoch++
		}
		for k := age - 1; k >= 0 && m != 0; k-- {
			m &^= l.aged(k).changed[i]
		}
		s.dirty[i] &^= m
	}
}

// arrivedLate does so for a snapshot that the trail has lost.
func (s *Sender) arrivedLate(rec *Sent) {
	for i, m := range rec.records {
		for ; m != 0; m &= m - 1 {
			w := WireID(i<<6 + bits.TrailingZeros64(m))
			if !s.live.has(w) || after(s.shown[w].born, rec.tick) {
				continue
			}
			o := &s.trail.old[w]
			o.safe = o.safe || o.sent == rec.tick
			if o.acked == 0 || after(rec.tick, o.acked) {
				o.acked, o.since = rec.tick, 0
				if o.sent != rec.tick {
					o.since = rec.tick + 1
				}
			}
			if !s.held.has(w) {
				s.held.add(w)
				s.mapEpoch++
			}
			h := &s.src.hot[s.slots[w]]
			if h.id == s.shown[w].id && !after(s.src.changed(s.slots[w], h, s.auds[w]), rec.tick) && !after(s.from[w], rec.tick) {
				s.dirty.drop(w)
			}
		}
	}
}

// Lost says that the packet with this snapshot did not arrive. Nothing is sent
// again for it: what changed is in every snapshot until one is delivered. Entities
// that it carried go a little earlier in the next.
func (s *Sender) Lost(rec *Sent) {
	if rec.tick == 0 || s.closed {
		return
	}
	for i, m := range rec.records {
		for ; m != 0; m &= m - 1 {
			w := WireID(i<<6 + bits.TrailingZeros64(m))
			if s.live.has(w) && !after(s.shown[w].born, rec.tick) {
				s.gained[w]++
				s.waiting.add(w)
			}
		}
	}
}
