package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/stats"
)

// lossTicks is the number of ticks between two checks for swallowed changes.
const lossTicks = 16

// mostLosses limits the list, and the fields of entities that are checked again.
const mostLosses = 256

// lossAt is a field of an entity.
type lossAt struct {
	e           ecs.Entity
	comp, field int
}

// lossSeen is a change that was swallowed.
type lossSeen struct {
	word   int32
	up     bool
	system string
	value  float64 // debug builds: ahead of the system that runs
	leans  bool
}

// losses looks for values that tags lose, at one end.
type losses struct {
	p          *compiled
	log        guard.Logger
	frame      *Frame
	outside    *uint64
	swallowed  *uint64
	last, seen map[lossAt]lossSeen // last is what the last look found, and seen what this one finds.
	leans      map[lossAt]int32    // leans is where bodies were stopped, for when they are pushed again.
	list       []stats.Loss
	lossWatch
}

func newLosses(p *compiled, log guard.Logger, frame *Frame, outside, swallowed *uint64) losses {
	l := losses{p: p, log: log, frame: frame, outside: outside, swallowed: swallowed, last: map[lossAt]lossSeen{}, seen: map[lossAt]lossSeen{}, leans: map[lossAt]int32{}}
	if debugBuild {
		l.wrote, l.before, l.systems = map[[2]int]string{}, map[[2]int]bool{}, p.schedule.Systems()
		for i := range p.Components {
			l.queries = append(l.queries, ecs.NewQuery(p.Types, ecs.With(p.Components[i].Handle)))
		}
	}
	return l
}

// bounds checks a component for values outside of their range.
func (l *losses) bounds(comp int, at unsafe.Pointer) {
	c := &l.p.Components[comp]
	f := c.Schema.Outside(at, 0)
	if f < 0 {
		return
	}
	*l.outside++
	for ; f >= 0; f = c.Schema.Outside(at, f+1) {
		if i := l.findLoss(c.Name, c.Schema, f, l.wrote[[2]int{comp, f}], false); i >= 0 {
			l.list[i].Outside++
		}
	}
}

// sent checks a value that is about to be sent for numbers outside of their range.
func (l *losses) sent(name string, s *schema.Schema, at unsafe.Pointer) {
	if l.p.OtherBuild {
		return
	}
	f := s.Outside(at, 0)
	if f < 0 {
		return
	}
	*l.outside++
	for ; f >= 0; f = s.Outside(at, f+1) {
		if i := l.findLoss(name, s, f, l.frame.run.name, false); i >= 0 {
			l.list[i].Outside++
		}
	}
}

// sentBy is sent for a value that a function of the game made, by its name.
func (l *losses) sentBy(function, name string, s *schema.Schema, at unsafe.Pointer) {
	before := l.frame.run.name
	l.frame.run.name = function
	l.sent(name, s, at)
	l.frame.run.name = before
}

// checkDue reports whether a tick checks for swallowed changes.
func (l *losses) checkDue(t Tick) bool { return t%lossTicks == 0 }

// grid checks for changes of a value that rounding undoes. before holds the value's words
// before the change. Only a change that the last check found too is counted.
func (l *losses) grid(e ecs.Entity, comp int, at unsafe.Pointer, before []int32, past pastWords) {
	s := l.p.Components[comp].Schema
	for f, up := s.Swallowed(at, before, 0); f >= 0; f, up = s.Swallowed(at, before, f+1) {
		k, word := lossAt{e, comp, f}, before[s.Fields()[f].Word]
		was, again := l.last[k]
		if again = again && was.word == word; !again {
			was.leans = l.leaning(k, word, past)
		}
		if len(l.seen) < mostLosses {
			l.seen[k] = lossSeen{word: word, up: up, leans: was.leans}
		}
		if !again || was.leans || was.up != up {
			continue
		}
		*l.swallowed++
		if i := l.findLoss(l.p.Components[comp].Name, s, f, was.system, true); i >= 0 {
			l.list[i].Swallowed++
		}
	}
}

// looked ends a look.
func (l *losses) looked() {
	l.last, l.seen = l.seen, l.last
	clear(l.seen)
}

// findLoss returns the index of a field in the list, and adds it if it is new. It logs new
// fields, but swallowed changes in debug builds only, since they may be a body at rest.
func (l *losses) findLoss(name string, s *schema.Schema, field int, system string, swallowed bool) int {
	f := s.Field(field)
	for i := range l.list {
		if x := &l.list[i]; x.Field == f.Name && x.Component == name && x.System == system {
			return i
		}
	}
	if len(l.list) == mostLosses {
		return -1
	}
	if swallowed && !debugBuild {
		l.list = append(l.list, stats.Loss{Component: name, Field: f.Name})
		return len(l.list) - 1
	}
	line := l.p.labelled([]any{"tick", l.frame.Tick, "component", name, "field", f.Name, "min", f.Min, "max", f.Max, "step", f.Sim}, name, f.Name)
	if debugBuild {
		line = append(line, "system", system)
	}
	what := "a value is outside of its field's range"
	if swallowed {
		what = "a change is less than half a step, and rounding takes it back"
	}
	l.log.Warn(what, line...)
	l.list = append(l.list, stats.Loss{Component: name, Field: f.Name, System: system})
	return len(l.list) - 1
}

// countFull counts a sum that its Go type cannot hold.
func (l *losses) countFull(name string, s *schema.Schema, field int) {
	*l.outside++
	if i := l.findLoss(name, s, field, l.frame.run.name, false); i >= 0 {
		l.list[i].Outside++
	}
}
