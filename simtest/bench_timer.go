package simtest

import "time"

// benchTimer adds up the time of calls of one kind.
type benchTimer struct {
	calls float64
	took  time.Duration
}

// time calls step.
func (t *benchTimer) time(step func()) {
	begun := time.Now()
	step()
	t.took += time.Since(begun)
	t.calls++
}
