package netcode_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// delays plays a match and returns the mean input delay and the mean lead, in ticks, after
// the first ten seconds, and how often the delay changed. The prediction must neither go
// back nor fall behind a snapshot.
func (m *match) delays(t *testing.T, length time.Duration) (delay, lead float64, changes int) {
	t.Helper()
	m.run(length)
	last, n := netcode.Time{}, 0
	for _, f := range m.frameLog {
		if !f.t.Started {
			continue
		}
		held := netcode.Distance(f.t.Command, f.t.Predicted)
		require.GreaterOrEqual(t, held, 0)
		require.GreaterOrEqual(t, netcode.Distance(f.t.Predicted, f.newest), 0, "a snapshot is no prediction")
		if last.Started && !f.t.Reset {
			require.EqualValues(t, last.Predicted+netcode.Tick(f.t.Ticks), f.t.Predicted)
			require.GreaterOrEqual(t, f.t.Ticks, 0)
		}
		if f.at > 10*time.Second {
			delay, lead, n = delay+float64(held), lead+f.t.Lead.Seconds()*float64(m.rate), n+1
			if netcode.Distance(last.Command, last.Predicted) != held {
				changes++
			}
		}
		last = f.t
	}
	return delay / float64(n), lead / float64(n), changes
}

// The part of the lead beyond Reach becomes input delay, to within a tenth, and the delay does not change
// back and forth. No more inputs are missed than without Reach.
func TestReachDelaysTheRest(t *testing.T) {
	for _, row := range []struct {
		rate, interval, frames int
		rtt, jitter            time.Duration
		reach                  float64
	}{
		{30, 1, 60, 350 * ms, 20 * ms, 4.5}, {30, 1, 60, 350 * ms, 20 * ms, 2}, {30, 1, 144, 350 * ms, 20 * ms, 9},
		{60, 3, 60, 250 * ms, 30 * ms, 6}, {60, 1, 20, 300 * ms, 5 * ms, 9}, {30, 1, 60, 350 * ms, 20 * ms, 0.01},
		{30, 1, 60, 100 * ms, 20 * ms, 12},
	} {
		t.Run(fmt.Sprintf("%+v", row), func(t *testing.T) {
			play := func(reach float64) (float64, float64, int, int) {
				m := newMatch(row.rate, row.rtt, row.jitter, 0.02, 3)
				m.interval, m.frames, m.reach = row.interval, row.frames, reach
				delay, lead, changes := m.delays(t, 40*time.Second)
				return delay, lead, changes, m.inputs(10*time.Second, 40*time.Second).missing
			}
			delay, lead, changes, missing := play(row.reach)
			bare, _, _, missed := play(0)
			t.Logf("delay %.2f of a lead of %.2f ticks, %d changes, %d missing (%d without)", delay, lead, changes, missing, missed)
			require.Zero(t, bare)
			require.Equal(t, missed, missing)
			if want := lead - row.reach; want < 0 {
				require.Zero(t, delay, "the lead is within reach")
			} else if row.reach > 1 {
				require.InDelta(t, want, delay, max(0.1*want, 0.75))
			} else {
				require.Less(t, lead-delay, 3.)
			}
			require.LessOrEqual(t, changes, 6)
		})
	}
}

// A fixed delay is exact, whether the lead is longer or not. Where it is longer, commands
// are made so much earlier, and none is missed.
func TestFixedInputDelay(t *testing.T) {
	for _, row := range []struct {
		rate, frames, delay int
		rtt                 time.Duration
		longer              bool // than the lead
	}{{30, 60, 3, 350 * ms, false}, {30, 60, 15, 50 * ms, true}, {60, 60, 30, 100 * ms, true}, {30, 20, 10, 100 * ms, true}} {
		m := newMatch(row.rate, row.rtt, 10*ms, 0.02, 3)
		m.frames, m.delay = row.frames, row.delay
		delay, lead, changes := m.delays(t, 30*time.Second)
		t.Logf("%+v: lead %.2f ticks", row, lead)
		require.Zero(t, changes)
		require.EqualValues(t, row.delay, delay)
		require.Greater(t, lead, delay)
		if missing := m.inputs(10*time.Second, 30*time.Second).missing; row.longer {
			require.Less(t, lead, delay+3, "no earlier than the delay asks for")
			require.Zero(t, missing)
		}
	}
}

// Wherever the lead is between two ticks, the delay stays at one of them.
func TestDelayDoesNotFlutter(t *testing.T) {
	for reach := 4.; reach < 5; reach += 0.1 {
		m := newMatch(30, 350*ms, 20*ms, 0.02, 3)
		m.reach = reach
		_, _, changes := m.delays(t, 20*time.Second)
		require.LessOrEqual(t, changes, 2, "reach %.1f", reach)
	}
}
