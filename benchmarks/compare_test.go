package benchmarks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/foretick/foretick/benchmarks"
)

func BenchmarkCompare(b *testing.B) {
	for _, c := range benchmarks.Cases() {
		b.Run(strings.NewReplacer(" ", "_", ",", "").Replace(c.Name), func(b *testing.B) {
			ns, ratios := c.Run(b.N)
			b.ReportMetric(0, "ns/op") // of no meaning here
			b.ReportMetric(ns, "plain_ns")
			for i, l := range benchmarks.Libraries() {
				if ratios[i] > 0 {
					b.ReportMetric(ratios[i], l.Name+"_x_plain")
				}
			}
		})
	}
}

// TestEverybodyDoesTheSame runs each piece of work twice with every library,
// and compares what the worlds hold.
func TestEverybodyDoesTheSame(t *testing.T) {
	for _, c := range benchmarks.Cases() {
		sums := map[string]float64{}
		for _, l := range benchmarks.Libraries() {
			lib := l.New()
			w := c.Work(lib)
			if w.Run == nil {
				continue
			}
			for range 2 {
				if w.Setup != nil {
					w.Setup()
				}
				w.Run()
			}
			sums[l.Name] = lib.Sum()
		}
		for name, sum := range sums {
			if sum != sums["foretick"] {
				t.Errorf("%s: %s has %v, foretick %v", c.Name, name, sum, sums["foretick"])
			}
		}
	}
}

func TestCompareIsAMedianOfRounds(t *testing.T) {
	ran, set := 0, 0
	ns, ratios := benchmarks.Compare(30, benchmarks.Work{Run: func() { time.Sleep(time.Microsecond) }},
		benchmarks.Work{Setup: func() { set++ }, Run: func() { ran++ }}, benchmarks.Work{})
	if ran != 30 || set != 30 {
		t.Errorf("%d runs and %d setups in 30 rounds", ran, set)
	}
	if ns <= 0 || ratios[0] <= 0 || ratios[1] != 0 {
		t.Errorf("%v ns, ratios %v", ns, ratios)
	}
}
