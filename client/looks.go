package client

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// mostLooks is how many ticks are run again to explain one misprediction. For further ticks the client
// assumes that their systems read everything that they may.
const mostLooks = 8

// looks finds out which components of others' entities shared systems read. It runs a tick once more
// with these entities concealed. If a system does not notice, it read nothing of them, neither here nor
// on the server, where its code and its inputs were the same.
type looks struct {
	*base
	ghosts    *ghosts
	stepper   *stepper
	recorder  *recorder
	predicted *predicted
	saves     *saves
	spawning  *spawning
	names     *recordNames
	records   *prediction.History[record]

	ticks   []lookedTick // ticks that were run again to explain one misprediction
	n       int          // how many of ticks are in use
	systems []int        // the systems that looked at concealed entities, in the tick that runs
	result  record
	shown   []foretick.PlayerID // scratch
	read    []int               // scratch
}

// lookedTick has the results of a tick that ran again.
type lookedTick struct {
	tick foretick.Tick
	// unknown is true if the systems may have read everything that they declare.
	unknown bool
	parents bool  // the systems asked for parents
	systems []int // the systems that looked at concealed entities
}

// forgetTicks forgets all ticks, before another misprediction is explained.
func (lk *looks) forgetTicks() { lk.n = 0 }

// noteLook notes whether a system looked at concealed entities.
func (lk *looks) noteLook(system int, peeked bool) {
	if peeked {
		lk.systems = append(lk.systems, system)
	}
}

// lookedIn returns what is known of a tick. It is nil if the tick was not run again yet.
func (lk *looks) lookedIn(t foretick.Tick) *lookedTick {
	for i := range lk.ticks[:lk.n] {
		if lk.ticks[i].tick == t {
			return &lk.ticks[i]
		}
	}
	return nil
}

// looked returns the components of others that a mispredicted component depends on in tick t, as far as
// its systems looked at them. It is called only before a correction, which loads the world anyway. The
// result is valid until the next call.
func (lk *looks) looked(component string, t foretick.Tick) []int {
	at := lk.lookedIn(t)
	if at == nil {
		if lk.n == mostLooks || lk.p.OtherBuild {
			return lk.ghosts.others
		}
		if lk.n == len(lk.ticks) {
			lk.ticks = append(lk.ticks, lookedTick{})
		}
		at = &lk.ticks[lk.n]
		lk.n++
		at.tick = t
		at.unknown = !lk.runConcealed(t)
		at.systems, at.parents = append(at.systems[:0], lk.systems...), ecs.Engine(lk.world).AskedParents()
	}
	lk.read = lk.read[:0]
	for i := range lk.p.Looks {
		s := &lk.p.Looks[i]
		if !s.Names(&lk.p.Layout, component) || !at.unknown && !s.Always && !slices.Contains(at.systems, s.System) {
			continue
		}
		for _, comp := range s.Others {
			if !slices.Contains(lk.read, comp) {
				lk.read = append(lk.read, comp)
			}
		}
	}
	return lk.read
}

// askedParents reports whether a system may have asked for parents in tick t.
func (lk *looks) askedParents(component string, t foretick.Tick) bool {
	lk.looked(component, t)
	at := lk.lookedIn(t)
	return at == nil || at.unknown || at.parents
}

// swayedByOthers reports whether tick t has another result without the entities that are not predicted
// here. It also returns true if the client knows none of these with one of the components.
func (lk *looks) swayedByOthers(t foretick.Tick, components []int) bool {
	if at := lk.lookedIn(t); at == nil || at.unknown {
		return true
	}
	return !slices.ContainsFunc(lk.ghosts.receiver.Ghosts(), func(g *snapshot.Ghost) bool {
		return !lk.ghosts.ahead(g) && lk.ghosts.hadComponents(g, t, components)
	})
}

