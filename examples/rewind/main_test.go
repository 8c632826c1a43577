package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRewind: a shot that hit on the screen hits, up to the round trip that the cap allows. Without the
// past few shots do, and a claim that is too large is reduced.
func TestRewind(t *testing.T) {
	for _, rtt := range []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
		r, err := play(rtt, 120, 7)
		require.NoError(t, err)
		require.Greater(t, r.shots, 300)
		require.Equal(t, r.shots, r.past, "at %v", rtt)
		require.Zero(t, r.clamped, "at %v", rtt)
		require.Less(t, r.present, r.shots/2, "at %v", rtt)
		require.Equal(t, uint64(r.shots), r.liar.Clamped(), "at %v", rtt)
	}
	r, err := play(900*time.Millisecond, 120, 7)
	require.NoError(t, err)
	require.Equal(t, r.shots, r.clamped, "beyond what the cap serves")
	require.Less(t, r.past, r.shots/2)
}

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"-rtt", "150ms", "-seconds", "20"}, &out, &errs))
	require.Contains(t, out.String(), "55 shots at the head")
	require.Contains(t, out.String(), "judged in the past      55 hit (100 %), 0 claims clamped")
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-rtt", "1h"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
