package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// messageTrail carries hashes of a player's predicted state, from a server built with the
// foretick_debug tag. There is one before the first shared system of a tick, and one after
// each.
const messageTrail netcode.MessageType = 65

// entityHash returns the digest of an entity's predicted components, in the form that their
// owner receives. It leaves references out, since they differ between the ends. The digests
// of several entities are added up, since their order differs too. name is the entity's
// name on both ends: its wire id, or its origin.
func (p *compiled) entityHash(w *ecs.World, e ecs.Entity, name uint32, words []int32) uint32 {
	h := (uint64(fnvOffset) ^ uint64(name)) * fnvPrime
	for i := range p.Components {
		c := &p.Components[i]
		if !c.Predicted {
			continue
		}
		at := w.Pointer(e, c.ID)
		if at == nil {
			continue
		}
		h = (h ^ uint64(i+1)) * fnvPrime
		words = append(words[:0], make([]int32, c.Schema.Words())...)
		c.Schema.Quantise(at, schema.GridSim, nil, words)
		for _, x := range words {
			h = (h ^ uint64(uint32(x))) * fnvPrime
		}
	}
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

// systemName returns the name of the server's system in a note.
func (p *compiled) systemName(index uint32) string {
	if p.OtherBuild {
		return "(of another build)"
	}
	switch i := int(index); {
	case i == p.editCause():
		return "(an edit of the running server)"
	case i == p.lateCause():
		return "(another player's late input)"
	case i == causeOutside || i > p.lateCause():
		return "(outside of systems)"
	case i <= len(p.Systems):
		return p.Systems[i-1]
	case i < p.hiddenCause():
		return p.Requests[i-p.requestCause(0)].Cause
	}
	return "(hidden from its own player)"
}

// componentName returns the name of a replicated component, "" for itself.
func (p *compiled) componentName(i int) string {
	if i < 0 || i >= len(p.Components) {
		return ""
	}
	return p.Components[i].Name
}

// sharedSystem returns the name of the i-th system that both ends run.
func (p *compiled) sharedSystem(i int) string {
	for _, s := range p.schedule.Systems() {
		if layout.Shared(s) {
			if i == 0 {
				return s.Name
			}
			i--
		}
	}
	return ""
}

// ownEvents renumbers a note's events from another build's numbers to this build's.
func (p *compiled) ownEvents(n *reason.Note) {
	if !p.OtherBuild {
		return
	}
	own := n.Raised[:0]
	for _, e := range n.Raised {
		if int(e.Event) < len(p.EventsOf) && p.EventsOf[e.Event] >= 0 {
			own = append(own, reason.Raised{Age: e.Age, Event: uint32(p.EventsOf[e.Event])})
		}
	}
	n.Raised = own
}

func (p *compiled) requestCause(kind int) int { return len(p.Systems) + 1 + kind }

func (p *compiled) hiddenCause() int { return p.requestCause(len(p.Requests)) }

func (p *compiled) editCause() int { return p.hiddenCause() + 1 }

// lateCause is for ticks that ran again because of another player's late command.
func (p *compiled) lateCause() int { return p.editCause() + 1 }

// causeOutside is the index for changes outside of any system: a join, a leave, the
// program around the server.
const causeOutside = 0
