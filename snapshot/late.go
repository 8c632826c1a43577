package snapshot

import (
	"github.com/foretick/foretick/schema"
)

// Lates remembers which entities each of a number of snapshots postponed: those that changed and did not fit.
// Each snapshot has a slot. What Lates remembers does not depend on the [Sent]. It allocates while it grows,
// but not once the slots hold as much as usual.
type Lates struct {
	slots []lateRuns
	runs  []span // runs has the runs of all slots, one slot's after another, with gaps.
	spare []span
}

// lateRuns is where a slot's runs are.
type lateRuns struct{ from, to int32 }

// NewLates returns memory for that many snapshots.
func NewLates(slots int) Lates { return Lates{slots: make([]lateRuns, slots)} }

// Reset forgets all snapshots and keeps the memory.
func (l *Lates) Reset() {
	clear(l.slots)
	l.runs = l.runs[:0]
}

// Forget empties a slot, as of a snapshot that held everything.
func (l *Lates) Forget(slot int) { l.slots[slot] = lateRuns{} }

// Note stores which entities a snapshot postponed in a slot, in place of what the slot held. Entities with a
// record in the snapshot do not count. Note reports whether the snapshot postponed anything.
func (l *Lates) Note(slot int, sent *Sent) bool {
	if l.Forget(slot); len(sent.late) == 0 {
		return false
	}
	// Each record within a run cuts it in two.
	if most := len(sent.late) + sent.count; len(l.runs)+most > cap(l.runs) {
		l.pack(most)
	}
	from := len(l.runs)
	for _, r := range sent.late {
		l.runs = sent.without(l.runs, r)
	}
	l.slots[slot] = lateRuns{int32(from), int32(len(l.runs))}
	return true
}

// without appends the parts of a run that the snapshot has no records of.
func (r *Sent) without(to []span, run span) []span {
	at, words := int(run.from), min(len(r.records), int(run.to)>>6+1)
	for at <= int(run.to) {
		carried := nextWire(words, at, func(i int) uint64 { return r.records[i] })
		if carried < 0 || carried > int(run.to) {
			return append(to, span{schema.WireID(at), run.to})
		}
		if carried > at {
			to = append(to, span{schema.WireID(at), schema.WireID(carried - 1)})
		}
		at = carried + 1
	}
	return to
}

// pack closes the gaps between the slots' runs, and makes room for more runs.
func (l *Lates) pack(more int) {
	used := more
	for _, s := range l.slots {
		used += int(s.to - s.from)
	}
	next := l.spare[:0]
	if cap(next) < used+used/2 { // leave room, so that runs are not packed again soon
		next = make([]span, 0, 2*used)
	}
	for i, s := range l.slots {
		from := len(next)
		next = append(next, l.runs[s.from:s.to]...)
		l.slots[i] = lateRuns{int32(from), int32(len(next))}
	}
	l.runs, l.spare = next, l.runs
}

// Copy makes l a copy of another with as many slots. It reuses the memory of l.
func (l *Lates) Copy(from *Lates) {
	l.slots, l.runs = append(l.slots[:0], from.slots...), append(l.runs[:0], from.runs...)
}

// Has reports whether the snapshot in a slot left its viewer without the entity's value for
// that tick. If so, [Ghost.At] returns false there, and [Ghost.Sample] interpolates between
// other ticks.
func (l *Lates) Has(slot int, w schema.WireID) bool {
	s := l.slots[slot]
	return s.from != s.to && inSpans(l.runs[s.from:s.to], w)
}

// Shown is like [Sender.Known] and also returns the first tick that the viewer was shown the entity
// ([Ghost.Born]). The viewer knows nothing of earlier ticks, whatever it received.
func (s *Sender) Shown(id NetID) (w schema.WireID, since schema.Tick, ok bool) {
	if w = s.known(id); w == 0 {
		return 0, 0, false
	}
	return w, s.shown[w].born, true
}
