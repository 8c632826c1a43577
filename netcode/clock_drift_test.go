package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
)

// A client's clock may run at another speed than the server's. TestDriftIsLearned
// prints the table. The limits are close to those of a clock without drift. From
// second 5 on no additional inputs are missed, inputs wait at most 0.7 ticks
// longer, and render time is neither later nor starves.
func TestDriftIsLearned(t *testing.T) {
	costtest.Ratio(t)
	seeds := uint64(max(2, *clockSeeds/2))
	t.Logf("%6s %6s %6s %5s %6s | %6s %6s %6s %6s | %6s %7s", "Hz", "RTT", "jitter", "loss%", "drift%", "miss%", "first%", "depth", "d*", "interp", "starve%")
	for _, rate := range []struct{ hz, interval int }{{30, 1}, {60, 3}} {
		for _, rtt := range []time.Duration{50 * ms, 400 * ms} {
			for _, path := range []struct {
				jitter time.Duration
				loss   float64
			}{{0, 0}, {20 * ms, 0.02}, {50 * ms, 0.05}} {
				var still row
				for _, drift := range []float64{0, -0.001, 0.001, -0.01, 0.01, -0.03, 0.03} {
					r := measureSeeds(seeds, rate.hz, 5*time.Second, 25*time.Second, func(seed uint64) *match {
						m := newMatch(rate.hz, rtt, path.jitter, path.loss, seed)
						m.interval, m.clockDrift = rate.interval, drift
						return m
					})
					t.Logf("%4d/%d %6v %6v %5.0f %+6.1f | %6.2f %6.2f %6.2f %6.2f | %6.1f %7.2f", rate.hz, rate.interval, rtt, path.jitter, 100*path.loss, 100*drift,
						100*r.window.missed(), 100*r.start.missed(), r.window.depth, r.window.oracle, r.interp, 100*r.starved)
					if drift == 0 {
						still = r
					}
					require.LessOrEqual(t, r.window.missed(), 0.005)
					require.LessOrEqual(t, r.window.depth, still.window.depth+0.7)
					require.InDelta(t, still.interp, r.interp, 0.5)
					require.LessOrEqual(t, r.starved, still.starved+0.01)
					require.Zero(t, r.resets)
				}
			}
		}
	}
}

// Measurements from before the drift was known are converted, so that render time
// is soon the same as without drift.
func TestDriftIsLearnedForWhatWasMeasuredBefore(t *testing.T) {
	var still row
	for _, drift := range []float64{0, -0.03, 0.03} {
		r := measureSeeds(4, 60, 2500*ms, 4*time.Second, func(seed uint64) *match {
			m := newMatch(60, 100*ms, 5*ms, 0, seed)
			m.interval, m.clockDrift = 3, drift
			return m
		})
		t.Logf("drift %+.0f%%: depth %.2f interp %.1f starved %.1f%%", 100*drift, r.window.depth, r.interp, 100*r.starved)
		if drift == 0 {
			still = r
		}
		require.InDelta(t, still.interp, r.interp, 0.5)
	}
}

// Other changes are not mistaken for drift: a path that gets longer one way or
// both ways, fast or slowly; a server that loses time; rendered frames out of
// step with everything.
func TestChangesOfThePathAreNoDrift(t *testing.T) {
	step := func(now, by time.Duration) time.Duration {
		if now > 10*time.Second && now < 16*time.Second {
			return by
		}
		return 0
	}
	ramp := func(now, by time.Duration) time.Duration { // in 8 s, and back
		x := max(0, 1-max(now-15*time.Second, 15*time.Second-now).Seconds()/8)
		return time.Duration(x * float64(by))
	}
	const usual = 50 * ms
	for _, c := range []struct {
		name   string
		change func(m *match, now time.Duration)
	}{
		{"nothing", func(*match, time.Duration) {}},
		{"a step down", func(m *match, now time.Duration) { m.down.latency = usual + step(now, 60*ms) }},
		{"a ramp down", func(m *match, now time.Duration) { m.down.latency = usual + ramp(now, 400*ms) }},
		{"a ramp up", func(m *match, now time.Duration) { m.up.latency = usual + ramp(now, 40*ms) }},
		{"a ramp both ways", func(m *match, now time.Duration) {
			m.up.latency, m.down.latency = usual+ramp(now, 40*ms), usual+ramp(now, 40*ms)
		}},
		{"a server that loses time", func(m *match, now time.Duration) {
			if now > 10*time.Second {
				m.serverSlip = 3
			}
		}},
	} {
		for _, frames := range []int{59, 60} {
			r := measureSeeds(2, 30, 5*time.Second, 26*time.Second, func(seed uint64) *match {
				m := newMatch(30, 2*usual, 10*ms, 0.01, seed)
				m.change, m.frames = c.change, frames
				return m
			})
			t.Logf("%s, %d pictures/s: miss %.2f%% depth %.2f d* %.2f interp %.1f", c.name, frames, 100*r.window.missed(), r.window.depth, r.window.oracle, r.interp)
			require.LessOrEqual(t, r.window.missed(), 0.006, c.name)
			require.LessOrEqual(t, r.window.depth, r.window.oracle+1.2, c.name)
			require.Zero(t, r.resets, c.name)
		}
	}
}

// Render time under drift in either direction never passes the newest snapshot
// and never runs back. It slows down without stopping when snapshots arrive later
// and later, and jumps when it is far behind.
func TestRenderTimeUnderDrift(t *testing.T) {
	for _, drift := range []float64{-0.03, -0.01, 0.01, 0.03} {
		const grows, grown, shrinks = 10 * time.Second, 14 * time.Second, 20 * time.Second
		m := newMatch(60, 100*ms, 10*ms, 0.01, 3)
		m.clockDrift, m.interval = drift, 3
		m.change = func(m *match, now time.Duration) {
			grow := min(max(0, now-grows), grown-grows)
			m.down.latency = 50*ms + grow/16
			if now > shrinks {
				m.down.latency = 50 * ms
			}
		}
		m.run(30 * time.Second)
		var last frame
		grew, starved, jumps := 0.0, 0, 0
		for _, f := range m.frameLog {
			if !f.t.Started || !last.t.Started {
				last = f
				continue
			}
			at := float64(f.t.Render) + float64(f.t.RenderFraction)
			moved := at - float64(last.t.Render) - float64(last.t.RenderFraction)
			require.LessOrEqual(t, at, float64(f.newest))
			require.GreaterOrEqual(t, moved, 0.0)
			passed := (f.at - last.at).Seconds() * 60
			switch {
			case moved > passed+10:
				jumps++
				require.InDelta(t, shrinks.Seconds(), f.at.Seconds(), 1, "drift %v", drift)
				require.Less(t, float64(f.newest)-at, 10.0)
			case f.at > grows && f.at < grown:
				if f.starved {
					starved++
				}
				grew += moved
			case !f.starved && !last.starved && f.at > 5*time.Second && (f.at < grows || f.at > grown && f.at < shrinks):
				// a tenth, and what is not known of the drift yet
				require.InDelta(t, passed, moved, 0.101*passed, "drift %v at %v", drift, f.at)
			}
			last = f
		}
		t.Logf("drift %+.0f%%: %d jumps; while the path grew, time ran at %.3f and %d pictures starved", 100*drift, jumps, grew/240, starved)
		require.Equal(t, 1, jumps)
		require.InDelta(t, 1-1.0/16, grew/240, 0.02)
		require.Less(t, starved, 240/10)
	}
}
