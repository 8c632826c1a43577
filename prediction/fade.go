package prediction

import (
	"math"
	"time"
)

// Fade hides a correction from the eye. The simulated value jumps to the
// correct one at once. The drawn value is the simulated one plus an offset,
// which starts at the size of the jump and decays exponentially. The simulation
// never reads it.
type Fade struct {
	// HalfLife is the time after which half of an offset remains. 0 means 50
	// ms; negative means no fading: a correction shows at once.
	HalfLife time.Duration
	// Limit is the largest offset worth fading, in the field's units. A larger
	// jump shows at once, like a teleport. 0 and negative mean no limit.
	Limit float32
}

// DefaultHalfLife applies where Fade.HalfLife is 0.
const DefaultHalfLife = 50 * time.Millisecond

// Add returns the new offset after a correction from shown to simulated, given
// the current offset. The drawn value stays in place and fades from there.
func (f Fade) Add(offset, shown, simulated float32) float32 {
	if f.HalfLife < 0 {
		return 0
	}
	offset += shown - simulated
	if f.Limit > 0 && (offset > f.Limit || offset < -f.Limit) {
		return 0
	}
	if offset != offset { // a NaN from the game must not stay on screen forever
		return 0
	}
	return offset
}

// Factor returns the number to multiply every offset by after dt: 0.5 after one
// half-life.
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
