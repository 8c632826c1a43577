package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/prediction"
)

// TestRockets: whatever the network, everything that was fired meets its fate, and
// nothing but the server's jams is ever corrected on a good one.
func TestRockets(t *testing.T) {
	for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
		for _, loss := range []float64{0, 0.05} {
			r, st, err := play(rtt, loss, 20)
			require.NoError(t, err)
			require.Greater(t, r.predicted, 200)
			require.Equal(t, r.predicted, r.confirmed+r.cancelled)
			require.Greater(t, r.confirmed, r.predicted*9/10)
			require.GreaterOrEqual(t, r.waited, time.Duration(r.confirmed)*rtt)
			require.Greater(t, r.bullets, 150)
			require.Zero(t, st.ByCause[prediction.Code])
			require.Zero(t, st.ByCause[prediction.Untracked])
			if loss == 0 {
				require.Equal(t, st.ByCause[prediction.ServerEffect], st.Mispredictions)
			}
		}
	}
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-rtt", "100ms", "-seconds", "10"}, &out, &errs))
	require.Contains(t, out.String(), "became the server's")
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-loss", "2"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
