package game

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/stats"
)

// lossTicks is the number of ticks between two checks for changes that rounding undoes.
const lossTicks = 16

// mostLosses limits the list of losses, and the number of fields that are checked again.
const mostLosses = 256

// lossAt identifies a field of an entity.
type lossAt struct {
	e           ecs.Entity
	comp, field int
}

// lossSeen is a change that rounding undid.
type lossSeen struct {
	word   int32
	up     bool    // the change would have increased the value
	system string  // the system that changed the value, in debug builds
	value  float64 // the value before the running system, in debug builds
	leans  bool    // something stopped the value: it is not a loss
}

// Losses looks, at one end, for values that the tags of their fields change: out of range, or rounded
// back.
type Losses struct {
	Facts     *Facts
	Log       guard.Logger
	world     *ecs.World
	tick      *Tick
	run       *SystemRun
	outside   *uint64
	swallowed *uint64
	// last has the findings of the newest check, and seen those of the running check.
	last, seen map[lossAt]lossSeen
	// leans has the words at which bodies were stopped. The next time they are stopped there, it is no
	// loss either.
	leans map[lossAt]int32
	List  []stats.Loss // List has the fields that lost something.
	lossWatch
}

// NewLosses returns a Losses for a world. It counts what it finds in outside and swallowed. In debug
// builds it names the system of run.
func NewLosses(p *Facts, log guard.Logger, w *ecs.World, tick *Tick, run *SystemRun, outside, swallowed *uint64) Losses {
	l := Losses{Facts: p, Log: log, world: w, tick: tick, run: run, outside: outside, swallowed: swallowed, last: map[lossAt]lossSeen{}, seen: map[lossAt]lossSeen{}, leans: map[lossAt]int32{}}
	if DebugBuild {
		l.wrote, l.Before, l.systems = map[[2]int]string{}, map[[2]int]bool{}, p.Scheduled.Systems()
		for i := range p.Components {
			l.queries = append(l.queries, ecs.NewQuery(p.Types, ecs.With(p.Components[i].Handle)))
		}
	}
	return l
}

// Bounds checks a component for values outside their range.
func (l *Losses) Bounds(comp int, at unsafe.Pointer) {
	c := &l.Facts.Components[comp]
	f := c.Schema.Outside(at, 0)
	if f < 0 {
		return
	}
	*l.outside++
	for ; f >= 0; f = c.Schema.Outside(at, f+1) {
		if i := l.findLoss(c.Name, c.Schema, f, l.wrote[[2]int{comp, f}], false); i >= 0 {
			l.List[i].Outside++
		}
	}
}

// Sent checks a value that is about to be sent for numbers outside their range.
func (l *Losses) Sent(name string, s *schema.Schema, at unsafe.Pointer) {
	if l.Facts.OtherBuild {
		return
	}
	f := s.Outside(at, 0)
	if f < 0 {
		return
	}
	*l.outside++
	for ; f >= 0; f = s.Outside(at, f+1) {
		if i := l.findLoss(name, s, f, l.run.Name, false); i >= 0 {
			l.List[i].Outside++
		}
	}
}

// SentBy calls Sent for a value that a function of the game made. The loss is listed under the
// function's name.
func (l *Losses) SentBy(function, name string, s *schema.Schema, at unsafe.Pointer) {
	before := l.run.Name
	l.run.Name = function
	l.Sent(name, s, at)
	l.run.Name = before
}

// CheckDue reports whether a tick checks for changes that rounding undoes.
func (l *Losses) CheckDue(t Tick) bool { return t%lossTicks == 0 }

// Grid checks for changes of a value that rounding undoes. before has the value's words before the
// change. A change counts only if the previous check found it too.
func (l *Losses) Grid(e ecs.Entity, comp int, at unsafe.Pointer, before []int32, past pastWords) {
	s := l.Facts.Components[comp].Schema
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
		if i := l.findLoss(l.Facts.Components[comp].Name, s, f, was.system, true); i >= 0 {
			l.List[i].Swallowed++
		}
	}
}

// Looked ends a check.
func (l *Losses) Looked() {
	l.last, l.seen = l.seen, l.last
	clear(l.seen)
}

// findLoss returns the index of a field in the list, and adds the field if it is new. It logs new
// fields. It logs changes that rounding undoes only in debug builds, since they may be a body at rest.
func (l *Losses) findLoss(name string, s *schema.Schema, field int, system string, swallowed bool) int {
	f := s.Field(field)
	for i := range l.List {
		if x := &l.List[i]; x.Field == f.Name && x.Component == name && x.System == system {
			return i
		}
	}
	if len(l.List) == mostLosses {
		return -1
	}
	if swallowed && !DebugBuild {
		l.List = append(l.List, stats.Loss{Component: name, Field: f.Name})
		return len(l.List) - 1
	}
	line := l.Facts.labelled([]any{"tick", *l.tick, "component", name, "field", f.Name, "min", f.Min, "max", f.Max, "step", f.Sim}, name, f.Name)
	if DebugBuild {
		line = append(line, "system", system)
	}
	what := "a value is outside of its field's range"
	if swallowed {
		what = "a change is less than half a step, and rounding takes it back"
	}
	l.Log.Warn(what, line...)
	l.List = append(l.List, stats.Loss{Component: name, Field: f.Name, System: system})
	return len(l.List) - 1
}

// CountFull counts the sums of a command that lost something, because they exceed their Go type or what
// the next ticks can take.
func (l *Losses) CountFull(name string, s *schema.Schema, fields []int) {
	if len(fields) > 0 {
		*l.outside++
	}
	for _, f := range fields {
		if i := l.findLoss(name, s, f, l.run.Name, false); i >= 0 {
			l.List[i].Outside++
		}
	}
}
