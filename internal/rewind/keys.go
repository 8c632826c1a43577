package rewind

import (
	"math"

	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/schema"
)

// Keys are the two ticks between which an entity is drawn, and the fraction between them.
type Keys struct {
	A, B Tick
	// Before is the tick before A that a curve depends on too. 0 means that there is none near.
	Before Tick
	F      float32 // F is the fraction from A to B, 0 to 1.
}

// OffsetSteps is the number of steps in a tick for a command's offset. The offset is the
// distance from the command's tick back to the moment at which its frame drew entities
// ahead. Beyond offsetFine steps each is offsetCoarse times as long. A frame is that late
// only when the prediction's history is used up and input is delayed.
const (
	OffsetSteps  = 32
	offsetFine   = 160
	offsetCoarse = 4
)

// PackOffset returns an offset in steps as a command carries it: 1 to 255. It is rounded
// up, within the frame's tick.
func PackOffset(steps float32) uint8 {
	if steps > offsetFine {
		steps = offsetFine + float32(math.Ceil(float64(steps-offsetFine)/offsetCoarse))
	}
	return uint8(min(max(steps, 1), 255))
}

// unpackOffset returns the offset that a command carries, in steps.
func unpackOffset(o uint8) int64 {
	if o > offsetFine {
		return offsetFine + int64(o-offsetFine)*offsetCoarse
	}
	return int64(o)
}

// keysAt returns the ticks around a moment in steps of a tick.
func keysAt(at int64) Keys {
	t := Tick(at / OffsetSteps)
	return Keys{A: t, B: t + 1, F: float32(at%OffsetSteps) / OffsetSteps}
}

// recorded returns the ticks around a moment as the server computed them.
func recorded(c lagcomp.Claim) Keys { return Keys{A: c.Tick, B: c.Tick + 1, F: c.Fraction} }

// drawn returns the delivered ticks around a moment, for the entity of a wire id that is
// sent since a tick, or for any if the wire id is 0. ok is false if the client had no
// snapshot before the moment. still reports that it had none after it, so that its screen
// showed the one before.
func (s *Shooter) drawn(c lagcomp.Claim, w schema.WireID, since Tick) (k Keys, still, ok bool) {
	every := s.screen.Every()
	a, b, ok := s.deliveries.deliveredAround(c.Tick, every, s.arrived, w, since)
	if !ok || a == b {
		return Keys{A: a, B: a + 1}, true, ok
	}
	before := s.deliveries.before(a, every, s.arrived, w, since)
	return Keys{a, b, before, (float32(c.Tick-a) + c.Fraction) / float32(b-a)}, false, true
}

// drawnBetween returns the ticks between which a view is drawn. Moments up to the player's own
// claim are drawn as on its screen. So is a later one if the client already had a snapshot
// after it. Otherwise it is drawn between the ticks that the server recorded.
func (s *Shooter) drawnBetween(v *View) Keys {
	k, still, ok := s.drawn(v.Used, 0, 0)
	if !ok || still && !v.screen {
		return recorded(v.Used)
	}
	return k
}

// aroundEntity is drawnBetween for one entity, if each is drawn between its own pair of ticks. shown is false
// if the entity was not on the screen.
func (s *Shooter) aroundEntity(v *View, id lagcomp.ID) (k Keys, shown bool) {
	e, known := s.past.world.Entity(id)
	if !known {
		return v.whole, true
	}
	w, since, known := s.screen.Shown(e.Net)
	if !known {
		return v.whole, true
	}
	k, still, ok := s.drawn(v.Used, w, since)
	if !ok {
		if first, came := s.firstValue(v.Used, w, since); came {
			return Keys{A: first, B: first + 1}, true
		}
	}
	switch {
	case !v.screen && (still || !ok):
		return v.whole, true
	case !ok:
		return Keys{}, false
	}
	return k, true
}

// curved reports whether an entity between two ticks is also drawn from the one before
// them. That requires that its client had the entity by then.
func (s *Shooter) curved(id lagcomp.ID, before Tick) bool {
	if before == 0 {
		return false
	}
	e, known := s.past.world.Entity(id)
	if !known {
		return true
	}
	_, since, ok := s.screen.Shown(e.Net)
	return !ok || int32(before-since) >= 0
}
