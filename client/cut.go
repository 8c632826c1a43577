package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
)

// predictedCuts has the teleports that were predicted since both ends last agreed, before a correction
// runs these ticks again. The game's mark tells a teleport from a step, however short it is.
type predictedCuts struct {
	items             []predictedCut
	corrected, newest foretick.Tick // the tick of the correction, and the newest predicted one
}

// predictedCut is a teleport of an entity in a tick.
type predictedCut struct {
	e    ecs.Entity
	tick foretick.Tick
}

// noteCuts notes the teleports of the ticks after agreed, before a correction of t. It goes back by
// reach ticks at most, of which records has as many. Before the first prediction newest is 0, which may
// seem to come after t, since ticks wrap around.
func (pc *predictedCuts) noteCuts(records *prediction.History[record], agreed, t, newest, reach foretick.Tick) {
	pc.items, pc.corrected, pc.newest = pc.items[:0], t, newest
	if newest-t > reach {
		pc.newest = t // no predicted tick runs again
	}
	if t-agreed > reach {
		agreed = t - 1
	}
	first := agreed + 1
	if int32(newest-first) >= int32(reach) {
		first = newest - reach + 1
	}
	for k := first; int32(k-newest) <= 0; k++ {
		if r := records.Find(k); r != nil {
			for _, e := range r.cuts {
				pc.items = append(pc.items, predictedCut{e, k})
			}
		}
	}
}

// recut reports whether the correction added a teleport of an entity, or took one away. The ticks up to
// that of the correction do not run again: what they had predicted is replaced by the server's state.
func (pc *predictedCuts) recut(records *prediction.History[record], e ecs.Entity) bool {
	for _, c := range pc.items {
		if c.e == e && int32(c.tick-pc.corrected) <= 0 {
			return true
		}
	}
	for k := pc.corrected + 1; int32(k-pc.newest) <= 0; k++ {
		r := records.Find(k)
		if r != nil && slices.Contains(r.cuts, e) != slices.Contains(pc.items, predictedCut{e, k}) {
			return true
		}
	}
	return false
}
