package snapshot

import (
	"math/bits"
	"slices"

	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// twin is a complete snapshot of this tick, kept for other viewers that own nothing. Such observers get the
// same bytes if they may see the same, and if their networks delivered the same as far as it matters. A twin
// holds everything that the bytes depend on.
type twin struct {
	everything bool
	expecting  bool
	whole      bool // whole is true if nothing was postponed in the usual baseline.
	window     int
	spawns     int
	usual      [3]uint32
	carried    [3]wireSet // carried has the entities with records in the usual baselines.
	live       wireSet
	want       wireSet
	entities   []twinEntity // entities are the entities that are sent or expected.
	leaving    []twinLeaving
	bytes      []byte

	// cost is the bits of the expected entities' flags, total the bits of the records, and others counts the
	// records that are not expected.
	cost, total, others int
}

// twinEntity is what an entity's record depends on, besides its wire id. An entity that is expected but not
// sent has only slot and aud.
type twinEntity struct {
	slot int32
	aud  quantise.Audience

	// steady is true if the record is against all usual baselines. Then only from matters of the fields below.
	steady bool
	held   bool
	stale  bool // stale is true if the entity's baseline is too old.
	jumps  uint16
	known  [3]bool // known is true where the viewer holds the entity's value of that usual baseline's tick.
	from   schema.Tick
	born   schema.Tick
	acked  schema.Tick
	at     [3]schema.Tick
}

type twinLeaving struct {
	wire   schema.WireID
	hidden bool
	gone   schema.Tick
}

// maxTwins is the most twins of a tick: viewers fall into groups by their delays.
const maxTwins = 8

// mayTwin reports whether a sender's snapshot may equal another sender's, as far as that is known before its
// records are chosen.
func (s *Sender) mayTwin() bool {
	return s.viewer == 0 && s.planned && !s.leavesOut() && !s.cuts() && !s.tight && !s.counts() && s.cfg.Profile == nil &&
		!s.stuck && s.Leaving() == len(s.leaving) && s.unsure()+min(s.mostSpawns(), maxUnsure) <= maxUnsure
}

// desire fills want with the entities that have something to send.
func (s *Sender) desire() {
	for i, live := range s.live {
		s.want[i] = live & (^s.held[i] | s.dirty[i] | s.pending[i])
	}
}

// findTwin looks for a twin that equals the sender's snapshot and fits in left bits. If there is one, the
// sender's records are chosen.
func (s *Sender) findTwin(left int) bool {
	s.twin = nil
	if s.cache.kept == 0 || !s.mayTwin() {
		return false
	}
	s.desire()
	for i := range s.cache.twins[:s.cache.kept] {
		if t := &s.cache.twins[i]; s.isTwin(t) && left >= 2*t.cost+2 && t.cost+t.total+s.gapBits(t.others) <= left {
			s.twin, s.barred, s.barredOwn = t, false, false
			s.cache.hits += uint64(len(t.entities))
			copy(s.chosen, s.want)
			return true
		}
	}
	return false
}

// isTwin compares everything that a snapshot depends on.
func (s *Sender) isTwin(t *twin) bool {
	if s.usual != t.usual || s.expecting != t.expecting || s.cfg.Everything != t.everything || s.cfg.Window != t.window || s.cfg.Spawns != t.spawns ||
		s.sent.aged(s.ages[0]).whole != t.whole || !slices.Equal(s.want, t.want) || !slices.Equal(s.live, t.live) || len(s.leaving) != len(t.leaving) {
		return false
	}
	for i, age := range s.ages {
		if !slices.Equal(s.sent.aged(age).carried, t.carried[i]) {
			return false
		}
	}
	for i, w := range s.leaving {
		if s.departure(w) != t.leaving[i] {
			return false
		}
	}
	usual, n := t.carried[0], 0
	for i, want := range s.want {
		if want&s.refers[i] != 0 {
			return false
		}
		m := want
		if s.expecting {
			m |= s.live[i] & usual[i]
		}
		for ; m != 0; m &= m - 1 {
			w := schema.WireID(i<<6 + bits.TrailingZeros64(m))
			e := &t.entities[n]
			n++
			switch {
			case s.slots[w] != e.slot || s.auds[w] != e.aud:
				return false
			case want&(m&-m) == 0:
			case s.from[w] != e.from || !e.steady && s.entityOf(w, false) != *e:
				return false
			}
		}
	}
	return true
}

func (s *Sender) departure(w schema.WireID) twinLeaving {
	return twinLeaving{w, s.shown[w].hidden, s.shown[w].gone}
}

// mentioned calls yield for each entity that is sent or expected.
func (s *Sender) mentioned(yield func(schema.WireID) bool) {
	usual := s.sent.aged(s.ages[0]).carried
	for i, want := range s.want {
		m := want
		if s.expecting {
			m |= s.live[i] & usual[i]
		}
		for ; m != 0; m &= m - 1 {
			if !yield(schema.WireID(i<<6 + bits.TrailingZeros64(m))) {
				return
			}
		}
	}
}

// entityOf returns what an entity's record depends on.
func (s *Sender) entityOf(w schema.WireID, steady bool) twinEntity {
	e := twinEntity{slot: s.slots[w], aud: s.auds[w], steady: steady}
	if !s.want.has(w) {
		return e
	}
	e.from = s.from[w]
	if steady {
		return e
	}
	l, g := &s.sent, &s.shown[w]
	e.held, e.jumps, e.born, e.acked = s.held.has(w), g.jumps, g.born, s.acked(w)
	e.stale = s.outdated(w, e.acked)
	for i, age := range s.ages {
		e.at[i], e.known[i] = l.holds(w, age)
	}
	return e
}

// keepTwin keeps the chosen snapshot as a twin for other viewers. The caller sets its bytes afterwards.
func (s *Sender) keepTwin() *twin {
	if s.cache.kept == maxTwins || !s.mayTwin() || len(s.runs) > 0 || s.barred || s.expecting != s.mayExpect() {
		return nil
	}
	total, others, cost := 0, 0, 0
	for i := range s.cands {
		c := &s.cands[i]
		if s.refers.has(c.wire) {
			return nil
		}
		if total += int(c.size); !c.listed {
			others++
		}
	}
	for _, x := range s.expected {
		cost += int(s.code.Tables.Costs[x.ctx][0])
	}
	k := s.cache
	if k.kept == len(k.twins) {
		k.twins = append(k.twins, twin{})
	}
	t := &k.twins[k.kept]
	k.kept++
	t.everything, t.expecting, t.usual, t.whole = s.cfg.Everything, s.expecting, s.usual, s.sent.aged(s.ages[0]).whole
	for i, age := range s.ages {
		t.carried[i] = append(t.carried[i][:0], s.sent.aged(age).carried...)
	}
	t.live, t.want = append(t.live[:0], s.live...), append(t.want[:0], s.want...)
	t.window, t.spawns = s.cfg.Window, s.cfg.Spawns
	t.leaving, t.entities = t.leaving[:0], t.entities[:0]
	for _, w := range s.leaving {
		t.leaving = append(t.leaving, s.departure(w))
	}
	n := 0
	for w := range s.mentioned {
		for n < len(s.cands) && s.cands[n].wire < w {
			n++
		}
		t.entities = append(t.entities, s.entityOf(w, n < len(s.cands) && s.cands[n].wire == w && s.cands[n].steady))
	}
	t.cost, t.total, t.others = (cost+255)/256, total, others
	return t
}

// copyTwin appends the snapshot that another viewer got, and notes its records as sent.
func (s *Sender) copyTwin(dst []byte, rec *Sent) []byte {
	s.head.Bits.Reset(s.head.Bits.Buf[:0])
	s.writeLeaving(&s.head.Bits, rec)
	s.noteChosenSent(rec)
	s.cache.copied++
	return append(dst, s.twin.bytes...)
}
