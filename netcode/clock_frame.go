package netcode

import (
	"slices"
	"time"
)

// frameTime measures the number of ticks between a caller's Advances. A single
// outlier, such as a stall, says nothing about the next frame, so it uses the
// median of five. All times are in ticks.
type frameTime struct {
	last   time.Duration // last is the time of the last Advance.
	lagged time.Duration // lagged is the time of the last Advance after a slow frame.
	begun  bool
	recent [5]float64
	n      int
	usual  float64 // usual is the median of recent.
	mean   float64 // mean is the smoothed frame time.
	fast   float64 // fast is the longest frame that is not slow.
}

func newFrameTime(rate float64) frameTime { return frameTime{fast: max(fastTicks, rate/fastRate)} }

const (
	fastTicks = 2.0         // ticks: a frame that is not longer is never slow
	fastRate  = 24          // frames a second: a frame at this rate or a higher one is never slow
	frameMost = maxCommands // ticks: a packet cannot hold the commands of a longer frame
)

// slow reports whether the usual frame is longer than fast.
func (f *frameTime) slow() bool { return f.usual > f.fast }

// tardy returns the usual frame time while frames are slow, else 0.
func (f *frameTime) tardy() float64 {
	if f.slow() {
		return f.usual
	}
	return 0
}

// noteAdvance records the time of an Advance, and reports whether there was one
// before.
func (f *frameTime) noteAdvance(now time.Duration, rate float64) bool {
	dt := (now - f.last).Seconds() * rate
	if f.begun && dt <= 0 {
		return false
	}
	f.last = now
	if !f.begun {
		f.begun = true
		return false
	}
	if dt > f.fast {
		f.lagged = now
	}
	f.recent[f.n%len(f.recent)] = dt
	f.n++
	sorted, k := f.recent, min(f.n, len(f.recent))
	slices.Sort(sorted[:k])
	f.usual = min(sorted[(k-1)/2], frameMost)
	f.smooth(dt)
	return true
}

// smooth follows fast frames slowly, since a single long one says nothing. It
// follows slow frames at once, because their commands wait.
func (f *frameTime) smooth(dt float64) {
	switch most := max(f.fast, f.usual); {
	case f.slow() || f.mean > f.fast:
		f.mean += (min(dt, most) - f.mean) / 4
	case dt <= samplesApart:
		f.mean += (min(dt, most) - f.mean) / 16
	}
}

// startPlay begins play with the frame time learned so far.
func (f *frameTime) startPlay() { f.mean = f.usual }
