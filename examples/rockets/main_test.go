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
			r, st, err := play(options{rtt: rtt, loss: loss, seconds: 20, flight: "catchup"})
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

// TestBulletsHitWhatTheirShooterSaw: at 150 ms drones have long flown on where the
// server is when a bullet is fired. Both ways to compensate for it honour what was
// hit on the screen, and no other; without, hardly anything is.
func TestBulletsHitWhatTheirShooterSaw(t *testing.T) {
	o := options{rtt: 150 * time.Millisecond, seconds: 40}
	share := func(a, b int) float64 { return 100 * float64(a) / float64(b) }
	took := map[string]float64{}
	for _, o.loss = range []float64{0, 0.05} {
		for _, o.flight = range []string{"catchup", "delayed", "present"} {
			r, _, err := play(o)
			require.NoError(t, err)
			t.Logf("%-8s loss %2.0f %%: %d hit on the screen, %d of them on the server (%.1f %%) after %.1f ticks, and %d others",
				o.flight, 100*o.loss, r.onScreen, r.honoured, share(r.honoured, r.onScreen), r.ticks(), r.unseen)
			took[o.flight] = r.ticks()
			require.Greater(t, r.onScreen, 60)
			switch {
			case o.flight == "present":
				require.Less(t, share(r.honoured, r.onScreen), 25.0)
			case o.loss == 0:
				require.GreaterOrEqual(t, share(r.honoured, r.onScreen), 97.0)
				require.LessOrEqual(t, r.unseen, 3)
			default:
				require.GreaterOrEqual(t, share(r.honoured, r.onScreen), 90.0)
				require.LessOrEqual(t, r.unseen, 10)
			}
		}
		require.Less(t, took["catchup"], took["delayed"]-2, "who is caught up with is hit as soon as the server knows")
	}
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-rtt", "100ms", "-seconds", "10"}, &out, &errs))
	require.Contains(t, out.String(), "became the server's")
	require.Contains(t, out.String(), "hit on the screen")
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-loss", "2"}, {"-flight", "away"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
