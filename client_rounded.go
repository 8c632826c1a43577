package foretick

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// A client has other players' values rounded to their steps, while the server's systems read
// them as they are. Where that may be why a result differs, a tick has another result once
// the values are half a step off. So it runs again with each of the nudges.

// mostNudged is how many ticks run again with nudged values to explain one misprediction.
const mostNudged = 4

// nudges are the directions that the fields of a component are moved in, in turn.
var nudges = [...][2]float32{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}

// OthersRounded finds a component of others' entities whose rounding on its way here may be
// the cause.
func (e evidence) OthersRounded(t Tick) (component string, ok bool) {
	tl := e.tl
	if !tl.fromOthers() || tl.p.OtherBuild {
		return "", false
	}
	first := tl.doubtful(t)
	if int32(t-first) >= mostNudged {
		first = t - mostNudged + 1
	}
	var read []int
	for k := t; int32(k-first) >= 0; k-- {
		read = append(read[:0], tl.looked(k)...)
		read = slices.DeleteFunc(read, func(i int) bool { return !roundedOnItsWay(tl.p.Components[i].Schema) })
		if len(read) == 0 {
			continue
		}
		for _, i := range read {
			if tl.swayedByRounding(k, i) {
				return tl.p.componentName(i), true
			}
		}
	}
	return "", false
}

// roundedOnItsWay reports whether the server's systems read a component of others more
// finely than clients receive it.
func roundedOnItsWay(s *schema.Schema) bool {
	return s != nil && (s.Coarse() >= 0 || !s.Predicted() && s.Rounded())
}

// swayedByRounding reports whether tick k has another result with a component of others half
// a step off.
func (tl *timeline) swayedByRounding(k Tick, component int) bool {
	if !tl.runNudged(k, component, [2]float32{}) {
		return false
	}
	as := tl.looks.result.hash()
	for _, by := range nudges {
		if tl.runNudged(k, component, by) && tl.looks.result.hash() != as {
			return true
		}
	}
	return false
}

// runNudged runs a tick again, with a component of the entities that are not predicted here
// half a step off, times by.
func (tl *timeline) runNudged(k Tick, component int, by [2]float32) bool {
	return tl.runAside(k, func() bool {
		tl.ghosts.othersNewest()
		for _, g := range tl.ghosts.receiver.Ghosts() {
			if !tl.ghosts.ahead(g) && g.Data != 0 {
				tl.nudge(ecs.Entity(g.Data), component, by)
			}
		}
		return tl.runUnseeing(k)
	})
}

// nudge moves the rounded fields of an entity's component.
func (tl *timeline) nudge(e ecs.Entity, component int, by [2]float32) {
	c := &tl.p.Components[component]
	at := tl.world.Pointer(e, c.ID)
	if at == nil {
		return
	}
	words := tl.zeroes(c.Schema.Words())
	c.Schema.Quantise(at, schema.GridSim, recordRefs{tl}, words)
	n := 0
	for i := range c.Schema.NumFields() {
		f := c.Schema.Field(i)
		off := f.Step / 2
		if !c.Predicted {
			off = f.Step // its grid has no half of it
		} else if f.Sim == f.Step {
			off = 0
		}
		if off > 0 {
			c.Schema.Displace(i, words, schema.Offset{by[n%2] * float32(off)})
			n++
		}
	}
	c.Schema.Dequantise(words, schema.GridSim, recordRefs{tl}, at)
}
