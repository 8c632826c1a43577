package netcode

import (
	"math"
	"slices"
)

// sampleWindow keeps the last samples of a measurement, both in order of
// arrival and sorted, so that any quantile is quick to read.
type sampleWindow struct {
	ring   []float64
	when   []float64 // when has the local time of each sample.
	hitch  []float64 // hitch has the part of each sample that a late caller caused.
	sorted []float64
	at     int
	sum    float64
	shift  int // shift counts the samples in a row at another level, far away.
	below  int // below counts the samples in a row well below the median.
}

// levelSamples is the number of samples in a row that show that the level fell
// slightly.
const levelSamples = 30

func newSampleWindow(size int) sampleWindow {
	return sampleWindow{ring: make([]float64, size), when: make([]float64, size), hitch: make([]float64, size), sorted: make([]float64, 0, size)}
}

func (w *sampleWindow) len() int { return len(w.sorted) }

func (w *sampleWindow) clearSamples() {
	w.sorted, w.at, w.sum, w.shift, w.below = w.sorted[:0], 0, 0, 0, 0
}

// addSample takes a sample. Three samples in a row that are more than far away from
// all others mean that the level has changed (the server slipped, the path
// moved): the window is emptied and restarted. Thirty in a row that are a fifth
// of far below the median mean the same. Without that rule, a path that got
// shorter would count only after the whole window had passed. A path that got
// longer needs no such rule, because callers ask for high quantiles.
func (w *sampleWindow) addSample(at, v, far float64) (taken, emptied bool) {
	return w.addLate(at, v, 0, far)
}

// addLate is addSample for a sample of which the caller caused the part hitch: see forgive.
func (w *sampleWindow) addLate(at, v, hitch, far float64) (taken, emptied bool) {
	if n := len(w.sorted); n > 0 && (v < w.sorted[0]-far || v > w.sorted[n-1]+far) {
		if w.shift++; w.shift < 3 {
			return false, false
		}
		w.clearSamples()
		emptied = true
	}
	w.shift = 0
	w.insert(at, v, hitch)
	if v >= w.quantile(0.5)-far/5 {
		w.below = 0
	} else if w.below++; w.below == levelSamples && len(w.sorted) >= 2*levelSamples {
		w.keepNewest(levelSamples)
	}
	return true, emptied
}

// keepNewest drops all but the last n samples.
func (w *sampleWindow) keepNewest(n int) {
	var last, when, hitch [levelSamples]float64
	for i := range n {
		from := (w.at - n + i + len(w.ring)) % len(w.ring)
		last[i], when[i], hitch[i] = w.ring[from], w.when[from], w.hitch[from]
	}
	w.clearSamples()
	for i, v := range last[:n] {
		w.insert(when[i], v, hitch[i])
	}
}

// keepAfter drops the samples taken up to a local time, except for the newest: a window
// that was filled stays filled.
func (w *sampleWindow) keepAfter(local float64) {
	n := min(w.len(), 1)
	for n < min(w.len(), levelSamples) && w.when[(w.at-1-n+2*len(w.ring))%len(w.ring)] > local {
		n++
	}
	w.keepNewest(n)
}

// dropAfter drops the samples taken after a local time, but not the first four.
func (w *sampleWindow) dropAfter(local float64) {
	n := w.len()
	w.inOrder()
	for n > 4 && w.when[n-1] > local {
		n--
		i, _ := slices.BinarySearch(w.sorted, w.ring[n])
		w.sorted = slices.Delete(w.sorted, i, i+1)
		w.sum -= w.ring[n]
	}
	w.at = n % len(w.ring)
}

// inOrder moves the oldest sample to the beginning of the ring.
func (w *sampleWindow) inOrder() {
	if len(w.sorted) < len(w.ring) {
		return
	}
	for _, x := range [][]float64{w.ring, w.when, w.hitch} {
		slices.Reverse(x[:w.at])
		slices.Reverse(x[w.at:])
		slices.Reverse(x)
	}
	w.at = 0
}

