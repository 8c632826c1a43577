package shottest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// TestShotsInTheFirstSecond: a shot is judged where its shooter saw the target, from the first
// tick of play on, and from the first tick after a reconnect. The test logs the error in ticks of a
// runner's movement, next to that of later shots.
func TestShotsInTheFirstSecond(t *testing.T) {
	const away = 6 * time.Second // the connection is lost
	jitters := []time.Duration{0, 30 * time.Millisecond}
	if costtest.Count(0, 1) > 0 {
		jitters = append(jitters, 10*time.Millisecond)
	}
	for _, rate := range []int{30, 60} {
		for _, rtt := range []time.Duration{30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
			for _, jitter := range jitters {
				t.Run(fmt.Sprintf("%d Hz, %v, %v", rate, rtt, jitter), func(t *testing.T) {
					var first, back, settled []float64
					clamped := 0
					for seed := range costtest.Count(4, 40) {
						m, err := newRange(uint64(seed+1), rate, server.Config{MaxRewind: time.Second})
						require.NoError(t, err)
						link := sim.Link{Latency: rtt / 2, Jitter: jitter, Loss: 0.01}
						s, err := m.seat(link, link, 0, time.Minute)
						require.NoError(t, err)
						s.every = 1
						m.Run(8 * time.Second)
						dead := sim.Link{Latency: rtt / 2, Loss: 1}
						m.Link(s.client, dead, dead)
						m.RunFor(away)
						m.Link(s.client, link, link)
						m.RunFor(6 * time.Second)
						require.EqualValues(t, 1, s.client.Stats().Resumed)
						var ticks []foretick.Tick
						for at := range s.seen {
							ticks = append(ticks, at)
						}
						slices.Sort(ticks)
						begun := ticks[0]
						for i, at := range ticks {
							if i > 0 && at-ticks[i-1] > foretick.Tick(rate) {
								begun = at
							}
							saw, judged := s.seen[at], m.judged[s.client.View().Player][at]
							if !saw.shown || !judged.exists {
								continue
							}
							off := distance(saw.head, judged.head) / runSpeed * float64(rate)
							switch {
							case at-begun >= foretick.Tick(2*rate):
								settled = append(settled, off)
								continue
							case begun == ticks[0] && at-begun < foretick.Tick(rate):
								first = append(first, off)
							case at-begun < foretick.Tick(rate):
								back = append(back, off)
							}
							if judged.reason != lagcomp.OK {
								clamped++
							}
						}
					}
					most := func(all []float64) (mean, p95 float64) {
						slices.Sort(all)
						for _, x := range all {
							mean += x / float64(len(all))
						}
						return mean, all[len(all)*95/100]
					}
					firstMean, first95 := most(first)
					backMean, back95 := most(back)
					mean, p95 := most(settled)
					t.Logf("error of %d shots in the first second %.3f ticks (95 %%: %.3f), of %d after coming back %.3f (%.3f), of %d later %.3f (%.3f); %d clamped",
						len(first), firstMean, first95, len(back), backMean, back95, len(settled), mean, p95, clamped)
					require.Greater(t, len(first), 20)
					require.Greater(t, len(back), 20)
					require.Less(t, max(firstMean, backMean), mean+0.1)
					require.Less(t, first95, p95+0.1)
					require.Less(t, back95, p95+1, "its client draws a part of a tick later than the server measured before")
				})
			}
		}
	}
}
