package ecs

import "time"

// SystemTiming holds how often a system ran, and its total and longest time.
type SystemTiming struct {
	Count      uint64
	Total, Max time.Duration
}

// Mean returns Total divided by Count; 0 when the system never ran.
func (t SystemTiming) Mean() time.Duration {
	if t.Count == 0 {
		return 0
	}
	return t.Total / time.Duration(t.Count)
}

// Timing is a [Hook] that times systems; see [Schedule.SetHook]. Unset, it
// costs nothing. A schedule has one hook, so Timing passes its calls on to
// Next, outside the timed span.
//
// One run of a system covers all its tables; a system with no matching table
// does not count. The flush of its structural commands is not timed. With an
// [Executor], each parallel system is timed separately: then now must be safe
// for concurrent use, and the figures must be read between executions.
type Timing[C any] struct {
	Next    Hook[C]
	now     func() time.Duration
	began   []time.Duration
	systems []SystemTiming
}

// NewTiming returns a Timing for a built schedule. now is a monotonic clock
// with any origin, for example func() time.Duration { return time.Since(start)
// } after start := time.Now(). This package reads no clock itself.
func NewTiming[C any](s *Schedule[C], now func() time.Duration) *Timing[C] {
	if !s.built || now == nil {
		misuse("NewTiming takes a schedule that Build was called on, and a clock")
	}
	n := len(s.systems)
	return &Timing[C]{now: now, began: make([]time.Duration, n), systems: make([]SystemTiming, n)}
}

// Before records the time.
func (t *Timing[C]) Before(c C, index int) {
	if t.Next != nil {
		t.Next.Before(c, index)
	}
	t.began[index] = t.now()
}

// After adds the time since Before.
func (t *Timing[C]) After(c C, index int) {
	took := t.now() - t.began[index]
	s := &t.systems[index]
	s.Count++
	s.Total += took
	s.Max = max(s.Max, took)
	if t.Next != nil {
		t.Next.After(c, index)
	}
}

// Systems returns the figures, indexed as in [Schedule.Systems]. The slice
// changes with every execution; do not write to it.
func (t *Timing[C]) Systems() []SystemTiming { return t.systems }

// Reset sets every figure to zero, for example to time the next second.
func (t *Timing[C]) Reset() { clear(t.systems) }
