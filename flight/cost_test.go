package flight_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/flight"
)

// A recorder allocates nothing in a Step, but for a piece of memory of 64 kB now and then.
func TestRecorderAllocatesNothing(t *testing.T) {
	allocs := map[bool]float64{}
	for _, on := range []bool{false, true} {
		m := quiet(t, on)
		m.run(10 * time.Second)
		allocs[on] = testing.AllocsPerRun(300, func() {
			m.now += time.Second / 30
			m.net.Run(m.now)
			m.srv.Step(epoch.Add(m.now))
		})
	}
	require.Equal(t, allocs[false], allocs[true])
}

// quiet is a match with a recorder, or without.
func quiet(t testing.TB, on bool) *match {
	m := newMatch(t, 3, 6, flight.Config{}, &game{})
	if on {
		return m
	}
	m = &match{TB: t, net: m.net, listen: m.listen, game: &game{seed: func() uint64 { return 0 }}, hashes: m.hashes, ends: m.ends, rng: m.rng}
	m.listen.Endpoint = m.net.Listen()
	var err error
	m.srv, err = m.game.serve(foretick.ServerConfig{Transport: m.listen, MaxClients: 16, MaxWaitingPerAddress: -1})
	require.NoError(t, err)
	for range 6 {
		m.join()
	}
	return m
}

// BenchmarkRecorder compares the Steps of a server of 6 players with and without a recorder,
// in turns. It reports the share that recording adds.
func BenchmarkRecorder(b *testing.B) {
	var took [2][]float64
	matches := [2]*match{quiet(b, false), quiet(b, true)}
	for _, m := range matches {
		m.run(10 * time.Second)
	}
	b.ResetTimer()
	for range b.N {
		for range 300 {
			for i, m := range matches {
				m.now += time.Second / 30
				m.net.Run(m.now)
				for _, c := range m.clients {
					c.Step(epoch.Add(m.now))
				}
				start := time.Now()
				m.srv.Step(epoch.Add(m.now))
				took[i] = append(took[i], float64(time.Since(start)))
			}
		}
	}
	off, on := median(took[0]), median(took[1])
	b.ReportMetric(off/1000, "µs/step")
	b.ReportMetric((on-off)/1000, "µs/recording")
	b.ReportMetric(100*(on-off)/off, "%")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
