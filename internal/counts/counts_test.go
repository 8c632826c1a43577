package counts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/counts"
)

func TestLine(t *testing.T) {
	type line struct {
		Ticks, PacketsOut uint64
		None              uint64
		RTT, SlowestRTT   time.Duration
		By                [2]uint64
		Loss              float64
		hidden            int
	}
	require.Equal(t, "ticks 9, packets out 3, RTT 40ms, slowest RTT 1s, loss 0.25",
		counts.Line(line{Ticks: 9, PacketsOut: 3, RTT: 40 * time.Millisecond, SlowestRTT: time.Second, By: [2]uint64{1}, Loss: 0.25, hidden: 1}))
	require.Equal(t, "ticks 9", counts.Line(line{Ticks: 9, Loss: 1}, "Loss"))
	require.Equal(t, "nothing counted", counts.Line(line{}))
}
