package prediction

// Ledger remembers what predicted ticks raised, such as shots and their sounds,
// so that each thing is told once however often its tick is replayed, and is
// told off when a replay no longer raises it. K names a thing within its tick,
// for example entity and ordinal. The zero Ledger is ready to use; it allocates
// while it grows and not after.
type Ledger[K comparable, T any] struct {
	entries []entry[K, T]
	taken   []entry[K, T] // scratch
	tick    Tick
}

type entry[K comparable, T any] struct {
	tick   Tick
	key    K
	value  T
	raised bool // by the run that is on, or by the last one
}

// Begin says that tick t runs, for the first time or again.
func (l *Ledger[K, T]) Begin(t Tick) {
	l.tick = t
	for i := range l.entries {
		if l.entries[i].tick == t {
			l.entries[i].raised = false
		}
	}
}

// Raise notes that the running tick raised k. It answers true when no run of
// this tick did so before: then it is to be told. The value is the newest
// run's.
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

// End closes the running tick: what an earlier run raised and this one did not
// is taken off and told to cancelled.
func (l *Ledger[K, T]) End(cancelled func(Tick, K, T)) {
	l.take(func(e *entry[K, T]) bool { return e.tick == l.tick && !e.raised }, cancelled)
}

// Confirm says that the server agreed up to tick t: what was raised until then
// is taken off and told to confirmed, in the order in which it was first told.
func (l *Ledger[K, T]) Confirm(t Tick, confirmed func(Tick, K, T)) {
	l.take(func(e *entry[K, T]) bool { return int32(e.tick-t) <= 0 }, confirmed)
}

// Refuse takes off, up to tick t, what the server's word does not let stand, and
// tells it to cancelled. stands is asked in the order in which things were first
// told. Call it ahead of Confirm where a correction at t leaves open what the
// ticks up to it really raised.
func (l *Ledger[K, T]) Refuse(t Tick, stands func(Tick, K) bool, cancelled func(Tick, K, T)) {
	l.take(func(e *entry[K, T]) bool { return int32(e.tick-t) <= 0 && !stands(e.tick, e.key) }, cancelled)
}

// Clear takes everything off and tells it to cancelled: the prediction begins
// anew.
func (l *Ledger[K, T]) Clear(cancelled func(Tick, K, T)) {
	l.take(func(*entry[K, T]) bool { return true }, cancelled)
}

// Len is how much is neither confirmed nor cancelled.
func (l *Ledger[K, T]) Len() int { return len(l.entries) }

// take moves entries out before it tells of any: what is told may raise more.
func (l *Ledger[K, T]) take(which func(*entry[K, T]) bool, tell func(Tick, K, T)) {
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
