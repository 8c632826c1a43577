package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

func (c timeline) explainField(comp *component, f int, ours, theirs []int32) {
	field := comp.schema.Fields()[f]
	c.wrong.Field = field.Name
	c.wrong.Predicted, c.wrong.Actual = fieldValue(field, ours), fieldValue(field, theirs)
}

// explain finds the cause: the first that applies since the last agreement.
func (c timeline) explain() {
	w := &c.wrong
	within := func(age uint32) (Tick, bool) {
		if age == 0 || c.noteTick != w.Tick {
			return 0, false
		}
		t := w.Tick - (age - 1)
		return t, int32(t-c.good) > 0
	}
	if t, ok := within(c.note.substituted); ok {
		w.Cause, w.CauseTick = prediction.Input, t
		return
	}
	if t, ok := within(c.note.effect); ok {
		w.Cause, w.CauseTick, w.System = prediction.ServerEffect, t, c.p.systemName(c.note.system)
		return
	}
	w.Cause = prediction.Code
	if len(c.others) > 0 {
		w.Cause = prediction.Untracked
	}
}

// systemName names the server's system of a note.
func (p *Protocol) systemName(index uint32) string {
	systems := p.schedule.Systems()
	if index == effectOutside || int(index) > len(systems) {
		return "(outside of systems)"
	}
	return systems[index-1].Name
}

// checkUntracked looks at what shared systems may have read and the prediction
// does not cover: if the client's value differed at t, that is the cause.
func (c timeline) checkUntracked(t Tick) {
	if c.wrong.Component == "" || c.wrong.Cause != prediction.Code || c.wrong.Tick != t {
		return
	}
	for _, g := range c.ours {
		s, ok := g.At(t)
		if !ok || g.Data == 0 {
			continue
		}
		for _, i := range c.p.readUnpredicted {
			at := c.world.Pointer(ecs.Entity(g.Data), c.p.components[i].id)
			theirs := s.Component(i)
			if at == nil || theirs == nil {
				continue
			}
			schema := c.p.components[i].schema
			ours := c.zeroes(schema.Words())
			schema.Quantise(at, snapshot.GridPublic, clientRefs{c.Client}, ours)
			if schema.FirstDifference(ours, theirs) >= 0 {
				c.wrong.Cause = prediction.Untracked
				return
			}
		}
	}
}
