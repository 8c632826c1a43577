package netcode

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
)

// TestSilenceOfAnyNumberOfPackets: an end that was not heard for any number of packets, and one
// that heard nothing for as long, is understood up to a quarter of the circle, and has lapsed
// beyond. Neither is taken for one that breaks rules.
func TestSilenceOfAnyNumberOfPackets(t *testing.T) {
	const tick = time.Second / 60
	starts := []int{0, 1<<16 - 3, 100, 1 << 14, 1<<15 + 7} // packets each way before
	for _, start := range starts[:min(len(starts), costtest.Count(2, len(starts)))] {
		for _, lost := range []int{1, 31, 100, 2047, 2048, 2049, 4096, 8192, 9000, 1<<14 - 100, 1 << 14, 1<<14 + 1, 1<<14 + 10, 1<<14 + 500} {
			for _, way := range []string{"one", "both"} {
				t.Run(fmt.Sprintf("%d lost %s after %d", lost, way, start), func(t *testing.T) {
					a, b := NewConn(Config{}), NewConn(Config{})
					now, sent, got := time.Duration(0), 0, 0
					turn := func(up, down bool) {
						now += tick
						for _, x := range []struct {
							from, to *Conn
							arrives  bool
						}{{a, b, up}, {b, a, down}} {
							if x.from.Paused(now) {
								continue
							}
							_, d := x.from.Begin(now).Finish()
							for _, ok := x.from.NextFate(); ok; _, ok = x.from.NextFate() {
								continue
							}
							if x.from == a {
								sent++
							}
							if x.arrives && x.to.Receive(now, d) == nil && x.to == b {
								got++
							}
						}
					}
					for range start {
						turn(true, true)
					}
					sent, got = 0, 0
					for sent < lost {
						turn(false, way == "one")
					}
					require.Zero(t, got)
					for range 500 {
						turn(true, true)
					}
					for _, c := range []*Conn{a, b} {
						require.Zero(t, c.Stats().Malformed)
						require.Zero(t, c.Stats().FalseAcks)
						require.LessOrEqual(t, c.Stats().Stale, uint64(500))
					}
					if lost <= LongestSilence-believed {
						require.False(t, a.Lapsed() || b.Lapsed())
						require.GreaterOrEqual(t, got, 500-believed)
						require.Less(t, b.Unanswered(now), time.Second)
						require.Less(t, a.Unanswered(now), time.Second)
					}
					if lost > LongestSilence {
						require.True(t, b.Lapsed())
						require.Zero(t, got)
					}
				})
			}
		}
	}
}

// TestNumbersLastForHours: an end that is never answered sends a packet a second after a quarter
// of the circle, and has lapsed before half of it.
func TestNumbersLastForHours(t *testing.T) {
	c, now := NewConn(Config{}), time.Duration(0)
	for !c.Lapsed() {
		if now += time.Second / 60; !c.Paused(now) {
			c.Begin(now).Finish()
		}
		for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
			continue
		}
	}
	require.InDelta(t, 4*time.Hour+38*time.Minute, now, float64(6*time.Minute))
	require.Less(t, c.Stats().Sent, uint64(1<<15))
}