// rangeSince returns the range and number of the samples taken since a local time.
func (w *sampleWindow) rangeSince(since float64) (high, low float64, n int) {
	for i := range w.sorted {
		if v := w.ring[i]; w.when[i] >= since {
			if n == 0 {
				high, low = v, v
			}
			high, low, n = max(high, v), min(low, v), n+1
		}
	}
	return high, low, n
}

// above returns when the first and the last sample above a level were taken, and their number.
func (w *sampleWindow) above(level float64) (first, last float64, n int) {
	for i := range w.sorted {
		if at := w.when[i]; w.ring[i] > level {
			if n == 0 {
				first, last = at, at
			}
			first, last, n = min(first, at), max(last, at), n+1
		}
	}
	return first, last, n
}

// hitched reports whether the caller alone caused the samples above a level.
func (w *sampleWindow) hitched(level float64) bool {
	for i := range w.sorted {
		if v := w.ring[i]; v > level && v-w.hitch[i] > level {
			return false
		}
	}
	return true
}

// shareIn returns the share of the samples that was taken in [first, last].
func (w *sampleWindow) shareIn(first, last float64) float64 {
	n := 0
	for i := range w.sorted {
		if at := w.when[i]; at >= first && at <= last {
			n++
		}
	}
	return float64(n) / float64(w.len())
}

// dropAbove drops the samples above a level.
func (w *sampleWindow) dropAbove(level float64) {
	w.inOrder()
	all := w.len()
	w.clearSamples()
	for i := range all {
		if v := w.ring[i]; v <= level {
			w.insert(w.when[i], v, w.hitch[i])
		}
	}
}

// oldest returns when the oldest sample was taken. The window must not be empty.
func (w *sampleWindow) oldest() float64 {
	if len(w.sorted) < len(w.ring) {
		return w.when[0]
	}
	return w.when[w.at]
}

// spread returns the range of the samples.
func (w *sampleWindow) spread() float64 {
	if n := w.len(); n > 0 {
		return w.sorted[n-1] - w.sorted[0]
	}
	return 0
}

// forgive subtracts from each sample the part that the caller caused.
func (w *sampleWindow) forgive() {
	n := len(w.sorted)
	w.sum = 0
	for i := range n { // a ring that is not full starts at 0
		w.ring[i] -= w.hitch[i]
		w.hitch[i] = 0
		w.sum += w.ring[i]
	}
	copy(w.sorted, w.ring[:n])
	slices.Sort(w.sorted)
}

// turn adds to each sample the effect of a drift change of by since it was
// taken.
func (w *sampleWindow) turn(now, by float64) {
	n := len(w.sorted)
	w.sum = 0
	for i := range n { // a ring that is not full starts at 0
		w.ring[i] += (now - w.when[i]) * by
		w.sum += w.ring[i]
	}
	copy(w.sorted, w.ring[:n])
	slices.Sort(w.sorted)
}

func (w *sampleWindow) insert(at, v, hitch float64) {
	if len(w.sorted) == len(w.ring) {
		old := w.ring[w.at]
		i, _ := slices.BinarySearch(w.sorted, old)
		w.sorted = slices.Delete(w.sorted, i, i+1)
		w.sum -= old
	}
	w.ring[w.at], w.when[w.at], w.hitch[w.at] = v, at, hitch
	w.at = (w.at + 1) % len(w.ring)
	i, _ := slices.BinarySearch(w.sorted, v)
	w.sorted = slices.Insert(w.sorted, i, v)
	w.sum += v
}

// recent returns the greatest of the last samples. The window must not be
// empty.
func (w *sampleWindow) recent() float64 {
	i, top := w.at, math.Inf(-1)
	for range min(len(w.sorted), levelSamples) {
		if i == 0 {
			i = len(w.ring)
		}
		i--
		top = max(top, w.ring[i])
	}
	return top
}

func (w *sampleWindow) mean() float64 { return w.sum / float64(len(w.sorted)) }

// quantile interpolates; q is 0 to 1. The window must not be empty.
func (w *sampleWindow) quantile(q float64) float64 {
	x := q * float64(len(w.sorted)-1)
	i := int(x)
	if i+1 >= len(w.sorted) {
		return w.sorted[len(w.sorted)-1]
	}
	f := x - float64(i)
	return w.sorted[i]*(1-f) + w.sorted[i+1]*f
}
