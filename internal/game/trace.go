package game

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// MessageTrace carries traces: the request of one end, and the records of the other. An end that does
// not know it skips it.
const MessageTrace netcode.MessageType = 66

// TraceLayout returns the description of a trace's records that both ends need.
func (p *Facts) TraceLayout() *trace.Layout {
	var l trace.Layout
	for _, s := range p.Scheduled.Systems() {
		if layout.Shared(s) {
			others := s.Once || len(s.OtherReads)+len(s.OtherWrites)+len(s.SingleReads)+len(s.SingleWrites) > 0
			l.Systems = append(l.Systems, trace.System{Name: s.Name, Others: others})
		}
	}
	label := func(name string) func(string) schema.Label {
		return func(field string) schema.Label { return p.Labels.Of(name, field) }
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

// SharedIndex returns, for each system, its number among the systems that both ends run, or −1.
func (p *Facts) SharedIndex() (index []int) {
	n := 0
	for _, s := range p.Scheduled.Systems() {
		if !layout.Shared(s) {
			index = append(index, -1)
			continue
		}
		index = append(index, n)
		n++
	}
	return index
}

// TraceSteps tells the traces of an end which steps of a tick to record.
type TraceSteps struct {
	Index []int // Index has each system's number among those that both ends run, or −1.
	// due is the number of the shared system whose result must be recorded, plus one. 0 means none.
	due  int
	last int // last is the system that ran last. −1 means none yet.
}

// BeginTick forgets the steps of the tick before.
func (s *TraceSteps) BeginTick() { s.due, s.last = 0, -1 }

// Before returns the steps to record before a system runs, −1 for none: after is the step after the
// previous shared system, before the one before this system. A system's result is recorded only when
// the next one begins.
func (s *TraceSteps) Before(system int) (after, before int) {
	if after = s.DueStep(); after >= 0 && s.last == system-1 {
		return after, -1 // nothing ran in between
	}
	return after, s.Ahead(system)
}

// Ahead returns the step before a system, or −1 if the other end does not run it.
func (s *TraceSteps) Ahead(system int) int {
	if i := s.Index[system]; i >= 0 {
		return trace.Before(i)
	}
	return -1
}

// After records that a system ran.
func (s *TraceSteps) After(system int) {
	s.last = system
	if i := s.Index[system]; i >= 0 {
		s.due = i + 1
	}
}

// DueStep returns the step that is still to be recorded, or −1.
func (s *TraceSteps) DueStep() int {
	due := s.due
	s.due = 0
	if due == 0 {
		return -1
	}
	return trace.After(due - 1)
}

// RecordEntity records the predicted components of an entity of a trace, and its command.
func (p *Facts) RecordEntity(w *ecs.World, r *trace.Recorder, entity int, refs schema.Refs, command bool) {
	e := ecs.Entity(r.Handle(entity))
	for i := range p.Components {
		c := &p.Components[i]
		if !c.Predicted || c.Unknown {
			continue
		}
		at := ecs.Engine(w).Pointer(e, c.ID)
		if at == nil {
			r.None(entity, i)
			continue
		}
		words := r.Scratch(i)
		c.Schema.Quantise(at, schema.GridSim, refs, words)
		r.Put(entity, i, words)
	}
	if c := p.Command; c != nil && command {
		if at := ecs.Engine(w).Pointer(e, c.ID); at != nil {
			words := r.Scratch(len(p.Components))
			c.Schema.Quantise(at, schema.GridPublic, refs, words)
			r.Put(entity, len(p.Components), words)
		}
	}
}

// Candidates keeps the entities with the lowest names that a trace may hold.
type Candidates struct {
	list [trace.MaxEntities]Candidate
	n    int
	more bool
}

// Candidate is an entity that a trace may hold.
type Candidate struct {
	Entity   ecs.Entity
	Name     uint32
	Prefab   int
	Audience schema.Audience
}

// Offer adds an entity if its name is among the lowest.
func (c *Candidates) Offer(x Candidate) {
	at := c.n
	for at > 0 && c.list[at-1].Name > x.Name {
		at--
	}
	if c.more = c.more || c.n == len(c.list); at == len(c.list) {
		return
	}
	c.n = min(c.n+1, len(c.list))
	copy(c.list[at+1:c.n], c.list[at:])
	c.list[at] = x
}

// AddTo adds the candidates to a record, except those that it already has.
func (c *Candidates) AddTo(r *trace.Recorder) {
	for _, x := range c.list[:c.n] {
		if !r.Named(x.Name) {
			r.Add(uint64(x.Entity), x.Name, x.Prefab, x.Audience)
		}
	}
	if c.more {
		r.More()
	}
}

// Times of a trace.
const (
	// TraceLapse is how long a trace goes on after the last request for it.
	TraceLapse = 30 * time.Second
	// TraceRefresh is the time between two Asks that are answered.
	TraceRefresh = 5 * time.Second
	// TraceRepeat is the time between two Asks that are not answered.
	TraceRepeat = 500 * time.Millisecond
)

// TraceAskRate is how many Asks and Stops a client may send a second, and TraceAskBurst how many
// at once.
const TraceAskRate, TraceAskBurst = 4, 8
