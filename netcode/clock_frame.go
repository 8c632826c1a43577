package netcode

import (
	"slices"
	"time"
)

// frameTime learns how many ticks lie between a caller's Advances. A time that stands
// alone, such as a stall, says nothing of the next: the median of five counts. Every
// time is in ticks.
type frameTime struct {
	last   time.Duration // when Advance was called
	lagged time.Duration // when it last was after a slow frame
	begun  bool
	recent [5]float64
	n      int
	usual  float64 // the median of recent
	mean   float64 // smoothed
	fast   float64 // above it frames are slow
}

func newFrameTime(rate float64) frameTime { return frameTime{fast: max(fastTicks, rate/fastRate)} }

const (
	fastTicks = 2.0         // what a frame of a playable rate takes at most …
	fastRate  = 24          // … or one of so many a second, where that is more
	frameMost = maxCommands // ticks: no packet holds the commands of a longer one
)

// slow tells whether frames are too few for every tick to have its own.
func (f *frameTime) slow() bool { return f.usual > f.fast }

// tardy is what slow frames take; 0 where they are fast.
func (f *frameTime) tardy() float64 {
	if f.slow() {
		return f.usual
	}
	return 0
}

// note takes the time of an Advance, and tells whether there was one before.
func (f *frameTime) note(now time.Duration, rate float64) bool {
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

// smooth follows fast frames slowly, as a single one that lasts says nothing, and
// slow ones at once: their commands wait.
func (f *frameTime) smooth(dt float64) {
	switch most := max(f.fast, f.usual); {
	case f.slow() || f.mean > f.fast:
		f.mean += (min(dt, most) - f.mean) / 4
	case dt <= samplesApart:
		f.mean += (min(dt, most) - f.mean) / 16
	}
}

// start begins to play: what was learned so far is what is known.
func (f *frameTime) start() {
	if f.mean = 0; f.slow() {
		f.mean = f.usual
	}
}
