package rewind

import (
	"slices"

	"github.com/foretick/foretick/lagcomp"
)

// SlideTimes is how many times longer a slide takes than the time between past and present: a third of
// a body's speed is added, or taken away. A client draws an entity that changes hands on this way from
// the present to the past, or back.
const SlideTimes = 3

// handover is a change of an entity's owner.
type handover struct {
	id       lagcomp.ID
	tick     Tick // tick is the first one with the new owner.
	from, to uint32
	prefab   uint16
}

// beginHandovers forgets the changes of owner that no view reaches, and those of ticks that are
// recorded again.
func (p *Past) beginHandovers(t Tick) {
	p.handovers = slices.DeleteFunc(p.handovers, func(h handover) bool {
		return int32(h.tick-t) >= 0 || t-h.tick > Tick(len(p.ring))
	})
}

// showsAhead reports whether clients may show an entity of others ahead now, or on its way from there.
func (p *Past) showsAhead() bool { return p.game.Ahead || len(p.handovers) > 0 }

// slide returns the moment at which the player's screen showed an entity that it drew on its way
// between the present and the past. ok is false if the screen showed it in one of them. The way begins
// when the client learned that the entity had changed hands, and that is when its acknowledgement came.
func (v *View) slide(id lagcomp.ID) (k Keys, ok bool) {
	s := v.by
	if v.ahead.A == 0 || len(v.past.handovers) == 0 {
		return Keys{}, false
	}
	var h handover
	for _, x := range s.past.handovers {
		if x.id == id && int32(x.tick-s.basis) <= 0 {
			h = x
		}
	}
	if h.tick == 0 || h.to == s.owner {
		return Keys{}, false
	}
	was := h.from == s.owner || s.showsAhead(h.from, h.prefab)
	if is := s.showsAhead(h.to, h.prefab); was == is {
		return Keys{}, false
	}
	learned, ok := s.deliveries.learned(h.tick, s.screen.Every(), s.arrived)
	if !ok {
		return Keys{}, false
	}
	// The command is of a frame before the one that sent it. The first frame of a slide shows the same
	// as the one before, so the way is that much shorter to the past, and longer to the present.
	// A slide lasts by the time up to the end of the tick that the screen is in, a tick later than its moment.
	frame := max(0, float32(s.offset)/OffsetSteps-1)
	from, to := v.Used.Fraction, float32(int32(v.ahead.A-v.Used.Tick))+v.ahead.F
	left := 1 - max(0, float32(s.arrived-learned)/256-frame)/(SlideTimes*(to-from+1))
	if !(left > 0) {
		return Keys{}, false
	}
	at := from + left*(to-from-frame)
	if !was {
		at = to - left*(to-from+frame)
	}
	steps := int64(v.Used.Tick)*OffsetSteps + int64(max(at, 0)*OffsetSteps)
	return keysAt(min(steps, int64(s.past.newest())*OffsetSteps)), true
}

// learned returns when the client's acknowledgement of the first snapshot from tick t on came, of those
// that it had by a moment.
func (d *deliveries) learned(t Tick, every uint32, by int64) (at int64, ok bool) {
	t += (every - t%every) % every
	for range d.ring {
		if d.hadBy(t, every, by, 0) {
			return d.ring[d.slotOf(t, every)].at, true
		}
		t += every
	}
	return 0, false
}
