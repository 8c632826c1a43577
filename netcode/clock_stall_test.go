package netcode_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// onTCP plays a match over a path that repairs losses as TCP does: a lost packet comes late, and all packets
// after it wait. It returns the median time from a command to the frame in which another client of the same
// path draws its tick, the share of frames in which remote entities stand still, and the share of ticks without
// their command.
func onTCP(share float64, seed uint64) (shown time.Duration, stalled, missing float64) {
	m := newMatch(30, 100*time.Millisecond, 0, 0.02, seed)
	m.up.repair, m.down.repair = 133*time.Millisecond, 133*time.Millisecond
	m.share, m.snapshotShare = share, share
	const from, to = 20 * time.Second, 120 * time.Second
	m.run(to + 5*time.Second)
	var delays []time.Duration
	frames, stalls, last, next := 0, 0, 0.0, 0
	render := func(f frame) float64 { return float64(f.t.Render) + float64(f.t.RenderFraction) }
	for i, f := range m.frameLog {
		moved := render(f) - last
		if last = render(f); f.at < from || f.at >= to {
			continue
		}
		if frames++; moved < 0.2*30/60 {
			stalls++
		}
		if f.t.Commands == 0 {
			continue
		}
		for next = max(next, i); next < len(m.frameLog) && netcode.Newer(f.t.Command, m.frameLog[next].t.Render); next++ {
		}
		delays = append(delays, m.frameLog[min(next, len(m.frameLog)-1)].at-f.at)
	}
	slices.Sort(delays)
	in := m.inputs(from, to)
	return delays[len(delays)/2], float64(stalls) / float64(frames), float64(in.missing) / float64(in.ticks)
}

// TestLateShareOnTCP: one setting says how much smoothness a client gives for delay. By default next
// to nothing is late, and the delay covers nearly every stall of the path.
func TestLateShareOnTCP(t *testing.T) {
	const frame = 17 * time.Millisecond
	for seed := range uint64(4) {
		smooth, stalled, missing := onTCP(0, seed)
		require.LessOrEqual(t, smooth, 383*time.Millisecond+frame)
		require.LessOrEqual(t, stalled, 0.03)
		require.LessOrEqual(t, missing, 0.01)
		before := smooth
		for _, c := range []struct {
			share          float64
			most           time.Duration
			stalls, missed float64
		}{{0.03, 270 * time.Millisecond, 0.03, 0.08}, {0.05, 250 * time.Millisecond, 0.04, 0.1}, {0.1, 217 * time.Millisecond, 0.05, 0.1}} {
			shown, stalled, missing := onTCP(c.share, seed)
			t.Logf("seed %d, %v: %v, %.1f %% of the frames stand still, %.1f %% of the commands are late", seed, c.share, shown.Round(time.Millisecond), 100*stalled, 100*missing)
			require.LessOrEqual(t, shown, c.most, c.share)
			require.LessOrEqual(t, shown, before, c.share)
			require.LessOrEqual(t, stalled, c.stalls, c.share)
			require.LessOrEqual(t, missing, c.missed, c.share)
			before = shown
		}
	}
}
