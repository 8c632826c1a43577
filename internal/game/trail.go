package game

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// MessageTrail carries hashes of a player's predicted state, from a server built with the
// foretick_debug tag. Each tick has one hash before the first shared system, and one after each shared
// system.
const MessageTrail netcode.MessageType = 65

// EntityHash returns a hash of an entity's predicted components, as their owner receives them. It
// leaves out references, which differ between the ends. Hashes of several entities are added up,
// because their order differs too. name is the entity's name on both ends: its wire id, or its origin.
func (p *Facts) EntityHash(w *ecs.World, e ecs.Entity, name uint32, words []int32) uint32 {
	h := (uint64(FNVOffset) ^ uint64(name)) * FNVPrime
	for i := range p.Components {
		c := &p.Components[i]
		if !c.Predicted {
			continue
		}
		at := ecs.Engine(w).Pointer(e, c.ID)
		if at == nil {
			continue
		}
		h = (h ^ uint64(i+1)) * FNVPrime
		words = append(words[:0], make([]int32, c.Schema.Words())...)
		c.Schema.Quantise(at, schema.GridSim, nil, words)
		for _, x := range words {
			h = (h ^ uint64(uint32(x))) * FNVPrime
		}
	}
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

// SystemName returns the name of the server's system in a note.
func (p *Facts) SystemName(index uint32) string {
	if p.OtherBuild {
		return "(of another build)"
	}
	switch i := int(index); {
	case i == p.EditCause():
		return "(an edit of the running server)"
	case i == p.LateCause():
		return "(another player's late input)"
	case i == CauseOutside || i > p.LateCause():
		return "(outside of systems)"
	case i <= len(p.Systems):
		return p.Systems[i-1]
	case i < p.HiddenCause():
		return p.Requests[i-p.RequestCause(0)].Cause
	}
	return "(hidden from its own player)"
}

// RequestCause returns the cause of changes made by a request's handler.
func (p *Facts) RequestCause(kind int) int { return len(p.Systems) + 1 + kind }

// HiddenCause returns the cause for an entity that was hidden from its own player.
func (p *Facts) HiddenCause() int { return p.RequestCause(len(p.Requests)) }

// EditCause returns the cause of edits of the running server.
func (p *Facts) EditCause() int { return p.HiddenCause() + 1 }

// LateCause returns the cause of ticks that ran again because of another player's late command.
func (p *Facts) LateCause() int { return p.EditCause() + 1 }

// CauseOutside is the cause of changes outside any system: a join, a leave, the program around the
// server.
const CauseOutside = 0

// MessageReport carries reports of corrections: the server's request and the client's reports. A client
// that does not know it skips it.
const MessageReport netcode.MessageType = 67

const ReportRate, ReportBurst = 10, 8 // how many a client may send, a second and at once; further ones wait

// CautionText is the log message of a debug build for a likely mistake of the game. The key "caution"
// names the mistake.
const CautionText = "foretick_debug: the game can hardly be meant so"

// Numbers of the hash FNV-1a, with 64 bits.
const (
	FNVOffset = 14695981039346656037
	FNVPrime  = 1099511628211
)
