package stats_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
)

// TestHistogram: the bounds rise, each duration is in its bucket, and the error of a quantile is less
// than the width of a bucket.
func TestHistogram(t *testing.T) {
	require.Equal(t, 10*time.Microsecond, stats.Bound(0))
	require.Equal(t, 15*time.Microsecond, stats.Bound(1))
	require.Equal(t, time.Millisecond, stats.Bound(12))
	require.Equal(t, 7*time.Second, stats.Bound(stats.Buckets-2))
	require.Greater(t, stats.Bound(stats.Buckets-1), 24*time.Hour)
	for i := range stats.Buckets {
		var h stats.Histogram
		h.Observe(stats.Bound(i))
		require.EqualValues(t, 1, h.Counts[i], "the bound belongs to its bucket")
		if i > 0 {
			require.Greater(t, stats.Bound(i), stats.Bound(i-1))
			h.Observe(stats.Bound(i-1) + 1)
			require.EqualValues(t, 2, h.Counts[i])
		}
	}
	var h stats.Histogram
	require.Zero(t, h.Quantile(0.5))
	require.Zero(t, h.Mean())
	var all []time.Duration
	for i := range 10_000 {
		d := time.Duration(i*i) * time.Nanosecond / 2 // up to 50 ms
		all = append(all, d)
		h.Observe(d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		want := all[min(int(q*10_000), 9_999)]
		require.InDelta(t, float64(want), float64(h.Quantile(q)), 0.25*float64(want)+float64(10*time.Microsecond), "%v", q)
	}
	require.Equal(t, all[9_999], h.Quantile(1))
	require.Equal(t, all[9_999], h.Max)
	require.EqualValues(t, 10_000, h.Count())
	h.Observe(-time.Second)
	h.Observe(time.Minute)
	require.EqualValues(t, 1, h.Counts[stats.Buckets-1])
	require.Equal(t, time.Minute, h.Quantile(1))
	require.Zero(t, testing.AllocsPerRun(100, func() { h.Observe(3 * time.Millisecond) }))
}

// TestHistogramsAdd: the sum of two histograms has the counts and quantiles of all durations, and the
// difference of two times has those in between.
func TestHistogramsAdd(t *testing.T) {
	var a, b, all stats.Histogram
	for i := range 1000 {
		d := time.Duration(i*37%1000) * 20 * time.Microsecond
		all.Observe(d)
		if i%3 == 0 {
			a.Observe(d)
		} else {
			b.Observe(d)
		}
	}
	before := a
	a.Add(&b)
	require.Equal(t, all, a)
	since := a.Since(&before)
	require.Equal(t, b.Counts, since.Counts)
	require.Equal(t, b.Sum, since.Sum)
}

// filled returns figures with a different number in each field.
func filled(from uint64) (s stats.Server) {
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Uint64:
			f.SetUint(from + uint64(i))
		case reflect.Struct:
			switch c := f.Addr().Interface().(type) {
			case *stats.Counters:
				for k := range f.NumField() {
					f.Field(k).SetUint(from + uint64(100*k))
				}
			case *prediction.ByCause:
				for e := range c.All() {
					c.Count(e, from+uint64(10*i)+uint64(e))
				}
			case *stats.ByRefusal:
				for e := range c.All() {
					c.Count(e, from+uint64(10*i)+uint64(e))
				}
			}
		case reflect.Int:
			f.SetInt(int64(from) + int64(i))
		}
	}
	s.TickTime.Observe(time.Duration(from) * time.Millisecond)
	s.Lateness.Observe(time.Duration(from) * time.Microsecond)
	s.RTT.Observe(time.Duration(from) * time.Millisecond)
	s.LossIn.Observe(float64(from) / 1e5)
	s.LossOut.Observe(float64(from) / 1e5)
	return s
}

// TestServersAdd: a sum includes every field, and the sum of servers that have ended leaves gauges out.
func TestServersAdd(t *testing.T) {
	gauges := []string{"Players", "Held", "Waiting", "Observing", "QueuedBytes", "QueuedMost"}
	for _, ended := range []bool{false, true} {
		a, b := filled(1000), filled(5000)
		a.Systems = []stats.System{{Name: "move", Runs: 1, Total: 2, Max: 3}, {Name: "shoot", Runs: 4}}
		b.Systems = []stats.System{{Name: "shoot", Runs: 10, Total: 5}, {Name: "build", Runs: 7}, {Name: "move", Runs: 8, Max: 9}}
		sum := stats.Server{}
		sum.Copy(&a)
		add := sum.Add
		if ended {
			add = sum.AddCounters
		}
		add(&b)
		va, vb, vs := reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(sum)
		for i := range vs.NumField() {
			name := vs.Type().Field(i).Name
			gauge := slices.Contains(gauges, name)
			switch f := vs.Field(i); {
			case name == "QueuedMost" && !ended:
				require.Equal(t, vb.Field(i).Int(), f.Int())
			case f.Kind() == reflect.Int:
				require.True(t, gauge, "%s is a gauge: name it in the test", name)
				want := va.Field(i).Int()
				if !ended {
					want += vb.Field(i).Int()
				}
				require.Equal(t, want, f.Int(), name)
			case name == "Counters":
				for k := range f.NumField() {
					require.Equal(t, va.Field(i).Field(k).Uint()+vb.Field(i).Field(k).Uint(), f.Field(k).Uint(), f.Type().Field(k).Name)
				}
			case f.Kind() == reflect.Uint64:
				require.Equal(t, va.Field(i).Uint()+vb.Field(i).Uint(), f.Uint(), name)
			}
		}
		for r, n := range sum.Refusals.All() {
			require.Equal(t, a.Refusals.Of(r)+b.Refusals.Of(r), n, r)
		}
		for c, n := range sum.Causes.All() {
			require.Equal(t, a.Causes.Of(c)+b.Causes.Of(c), n, c)
			require.Equal(t, a.Corrections.Of(c)+b.Corrections.Of(c), sum.Corrections.Of(c), c)
		}
		require.EqualValues(t, 2, sum.TickTime.Count())
		require.EqualValues(t, 2, sum.Lateness.Count())
		require.EqualValues(t, 2, sum.RTT.Count())
		require.EqualValues(t, 2, sum.LossIn.Count())
		require.EqualValues(t, 2, sum.LossOut.Count())
		require.Equal(t, []stats.System{{Name: "move", Runs: 9, Total: 2, Max: 9}, {Name: "shoot", Runs: 14, Total: 5}, {Name: "build", Runs: 7}}, sum.Systems)
		require.Len(t, a.Systems, 2)
		require.EqualValues(t, 1, a.Systems[0].Runs, "Copy copies")
	}
}

// TestRefusals: each reason has a name of its own, and counts are in the order of the reasons.
func TestRefusals(t *testing.T) {
	var by stats.ByRefusal
	require.Equal(t, "none", by.String())
	by.Count(stats.RefusedBanned, 2)
	by.Count(stats.RefusedFull, 1)
	require.Equal(t, "full 1, banned 2", by.String())
	require.Zero(t, by.Of(99))
	seen, next := map[string]bool{}, stats.Refusal(0)
	for r, n := range by.All() {
		require.Equal(t, next, r)
		require.Equal(t, by.Of(r), n)
		seen[r.String()] = true
		next++
	}
	require.Equal(t, stats.RefusedTwice+1, next)
	require.Len(t, seen, int(next))
	sum := uint64(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, n := range by.All() {
			sum += n
		}
	}))
	require.Equal(t, "unknown", stats.Refusal(99).String())
	require.Equal(t, "too_often", stats.RefusedTooOften.String())
}
