package pulse_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/internal/pulse"
)

// A beat that is very late, as in a process that was stopped, counts for at most four ticks. Run
// returns when done is closed.
func TestRun(t *testing.T) {
	done, over := make(chan struct{}), make(chan struct{})
	var passed []uint32
	go func() {
		defer close(over)
		pulse.Run(done, time.Millisecond, 2*time.Millisecond, func(p uint32) {
			if passed = append(passed, p); len(passed) == 3 {
				time.Sleep(50 * time.Millisecond)
			}
			if len(passed) == 6 {
				close(done)
			}
		})
	}()
	select {
	case <-over:
	case <-time.After(10 * time.Second):
		require.Fail(t, "it goes on")
	}
	require.GreaterOrEqual(t, len(passed), 6)
	require.EqualValues(t, 4, passed[3])
	for _, p := range passed {
		require.LessOrEqual(t, p, uint32(4))
	}
}
