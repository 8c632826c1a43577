package ecs

import "time"

// SystemTiming is how often a system ran and for how long: in all, and at most
// at once.
type SystemTiming struct {
	Count      uint64
	Total, Max time.Duration
}

// Mean is Total by Count; 0 when it never ran.
func (t SystemTiming) Mean() time.Duration {
	if t.Count == 0 {
		return 0
	}
	return t.Total / time.Duration(t.Count)
}

// Timing is a [Hook] that times systems; see [Schedule.SetHook]. While it is not
// set it costs nothing. A schedule has one hook: Next is another one to tell,
// outside of what is timed.
//
// A run of a system is all its tables, and none where nothing matches; the flush
// of its structural commands is left out. With an [Executor] systems that run at
// once are each timed by themselves: now must then be safe for that, and the
// figures are to be read between executions.
type Timing[C any] struct {
	Next    Hook[C]
	now     func() time.Duration
	began   []time.Duration
	systems []SystemTiming
}

// NewTiming makes a Timing for a built schedule. now is a clock that never goes
// back, from any moment on (for example: start := time.Now(), and
// func() time.Duration { return time.Since(start) }); this package reads none.
func NewTiming[C any](s *Schedule[C], now func() time.Duration) *Timing[C] {
	if !s.built || now == nil {
		misuse("NewTiming takes a schedule that Build was called on, and a clock")
	}
	n := len(s.systems)
	return &Timing[C]{now: now, began: make([]time.Duration, n), systems: make([]SystemTiming, n)}
}

// Before notes the time.
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

// Systems is the figures by the index of [Schedule.Systems]. It changes with
// every execution; it is not to be written.
func (t *Timing[C]) Systems() []SystemTiming { return t.systems }

// Reset sets every figure to zero, to time the next second, say.
func (t *Timing[C]) Reset() { clear(t.systems) }
