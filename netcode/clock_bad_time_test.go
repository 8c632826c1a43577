package netcode_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lead returns the median lead of the frames in [from, to), in seconds.
func (m *match) lead(from, to time.Duration) float64 {
	var all []time.Duration
	for _, f := range m.frameLog {
		if f.at >= from && f.at < to && f.t.Started {
			all = append(all, f.t.Lead)
		}
	}
	slices.Sort(all)
	return all[len(all)/2].Seconds()
}

// eachPath plays matches on calm paths.
func eachPath(t *testing.T, play func(t *testing.T, m *match)) {
	for _, rate := range []int{30, 60, 128} {
		for _, rtt := range []time.Duration{0, 60 * ms, 300 * ms} {
			for _, frames := range []int{60, 144} {
				t.Run(fmt.Sprintf("%d Hz, %v, %d fps", rate, rtt, frames), func(t *testing.T) {
					for seed := range uint64(3) {
						m := newMatch(rate, rtt, 0, 0, seed+1)
						m.frames = frames
						play(t, m)
					}
				})
			}
		}
	}
}

// A client that joins on a calm path runs ahead a little more for safety. It gives this up within two seconds.
func TestLeadOfANewClientSettlesSoon(t *testing.T) {
	eachPath(t, func(t *testing.T, m *match) {
		m.run(30 * time.Second)
		i := slices.IndexFunc(m.frameLog, func(f frame) bool { return f.t.Started })
		after := m.frameLog[i].at + 2*time.Second
		soon, settled := m.lead(after, after+200*ms), m.lead(25*time.Second, 30*time.Second)
		require.LessOrEqual(t, soon, 1.2*settled)
		require.Zero(t, m.inputs(m.serverTime(m.firstCommand), 30*time.Second).missing)
	})
}

// A bad time is forgotten three seconds after it, or after twice its length.
func TestABadTimeIsForgotten(t *testing.T) {
	for _, lasts := range []time.Duration{time.Second, 2 * time.Second} {
		eachPath(t, func(t *testing.T, m *match) {
			const begins = 15 * time.Second
			ends := begins + lasts
			m.change = func(m *match, now time.Duration) {
				m.up.jitter = 0
				if now >= begins && now < ends {
					m.up.jitter = 200 * ms
				}
				m.down.jitter = m.up.jitter
			}
			after := ends + max(3*time.Second, 2*lasts)
			m.run(after + 4*time.Second)
			settled, soon := m.lead(10*time.Second, begins), m.lead(after, after+200*ms)
			require.Greater(t, m.lead(ends, ends+300*ms), settled, "the bad time counts while it lasts")
			require.LessOrEqual(t, soon, 1.2*settled, "%v of jitter", lasts)
			require.Zero(t, m.inputs(after, after+4*time.Second).missing)
		})
	}
}

// Bad times that come back are expected: the lead stays high in between, and few inputs are
// missed after the first of them.
func TestBadTimesThatComeBackAreExpected(t *testing.T) {
	for _, rate := range []int{30, 60} {
		for _, every := range []time.Duration{3 * time.Second, 6 * time.Second} {
			for _, jitter := range []time.Duration{0, 20 * ms} {
				r := measure(rate, 20*time.Second, 80*time.Second, func(seed uint64) *match {
					m := newMatch(rate, 60*ms, jitter, 0, seed)
					m.change = func(m *match, now time.Duration) {
						m.up.jitter = jitter
						if now > 8*time.Second && now%every < time.Second {
							m.up.jitter = 150 * ms
						}
					}
					return m
				})
				t.Logf("%d Hz, every %v, jitter %v: miss %.2f%% depth %.2f", rate, every, jitter, 100*r.window.missed(), r.window.depth)
				require.LessOrEqual(t, r.window.missed(), 0.008)
			}
		}
	}
}

// No sample comes during a stall, so the samples before it did not come close together.
func TestAStallMakesNoBadTime(t *testing.T) {
	missing, ticks := 0, 0
	for seed := range uint64(30) {
		m := stall(20 * time.Second)(seed)
		m.run(40 * time.Second)
		in := m.inputs(30500*ms, 40*time.Second)
		missing, ticks = missing+in.missing, ticks+in.ticks
	}
	require.LessOrEqual(t, float64(missing), 0.001*float64(ticks))
}
