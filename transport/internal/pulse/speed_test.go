package pulse_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/internal/pulse"
)

// The clock of ticks is not slower than the real time, even where a beat comes shortly before a tick
// is over. A stall of the whole process can delay it, so the test tries several times.
func TestKeepsUp(t *testing.T) {
	for _, every := range []time.Duration{1, 2, 3, 5} {
		best := 0.0
		for try := 0; try < 5 && best < 0.9; try++ {
			counted, took := count(every)
			require.LessOrEqual(t, counted, took)
			best = max(best, float64(counted)/float64(took))
		}
		require.Greater(t, best, 0.9, "%d beats a tick", every)
	}
}

// count runs for some time, and returns the counted time and the real time.
func count(every time.Duration) (counted, took time.Duration) {
	const tick = 10 * time.Millisecond
	done, begin := make(chan struct{}), time.Now()
	pulse.Run(done, tick/every, tick, func(passed uint32) {
		if counted >= 300*time.Millisecond {
			return // it returns at the next beat at the latest
		}
		counted += time.Duration(passed) * tick
		took = time.Since(begin)
		if counted >= 300*time.Millisecond {
			close(done)
		}
	})
	return counted, took
}
