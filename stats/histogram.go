package stats

import "time"

// Buckets is the number of buckets of a Histogram.
const Buckets = 37

// bounds are the longest durations of all buckets except the last: six in a decade, from 10 µs to 7 s.
var bounds = makeBounds()

func makeBounds() (b [Buckets - 1]time.Duration) {
	unit := time.Microsecond
	for i := range b {
		if i%6 == 0 {
			unit *= 10
		}
		b[i] = unit * [...]time.Duration{10, 15, 20, 30, 50, 70}[i%6] / 10
	}
	return b
}

// Bound returns the longest duration that bucket i counts: 10 µs for 0, 7 s for Buckets − 2. The
// last bucket, Buckets − 1, has no bound: Bound returns the longest time.Duration.
func Bound(i int) time.Duration {
	if i >= len(bounds) {
		return 1<<63 - 1
	}
	return bounds[i]
}

// Histogram counts durations in fixed buckets, which are the same for all histograms. The zero
// value is empty. It is a plain value: it copies by assignment, and is not safe for concurrent use.
type Histogram struct {
	Counts [Buckets]uint64 // durations by bucket: above Bound(i−1), up to Bound(i)
	Sum    time.Duration   // sum of all durations
	Max    time.Duration   // the longest duration
}

// Observe counts a duration. A negative one counts as 0. It allocates nothing.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	low, high := 0, len(bounds)
	for low < high {
		if mid := (low + high) / 2; d <= bounds[mid] {
			high = mid
		} else {
			low = mid + 1
		}
	}
	h.Counts[low]++
	h.Sum += d
	h.Max = max(h.Max, d)
}

// Add adds the durations of another histogram.
func (h *Histogram) Add(other *Histogram) {
	for i, n := range other.Counts {
		h.Counts[i] += n
	}
	h.Sum += other.Sum
	h.Max = max(h.Max, other.Max)
}

// Since returns the durations counted since before, an earlier copy of the same histogram. Max stays
// that of the whole time.
func (h *Histogram) Since(before *Histogram) Histogram {
	d := *h
	for i, n := range before.Counts {
		d.Counts[i] -= min(n, d.Counts[i])
	}
	d.Sum -= before.Sum
	return d
}

// Count returns the number of durations.
func (h *Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Mean returns the mean duration, and 0 if there is none.
func (h *Histogram) Mean() time.Duration {
	if n := h.Count(); n > 0 {
		return h.Sum / time.Duration(n)
	}
	return 0
}

// Quantile returns the duration that the share q (0 to 1) of all durations does not exceed. Within
// a bucket it assumes an even spread, so it may be off by the width of a bucket. It is never above
// Max. An empty histogram returns 0.
func (h *Histogram) Quantile(q float64) time.Duration {
	total := h.Count()
	if total == 0 {
		return 0
	}
	want, below := min(max(q, 0), 1)*float64(total), uint64(0)
	for i, n := range h.Counts {
		if n == 0 || float64(below+n) < want {
			below += n
			continue
		}
		from, to := time.Duration(0), h.Max
		if i > 0 {
			from = bounds[i-1]
		}
		if i < len(bounds) {
			to = min(to, bounds[i])
		}
		return min(from+time.Duration((want-float64(below))/float64(n)*float64(to-from)), h.Max)
	}
	return h.Max
}
