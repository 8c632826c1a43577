package benchmarks

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// Rounds is the minimum number of interleaved rounds for the median of a ratio.
const Rounds = 21

// roundTime is the approximate time of one side of a round.
const roundTime = 300 * time.Microsecond

// Work is a piece of work to time. The zero Work means none.
type Work struct {
	Setup func() // before each round, not timed; if any side has it, all sides run once a round
	Run   func()
	Times int // runs a round; 0: as fit into about 300 µs
}

func (w Work) time(n int) float64 {
	if w.Setup != nil {
		w.Setup()
	}
	start := time.Now()
	for range n {
		w.Run()
	}
	return float64(time.Since(start)) / float64(n)
}

// repetitions returns how often to run the work in a round.
func (w Work) repetitions(once bool) int {
	switch {
	case once || w.Run == nil:
		return 1
	case w.Times > 0:
		return w.Times
	}
	n := 1
	for w.time(n)*float64(n) < float64(roundTime) {
		n *= 2
	}
	return n
}

// Compare runs baseline and subjects alternately. It returns the median time of
// the baseline in ns. For each subject it returns the median ratio to the
// baseline of the same round; 0 for the zero Work. Garbage is collected only
// between rounds, so that no side pays for another's.
func Compare(rounds int, baseline Work, subjects ...Work) (ns float64, ratios []float64) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	once := slices.ContainsFunc(subjects, func(w Work) bool { return w.Setup != nil })
	n, times := baseline.repetitions(once), make([]int, len(subjects))
	for i, s := range subjects {
		times[i] = s.repetitions(once)
	}
	var base []float64
	got := make([][]float64, len(subjects))
	for range max(rounds, Rounds) {
		runtime.GC()
		baseline.time(1) // the collector leaves cold caches for the first one
		b := baseline.time(n)
		base = append(base, b)
		for i, s := range subjects {
			if s.Run != nil {
				got[i] = append(got[i], s.time(times[i])/b)
			}
		}
	}
	ratios = make([]float64, len(subjects))
	for i, g := range got {
		if len(g) > 0 {
			ratios[i] = median(g)
		}
	}
	return median(base), ratios
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
