package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// TestStopsOnTheScreen plays whole matches of a client with a round trip of 80 ms and a jitter of 15 ms, in which
// packets are lost both ways. It counts how often remote entities stand still at the newest snapshot, on 60 frames
// a second. The short form plays 2 % loss for two minutes; the long one is the table of docs/guide/networks.md:
// FORETICK_LONG=1 go test -v -run StopsOnTheScreen ./simtest
func TestStopsOnTheScreen(t *testing.T) {
	seeds, play := uint64(costtest.Count(1, 10)), time.Duration(costtest.Count(2, 2))*time.Minute
	for _, rate := range []int{30, 15, 10} {
		for _, row := range []struct {
			loss float64
			most float64 // stops a minute
		}{{0, 0}, {0.02, 1.5}, {0.05, 3}, {0.1, 5}} {
			if seeds == 1 && (rate != 30 || row.loss != 0.02) {
				continue
			}
			stops, delay := 0., 0.
			for seed := range seeds {
				m := simtest.New(seed + 1)
				s, d := stopsOf(t, m, rate, row.loss, play)
				stops, delay = stops+s/float64(seeds), delay+d/float64(seeds)
			}
			t.Logf("%2d snapshots a second, loss %2.0f %%: %5.2f stops a minute, %3.0f ms in the past", rate, 100*row.loss, stops, delay)
			require.LessOrEqual(t, stops, row.most)
		}
	}
}

// stopsOf plays one match and returns the stops a minute, and the mean delay of remote entities in milliseconds.
func stopsOf(t *testing.T, m *simtest.Match, rate int, loss float64, play time.Duration) (stops, delay float64) {
	const warm = 8 * time.Second
	_, err := m.Serve(server.Config{Protocol: (&stillGame{tide: true}).player().Protocol, SnapshotRate: rate})
	require.NoError(t, err)
	newest := foretick.Tick(0)
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: loss}
	cfg := client.Config{Protocol: (&stillGame{tide: true}).player().Protocol, OnSnapshot: func(t foretick.Tick) { newest = t }}
	c, err := m.Join(cfg, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(warm)
	before, stood := c.Stats(), false
	for m.Net.Now() < warm+play {
		m.Run(m.Net.Now() + time.Second/60)
		v := c.View()
		still := v.RenderTick == newest && v.RenderFraction == 0
		if still && !stood {
			stops++
		}
		stood = still
	}
	after := c.Stats()
	mean := (after.InterpolationSum - before.InterpolationSum) / time.Duration(after.Frames-before.Frames)
	return stops / play.Minutes(), float64(mean) / float64(time.Millisecond)
}
