package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
)

// stops returns how often a minute render time stood still at the newest snapshot, from a moment on, and its
// mean delay in snapshot intervals. The match must have been run.
func (m *match) stops(from, to time.Duration) (stops, delay float64) {
	frames, stood := 0, false
	for _, f := range m.frameLog {
		if f.at < from || f.at >= to {
			continue
		}
		if f.starved && !stood {
			stops++
		}
		stood = f.starved
		frames++
		delay += f.t.Interpolation.Seconds() * float64(m.rate) / float64(m.interval)
	}
	return stops / (to - from).Minutes(), delay / float64(frames)
}

// TestStopsUnderLoss plays ten seeds of 2 minutes each at 30 snapshots a second. Render time stands still at most
// once a minute where 2 % of the packets are lost, three times at 5 %, and five times at 10 %. For that it
// trails by at most one snapshot more than it did when it covered what was needed lately, and by two
// more at 5 %. Without loss it trails as before. The long form plays 20 minutes of each seed, and rarer snapshots
// too: FORETICK_LONG=1 go test -v -run StopsUnderLoss ./netcode
func TestStopsUnderLoss(t *testing.T) {
	play := time.Duration(costtest.Count(2, 20)) * time.Minute
	for _, row := range []struct {
		interval  int
		loss      float64
		most      float64 // stops a minute
		was, more float64 // the mean delay before lost snapshots were bridged, and how much more it may be
		long      bool
	}{
		{1, 0, 0, 1.224, 0.001, false},
		{1, 0.02, 1, 1.378, 1, false},
		{1, 0.05, 3, 1.810, 2, false},
		{1, 0.1, 5, 2.137, 2, false},
		{2, 0, 0.1, 1.109, 0.001, true},
		{2, 0.02, 1, 1.323, 1, true},
		{2, 0.05, 3, 1.744, 2, true},
		{2, 0.1, 5, 2.097, 2, true},
		{3, 0, 0.1, 1.069, 0.001, true},
		{3, 0.02, 1, 1.297, 1, true},
		{3, 0.05, 3, 1.641, 2, true},
		{3, 0.1, 5, 2.051, 2, true},
	} {
		if row.long && costtest.Count(0, 1) == 0 {
			continue
		}
		const seeds, warm = 10, 8 * time.Second
		stops, delay := 0., 0.
		for seed := range uint64(seeds) {
			m := newMatch(30, 80*ms, 15*ms, row.loss, seed+1)
			m.interval = row.interval
			m.run(warm + play)
			s, d := m.stops(warm, warm+play)
			stops, delay = stops+s/seeds, delay+d/seeds
		}
		t.Logf("%2d snapshots a second, loss %2.0f %%: %5.2f stops a minute, delay %.2f intervals, before %.2f", 30/row.interval, 100*row.loss, stops, delay, row.was)
		require.LessOrEqual(t, stops, row.most)
		require.LessOrEqual(t, delay, row.was+row.more)
		require.GreaterOrEqual(t, delay, row.was-0.001)
	}
}

// TestDelayFallsWhenLossEnds: the delay rises when a tenth of the packets is lost, and falls to what it was half a
// minute after that ends. Two seconds without any packet do not change it.
func TestDelayFallsWhenLossEnds(t *testing.T) {
	for seed := range uint64(3) {
		m := newMatch(30, 80*ms, 15*ms, 0, seed+1)
		m.change = func(m *match, now time.Duration) {
			m.down.loss = 0
			switch {
			case now >= 30*time.Second && now < 32*time.Second:
				m.down.loss = 1
			case now >= 60*time.Second && now < 90*time.Second:
				m.down.loss = 0.1
			}
		}
		m.run(140 * time.Second)
		delay := func(from int) float64 {
			_, d := m.stops(time.Duration(from)*time.Second, time.Duration(from+10)*time.Second)
			return d
		}
		calm := delay(20)
		require.Less(t, calm, 1.6)
		require.InDelta(t, calm, delay(40), 0.1, "after silence")
		require.Greater(t, delay(80), calm+1.5)
		require.InDelta(t, calm, delay(125), 0.1)
	}
}

// TestSnapshotBuffer: render time trails by the least that is set, and by what the path needs if that is more. It
// then stands still less often where packets are lost in bursts.
func TestSnapshotBuffer(t *testing.T) {
	least := map[time.Duration]float64{}
	for _, buffer := range []time.Duration{0, 20 * ms, 200 * ms, 400 * ms} {
		m := newMatch(30, 80*ms, 15*ms, 0.03, 4)
		m.down.burst, m.least = 4, buffer
		m.run(2 * time.Minute)
		stops, delay := m.stops(8*time.Second, 2*time.Minute)
		t.Logf("%v: %.2f stops a minute, delay %.2f", buffer, stops, delay)
		least[buffer] = stops
		if buffer >= 200*ms {
			require.InDelta(t, buffer.Seconds()*30, delay, 0.3)
		}
	}
	require.Equal(t, least[0], least[20*ms], "the path needs more")
	require.Less(t, least[200*ms], least[0])
	require.Less(t, least[400*ms], least[0]/4)
}