// runConcealed runs a tick again while the entities that are not predicted here are concealed, and
// notes the systems that look for them. It returns false if the run is useless: the tick cannot run
// again, or the result differs from the first.
func (lk *looks) runConcealed(t foretick.Tick) bool {
	was := lk.records.Find(t)
	lk.systems = lk.systems[:0]
	hooked := lk.build
	return was != nil && lk.runAside(t, func() bool {
		hooked.Watch(true)
		lk.shown = append(lk.shown[:0], lk.view.Player, ecs.Common, ecs.ClientOnly)
		for i := range lk.saves.remotes {
			lk.shown = append(lk.shown, lk.saves.remotes[i].owner)
		}
		ecs.Engine(lk.world).Conceal(lk.shown...)
		ok := lk.stepper.runUnseeing(t)
		ecs.Engine(lk.world).Reveal()
		hooked.Watch(false)
		return ok
	}) && lk.result.hash() == was.hash()
}

// runAside runs a tick again, with a function, and keeps the outcome in result. It returns false if
// that failed, or the tick cannot run again.
func (lk *looks) runAside(t foretick.Tick, run func() bool) bool {
	return lk.stepper.runAside(t, run, func() {
		lk.result.clearRecord()
		for _, e := range lk.predicted.entities() {
			lk.recorder.keepEntity(&lk.result, e)
		}
		lk.keepSpawns(&lk.result)
	})
}

// keepSpawns adds the entities that only this run of the tick spawned. Their handles are new in each
// run, so the record has numbers instead, and two runs that spawned the same are equal.
func (lk *looks) keepSpawns(r *record) {
	for n, e := range lk.spawning.practised {
		from := len(r.items)
		lk.recorder.keepEntity(r, e)
		for i := from; i < len(r.items); i++ {
			r.items[i].e = ^ecs.Entity(n)
		}
	}
}

// A client has other players' values rounded to their steps, while the server's systems read the exact
// values. If that may be why a result differs, the tick runs again with each of the nudges. The result
// is then another one if values half a step away change it.

// mostNudged is how many ticks run again with nudged values to explain one misprediction.
const mostNudged = 4

// nudges are the directions in which the fields of a component are moved, one after another.
var nudges = [...][2]float32{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}

// roundedOnItsWay reports whether the server's systems read a component of others more precisely than
// clients receive it.
func roundedOnItsWay(s *schema.Schema) bool {
	return s != nil && (s.Coarse() >= 0 || !s.Predicted() && s.Rounded())
}

// swayedByRounding reports whether tick k has another result with a component of others moved by half a
// step.
func (lk *looks) swayedByRounding(k foretick.Tick, component int) bool {
	if !lk.runNudged(k, component, [2]float32{}) {
		return false
	}
	as := lk.result.hash()
	for _, by := range nudges {
		if lk.runNudged(k, component, by) && lk.result.hash() != as {
			return true
		}
	}
	return false
}

// runNudged runs a tick again, with a component of the entities that are not predicted here moved by
// half a step times by.
func (lk *looks) runNudged(k foretick.Tick, component int, by [2]float32) bool {
	return lk.runAside(k, func() bool {
		lk.ghosts.othersNewest()
		for _, g := range lk.ghosts.receiver.Ghosts() {
			if !lk.ghosts.ahead(g) && g.Data != 0 {
				lk.nudge(ecs.Entity(g.Data), component, by)
			}
		}
		return lk.stepper.runUnseeing(k)
	})
}

// nudge moves the rounded fields of an entity's component.
func (lk *looks) nudge(e ecs.Entity, component int, by [2]float32) {
	c := &lk.p.Components[component]
	at := ecs.Engine(lk.world).Pointer(e, c.ID)
	if at == nil {
		return
	}
	words := lk.names.zeroes(c.Schema.Words())
	c.Schema.Quantise(at, schema.GridSim, lk.names, words)
	n := 0
	for i := range c.Schema.NumFields() {
		f := c.Schema.Field(i)
		off := f.Step / 2
		if !c.Predicted {
			off = f.Step // its grid has no half steps
		} else if f.Sim == f.Step {
			off = 0
		}
		if off > 0 {
			c.Schema.Displace(i, words, schema.Offset{by[n%2] * float32(off)})
			n++
		}
	}
	c.Schema.Dequantise(words, schema.GridSim, lk.names, at)
}
