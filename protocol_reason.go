package foretick

import (
	"github.com/foretick/foretick/ecs"
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

func (p *compiled) requestCause(kind int) int { return len(p.Systems) + 1 + kind }

func (p *compiled) hiddenCause() int { return p.requestCause(len(p.Requests)) }

func (p *compiled) editCause() int { return p.hiddenCause() + 1 }

// lateCause is for ticks that ran again because of another player's late command.
func (p *compiled) lateCause() int { return p.editCause() + 1 }

// causeOutside is the index for changes outside of any system: a join, a leave, the
// program around the server.
const causeOutside = 0

// messageReport carries corrections: the server's question, and the client's reports. A client
// that does not know it skips it.
const messageReport netcode.MessageType = 67

const reportRate, reportBurst = 10, 8 // of a client, a second and at once; further ones wait

// cautionText is the message with which a debug build logs a likely mistake of the game.
// The key "caution" says which.
const cautionText = "foretick_debug: the game can hardly be meant so"

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)
