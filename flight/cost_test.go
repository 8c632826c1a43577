package flight_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/costtest"
)

// A recorder allocates nothing in a Step that receives and sends. Only packing, of the few full
// blocks, allocates now and then.
func TestRecorderAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	const steps = 300
	var allocs [2]uint64
	for i, on := range []bool{false, true} {
		m := quiet(t, on)
		m.run(10 * time.Second)
		before := m.srv.Stats().PacketsIn
		for range steps {
			m.now += time.Second / 30
			m.net.Run(m.now)
			for _, c := range m.clients {
				c.Step(epoch.Add(m.now))
			}
			from := mallocs()
			m.srv.Step(epoch.Add(m.now))
			allocs[i] += mallocs() - from
		}
		require.Greater(t, m.srv.Stats().PacketsIn-before, uint64(5*steps))
	}
	t.Log(allocs)
	require.LessOrEqual(t, allocs[1], allocs[0]+steps/4)
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// quiet returns a match with a recorder, or without one.
func quiet(t testing.TB, on bool) *match {
	if on {
		return newMatch(t, 3, 6, flight.Config{}, &game{})
	}
	return newMatchWith(t, 3, 6, nil, &game{})
}

// BenchmarkRecorder compares the Steps of a server of 6 players with and without a recorder, in
// turns: two with and two without, so that their order does not matter. It reports the share that
// recording adds to the median, and to the mean of all Steps but the slowest hundredth.
func BenchmarkRecorder(b *testing.B) {
	var took [2][]float64
	matches := [4]*match{quiet(b, false), quiet(b, true), quiet(b, true), quiet(b, false)}
	for _, m := range matches {
		m.run(10 * time.Second)
	}
	b.ResetTimer()
	for range b.N {
		for turn := range 300 {
			for k := range matches {
				i := (turn + k) % len(matches)
				m, on := matches[i], i&1^i>>1
				m.now += time.Second / 30
				m.net.Run(m.now)
				for _, c := range m.clients {
					c.Step(epoch.Add(m.now))
				}
				start := time.Now()
				m.srv.Step(epoch.Add(m.now))
				took[on] = append(took[on], float64(time.Since(start)))
			}
		}
	}
	off, on := median(took[0]), median(took[1])
	b.ReportMetric(off/1000, "µs/step")
	b.ReportMetric((on-off)/1000, "µs/recording")
	b.ReportMetric(100*(on-off)/off, "%")
	off, on = mean(took[0]), mean(took[1])
	b.ReportMetric(100*(on-off)/off, "%-mean")
}

// mean returns the mean of a sorted list without its slowest hundredth.
func mean(list []float64) (sum float64) {
	list = list[:len(list)*99/100]
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// Writing a match's tape into a file while it runs costs at most a tenth of the time of its Steps
// without sockets, which is a fiftieth of a match's time with sockets.
func TestDurableCost(t *testing.T) {
	costtest.Ratio(t)
	f := folder(t, flight.FolderConfig{Dir: t.TempDir(), Every: time.Hour})
	m := newMatch(t, 3, 6, flight.Config{Durable: f}, &game{})
	m.run(10 * time.Second)
	_, err := flight.Flush(m.rec)
	require.NoError(t, err)
	var steps, flushes []float64
	last := int64(0)
	for range 100 {
		for range 30 {
			m.now += time.Second / 30
			m.net.Run(m.now)
			for _, c := range m.clients {
				c.Step(epoch.Add(m.now))
			}
			start := time.Now()
			m.srv.Step(epoch.Add(m.now))
			steps = append(steps, float64(time.Since(start)))
		}
		start := time.Now()
		n, err := flight.Flush(m.rec)
		flushes = append(flushes, float64(time.Since(start)))
		last = n
		require.NoError(t, err)
		require.NotZero(t, n)
	}
	flush, step := median(flushes), median(steps)
	share := flush / (30 * step)
	t.Logf("%d B, %.0f µs beside 30 Steps of %.0f µs: %.2f %%", last, flush/1000, step/1000, 100*share)
	require.Less(t, share, 0.1)
}
