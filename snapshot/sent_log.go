package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/schema"
)

// sentLength is the number of snapshots that a sender remembers entity by entity. From
// older ones it knows only each entity's newest record and the newest delivered one.
const sentLength = 64

// sentLog remembers which records the newest snapshots carried, and which of these snapshots were delivered. Each
// snapshot has one of 64 places. For each wire id, sends has a bit for each place.
type sentLog struct {
	steps     [sentLength]step
	seq       uint32 // seq is the number of the snapshot at hand.
	here      int    // here is the place of the snapshot at hand.
	delivered uint64 // delivered has a bit for each place.
	valid     uint64 // valid has a bit for each age. The snapshot at hand has none while it is made.
	got       uint64 // got is delivered, by age, while a snapshot is made.
	sends     []uint64
	old       []before
}

// step is one snapshot.
type step struct {
	tick    schema.Tick
	whole   bool    // whole is true if nothing was postponed.
	carried wireSet // carried has the entities with a record in the snapshot.
	changed wireSet // changed has the entities that changed since the snapshot before.
}

// before is what a sender knows of a wire id's records from before the log.
type before struct {
	sent  schema.Tick // sent is the tick of the newest record. 0 means none.
	safe  bool        // safe is true if the newest record was delivered.
	acked schema.Tick // acked is the tick of the newest delivered record. 0 means none.
	since schema.Tick // since is the tick of the oldest record after acked. 0 means none.
}

// growWires makes room for n wire ids.
func (l *sentLog) growWires(n int) {
	for len(l.sends) < n {
		l.sends, l.old = append(l.sends, 0), append(l.old, before{})
	}
	for i := range l.steps {
		for e := &l.steps[i]; len(e.carried)<<6 < n; {
			e.carried, e.changed = append(e.carried, 0), append(e.changed, 0)
		}
	}
}

// beginSnapshot takes the place of the oldest snapshot for that of tick t.
func (l *sentLog) beginSnapshot(t schema.Tick) {
	l.seq++
	l.here = int(l.seq % sentLength)
	e := &l.steps[l.here]
	mark := uint64(1) << l.here
	// Entities that the next oldest snapshot carried too need no note, because that one's note replaces this
	// one.
	var next wireSet
	if p := (l.here + 1) % sentLength; l.delivered>>p&1 != 0 {
		next = l.steps[p].carried
	}
	ok := l.delivered&mark != 0
	for i, m := range e.carried {
		if next != nil {
			m &^= next[i]
		}
		for ; m != 0; m &= m - 1 {
			o := &l.old[i<<6+bits.TrailingZeros64(m)]
			o.sent, o.safe = e.tick, ok
			if ok {
				o.acked, o.since = e.tick, 0
			} else if o.since == 0 {
				o.since = e.tick
			}
		}
	}
	l.delivered &^= mark
	e.tick, l.valid = t, 1<<63-1
	l.got = l.byAge(l.delivered)
}

// endSnapshot notes the records that the snapshot at hand carries.
func (l *sentLog) endSnapshot(carried wireSet, whole bool) {
	e, mark := &l.steps[l.here], uint64(1)<<l.here
	e.whole, l.valid = whole, ^uint64(0)
	for i, m := range carried {
		for d := m ^ e.carried[i]; d != 0; d &= d - 1 {
			l.sends[i<<6+bits.TrailingZeros64(d)] ^= mark
		}
		e.carried[i] = m
	}
}

// byAge returns a set of places with the newest snapshot at the highest bit and older
// ones at the bits below.
func (l *sentLog) byAge(m uint64) uint64 { return bits.RotateLeft64(m, 63-l.here) & l.valid }

func (l *sentLog) aged(age int) *step { return &l.steps[(l.here-age)&(sentLength-1)] }

// last returns the tick of an entity's newest record, or 0 if there is none.
func (l *sentLog) last(w schema.WireID) schema.Tick {
	if m := l.byAge(l.sends[w]); m != 0 {
		return l.aged(bits.LeadingZeros64(m)).tick
	}
	return l.old[w].sent
}

// acked returns the tick of an entity's newest record that was delivered, or 0 if none was.
func (l *sentLog) acked(w schema.WireID) schema.Tick {
	if m := l.byAge(l.sends[w] & l.delivered); m != 0 {
		return l.aged(bits.LeadingZeros64(m)).tick
	}
	return l.old[w].acked
}

// since returns the tick of an entity's oldest record after its newest delivered one, or 0 if there is none.
func (l *sentLog) since(w schema.WireID) schema.Tick {
	m := l.byAge(l.sends[w])
	if k := l.byAge(l.sends[w] & l.delivered); k != 0 {
		m &^= 1<<(64-bits.LeadingZeros64(k)) - 1
	} else if t := l.old[w].since; t != 0 {
		return t
	}
	if m == 0 {
		return 0
	}
	return l.aged(63 - bits.TrailingZeros64(m)).tick
}

// holds returns the tick of an entity's newest record that is not newer than a
// snapshot. It also returns whether the viewer is known to hold that record.
func (l *sentLog) holds(w schema.WireID, age int) (schema.Tick, bool) {
	m := l.byAge(l.sends[w]) << age
	if m == 0 {
		return l.old[w].sent, l.old[w].safe
	}
	age += bits.LeadingZeros64(m)
	return l.aged(age).tick, l.delivered>>((l.here-age)&(sentLength-1))&1 != 0
}

// holdsAll returns the ticks of an entity's newest records that are as old as three
// snapshots or older, and whether the viewer holds them. The first is the newest that
// it is known to hold. Call it only while a snapshot is made.
func (l *sentLog) holdsAll(w schema.WireID, ages *[3]int) (at [3]schema.Tick, ok bool) {
	m := l.byAge(l.sends[w])
	for i, age := range ages {
		x := m << (uint(age) & 63)
		if x == 0 {
			o := &l.old[w]
			if at[i] = o.sent; !o.safe {
				return at, false
			}
			continue
		}
		if age += bits.LeadingZeros64(x); l.got<<(uint(age)&63)>>63 == 0 {
			return at, false
		}
		at[i] = l.aged(age).tick
	}
	var acked schema.Tick
	if k := m & l.got; k != 0 {
		acked = l.aged(bits.LeadingZeros64(k)).tick
	} else {
		acked = l.old[w].acked
	}
	return at, acked != 0 && at[0] == acked
}

// ageOf returns the age of the snapshot with a sequence number, or −1.
func (l *sentLog) ageOf(seq uint32) int {
	if d := l.seq - seq; d < sentLength {
		return int(d)
	}
	return -1
}

// forgetWire drops everything about a wire id, before its next life.
func (l *sentLog) forgetWire(w schema.WireID) {
	l.sends[w], l.old[w] = 0, before{}
	for i := range l.steps {
		l.steps[i].carried.drop(w)
		l.steps[i].changed.drop(w)
	}
}

// forgetAll drops everything about sent snapshots.
func (l *sentLog) forgetAll() {
	clear(l.sends)
	clear(l.old)
	for i := range l.steps {
		clear(l.steps[i].carried)
	}
}
