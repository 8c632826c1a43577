package prediction

import (
	"math"
	"time"
)

// Fade hides a correction from the eye. The simulated value jumps to the truth
// at once; what is drawn is the simulated value plus an offset that began as
// the size of the jump and fades exponentially. The simulation never reads it.
type Fade struct {
	// HalfLife is the time in which half of an offset vanishes. 0 means 50 ms;
	// negative means that nothing fades: a correction is shown at once.
	HalfLife time.Duration
	// Limit is the largest offset, in the field's own units, worth fading; a
	// larger jump is shown at once, as a teleport. 0 and negative mean no limit.
	Limit float32
}

// DefaultHalfLife is used where Fade.HalfLife is 0.
const DefaultHalfLife = 50 * time.Millisecond

// Add returns the offset after a correction from shown to simulated, given the
// offset until now: what was drawn stays where it was, and fades from there.
func (f Fade) Add(offset, shown, simulated float32) float32 {
	if f.HalfLife < 0 {
		return 0
	}
	offset += shown - simulated
	if f.Limit > 0 && (offset > f.Limit || offset < -f.Limit) {
		return 0
	}
	if offset != offset { // a NaN from the game must not stay on screen for ever
		return 0
	}
	return offset
}

// Factor is what every offset is multiplied by after dt has passed: 0.5 after
// one half-life.
func (f Fade) Factor(dt time.Duration) float32 {
	if dt <= 0 {
		return 1
	}
	half := f.HalfLife
	switch {
	case half < 0:
		return 0
	case half == 0:
		half = DefaultHalfLife
	}
	return float32(math.Exp2(-float64(dt) / float64(half)))
}
