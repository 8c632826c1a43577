package prediction

// Ledger remembers the effects that predicted ticks raised, such as shots and
// their sounds. Each effect is reported once, however often its tick is
// replayed. It is cancelled when a replay no longer raises it. K identifies an
// effect within its tick, for example by entity and ordinal. The zero Ledger is
// ready to use; it allocates only while it grows.
type Ledger[K comparable, T any] struct {
	entries []entry[K, T]
	taken   []entry[K, T] // taken is scratch.
	tick    Tick
}

type entry[K comparable, T any] struct {
	tick   Tick
	key    K
	value  T
	raised bool // raised is true if the current or the last run of the tick raised the effect.
}

// Begin starts a run of tick t, the first or a replay.
func (l *Ledger[K, T]) Begin(t Tick) {
	l.tick = t
	for i := range l.entries {
		if l.entries[i].tick == t {
			l.entries[i].raised = false
		}
	}
}

// Raise records that the running tick raised k. It returns true when no earlier
// run of this tick did: then the caller reports it. The newest run's value
// counts.
func (l *Ledger[K, T]) Raise(k K, v T) bool {
	for i := range l.entries {
		if e := &l.entries[i]; e.tick == l.tick && e.key == k {
			e.value, e.raised = v, true
			return false
		}
	}
	l.entries = append(l.entries, entry[K, T]{l.tick, k, v, true})
	return true
}

// End finishes the running tick. It removes the effects that an earlier run
// raised and this one did not, and passes them to cancelled.
func (l *Ledger[K, T]) End(cancelled func(Tick, K, T)) {
	l.takeEntries(func(e *entry[K, T]) bool { return e.tick == l.tick && !e.raised }, cancelled)
}

// Confirm tells the ledger that the server agreed up to tick t. It removes the
// effects raised until then and passes them to confirmed, in the order of their first
// report.
func (l *Ledger[K, T]) Confirm(t Tick, confirmed func(Tick, K, T)) {
	l.takeEntries(func(e *entry[K, T]) bool { return int32(e.tick-t) <= 0 }, confirmed)
}

// Refuse removes the effects up to tick t that the server did not have, and passes
// them to cancelled. stands reports whether the server had an effect. It is called in
// the order of their first report. Call it before Confirm when a correction at t
// leaves open which effects the ticks up to t really raised.
func (l *Ledger[K, T]) Refuse(t Tick, stands func(Tick, K) bool, cancelled func(Tick, K, T)) {
	l.takeEntries(func(e *entry[K, T]) bool { return int32(e.tick-t) <= 0 && !stands(e.tick, e.key) }, cancelled)
}

// Clear removes all effects and passes them to cancelled; use it when the
// prediction starts over.
func (l *Ledger[K, T]) Clear(cancelled func(Tick, K, T)) {
	l.takeEntries(func(*entry[K, T]) bool { return true }, cancelled)
}

// Len returns the number of effects that are neither confirmed nor cancelled.
func (l *Ledger[K, T]) Len() int { return len(l.entries) }

// takeEntries moves all entries out before it calls tell, because tell may raise more.
func (l *Ledger[K, T]) takeEntries(which func(*entry[K, T]) bool, tell func(Tick, K, T)) {
	if len(l.entries) == 0 {
		return
	}
	taken, kept := l.taken[:0], l.entries[:0]
	for i := range l.entries {
		if which(&l.entries[i]) {
			taken = append(taken, l.entries[i])
		} else {
			kept = append(kept, l.entries[i])
		}
	}
	clear(l.entries[len(kept):])
	l.entries, l.taken = kept, nil
	if tell != nil {
		for i := range taken {
			tell(taken[i].tick, taken[i].key, taken[i].value)
		}
	}
	clear(taken)
	l.taken = taken
}
