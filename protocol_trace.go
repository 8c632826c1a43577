package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// messageTrace carries traces: what the other end is asked for, and its records. An end that
// does not know it skips it.
const messageTrace netcode.MessageType = 66

// traceLayout makes what both ends know of the records of a trace.
func (p *compiled) traceLayout() *trace.Layout {
	var l trace.Layout
	for _, s := range p.schedule.Systems() {
		if layout.Shared(s) {
			others := s.Once || len(s.OtherReads)+len(s.OtherWrites)+len(s.SingleReads)+len(s.SingleWrites) > 0
			l.Systems = append(l.Systems, trace.System{Name: s.Name, Others: others})
		}
	}
	label := func(name string) func(string) schema.Label {
		return func(field string) schema.Label { return p.labels.Of(name, field) }
	}
	for i := range p.Components {
		c := &p.Components[i]
		t := trace.Component{Name: c.Name, Label: label(c.Name)}
		if c.Predicted && !c.Unknown {
			t.Schema = c.Schema
		}
		l.Components = append(l.Components, t)
	}
	if c := p.Command; c != nil {
		l.Components = append(l.Components, trace.Component{Name: c.Name, Schema: c.Schema, Command: true, Label: label(c.Name)})
	}
	for i := range p.Prefabs {
		l.Prefabs = append(l.Prefabs, p.Prefabs[i].ECS.Name())
	}
	return trace.NewLayout(l)
}

// sharedIndex returns the number of each system among those that both ends run, −1 for the
// others.
func (p *compiled) sharedIndex() (index []int) {
	n := 0
	for _, s := range p.schedule.Systems() {
		if !layout.Shared(s) {
			index = append(index, -1)
			continue
		}
		index = append(index, n)
		n++
	}
	return index
}

// traceSteps follows the systems of a tick for the traces of an end.
type traceSteps struct {
	index []int // index has each system's number among those that both ends run, or −1.
	// due is the number of the system whose result is to be recorded, plus one. 0 means none.
	due  int
	last int // last is the system that ran last. −1 means none yet.
}

func (s *traceSteps) beginTick() { s.due, s.last = 0, -1 }

// before returns the steps that are to be recorded before a system, −1 for none: what the
// system before it did is visible only now.
func (s *traceSteps) before(system int) (after, before int) {
	if after = s.dueStep(); after >= 0 && s.last == system-1 {
		return after, -1 // nothing ran in between
	}
	return after, s.ahead(system)
}

// ahead returns the step before a system, −1 for one that the other end does not run.
func (s *traceSteps) ahead(system int) int {
	if i := s.index[system]; i >= 0 {
		return trace.Before(i)
	}
	return -1
}

// after notes that a system ran.
func (s *traceSteps) after(system int) {
	s.last = system
	if i := s.index[system]; i >= 0 {
		s.due = i + 1
	}
}

// dueStep returns the step that is still to be recorded, −1 for none.
func (s *traceSteps) dueStep() int {
	due := s.due
	s.due = 0
	if due == 0 {
		return -1
	}
	return trace.After(due - 1)
}

// recordEntity records the predicted components of an entity of a trace, and its command.
func (p *compiled) recordEntity(w *ecs.World, r *trace.Recorder, entity int, refs schema.Refs, command bool) {
	e := ecs.Entity(r.Handle(entity))
	for i := range p.Components {
		c := &p.Components[i]
		if !c.Predicted || c.Unknown {
			continue
		}
		at := w.Pointer(e, c.ID)
		if at == nil {
			r.None(entity, i)
			continue
		}
		words := r.Scratch(i)
		c.Schema.Quantise(at, schema.GridSim, refs, words)
		r.Put(entity, i, words)
	}
	if c := p.Command; c != nil && command {
		if at := w.Pointer(e, c.ID); at != nil {
			words := r.Scratch(len(p.Components))
			c.Schema.Quantise(at, schema.GridPublic, refs, words)
			r.Put(entity, len(p.Components), words)
		}
	}
}

// candidates are the entities with the lowest names, of those that a trace may hold.
type candidates struct {
	list [trace.MaxEntities]candidate
	n    int
	more bool
}

type candidate struct {
	e        ecs.Entity
	name     uint32
	prefab   int
	audience schema.Audience
}

// offer takes an entity, if its name is among the lowest.
func (c *candidates) offer(x candidate) {
	at := c.n
	for at > 0 && c.list[at-1].name > x.name {
		at--
	}
	if c.more = c.more || c.n == len(c.list); at == len(c.list) {
		return
	}
	c.n = min(c.n+1, len(c.list))
	copy(c.list[at+1:c.n], c.list[at:])
	c.list[at] = x
}

// addTo adds those to a record that it does not have yet.
func (c *candidates) addTo(r *trace.Recorder) {
	for _, x := range c.list[:c.n] {
		if !r.Named(x.name) {
			r.Add(uint64(x.e), x.name, x.prefab, x.audience)
		}
	}
	if c.more {
		r.More()
	}
}

const traceLapse = 30 * time.Second // after nobody looks

const traceRefresh = 5 * time.Second // between two Asks that are answered

const traceRepeat = 500 * time.Millisecond // … that are not

const traceAskRate, traceAskBurst = 4, 8 // Asks and Stops of a client, a second and at once
