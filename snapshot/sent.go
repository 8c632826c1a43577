package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/schema"
)

// Sent holds the contents of one snapshot until its packet is known to have arrived or
// to be lost. It belongs to the caller, which keeps one for each packet in flight and
// reuses it.
type Sent struct {
	tick    schema.Tick
	view    uint32
	seq     uint32
	records wireSet
	count   int
	away    []removal
	late    []span // late has the wire ids that the snapshot listed as postponed.
	pieces  []sentPiece
}

type removal struct {
	wire schema.WireID
	life uint32
}

// Tick returns the tick of the snapshot that [Sender.Append] recorded here, or 0 while there
// is none.
func (r *Sent) Tick() schema.Tick { return r.tick }

// Len returns the number of records, pieces of records, and removals in the snapshot.
func (r *Sent) Len() int { return r.count + len(r.pieces) + len(r.away) }

// Reset drops the contents and keeps the memory.
func (r *Sent) Reset() {
	r.tick, r.count, r.records, r.away, r.late, r.pieces = 0, 0, r.records[:0], r.away[:0], r.late[:0], r.pieces[:0]
}

// Delivered reports to the sender that the packet with this snapshot arrived. Its
// records become baselines, and its removals need not be repeated. Call Delivered or
// Lost once for each packet, in any order.
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
	s.settlePieces(rec, true)
	if age := s.sent.ageOf(rec.seq); age >= 0 {
		s.arrived(age)
	} else if rec.view == s.view {
		s.arrivedLate(rec)
	}
	if s.newest == 0 || after(rec.tick, s.newest) {
		s.newest = rec.tick
	}
}

// arrived makes the records of a snapshot baselines. The viewer also knows the values
// that did not change since.
func (s *Sender) arrived(age int) {
	l := &s.sent
	l.delivered |= 1 << ((l.here - age) & (sentLength - 1))
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

// arrivedLate does the same as arrived for a snapshot that is no longer in the log.
func (s *Sender) arrivedLate(rec *Sent) {
	for i, m := range rec.records {
		for ; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			if !s.live.has(w) || after(s.shown[w].born, rec.tick) {
				continue
			}
			o := &s.sent.old[w]
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
			if h.id == s.shown[w].id && !after(s.src.newestChange(s.slots[w], h, s.auds[w]), rec.tick) && !after(s.from[w], rec.tick) {
				s.dirty.drop(w)
			}
		}
	}
}

// Lost reports to the sender that the packet with this snapshot did not arrive. Nothing
// is sent again because of it: each change is in every snapshot until one is delivered.
// Its entities go a little earlier in the next snapshot.
func (s *Sender) Lost(rec *Sent) {
	if rec.tick == 0 || s.closed {
		return
	}
	s.settlePieces(rec, false)
	for i, m := range rec.records {
		for ; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			if s.live.has(w) && !after(s.shown[w].born, rec.tick) {
				s.gained[w]++
				s.waiting.add(w)
			}
		}
	}
}
