package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// hasher folds words into 64 bits; the order counts.
type hasher uint64

func (h *hasher) mix(v uint64) {
	x := uint64(*h) ^ v
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	*h = hasher(hi ^ lo + bits.RotateLeft64(uint64(*h), 23))
}

// addEntity adds one entity's value, as its viewer may know it, and returns the number of
// fields. ref gives the i-th reference's wire id; it is nil if the words hold wire ids.
func (h *hasher) addEntity(reg *quantise.Registry, wire schema.WireID, prefab int, owner uint16, jumps uint16, mask quantise.Mask, words []int32, a quantise.Audience, refs []refNote) int {
	h.mix(uint64(wire) | uint64(prefab)<<16 | uint64(owner)<<32 | uint64(jumps)<<48)
	h.mix(uint64(a))
	visible := reg.VisibleMask(mask, a)
	h.mix(visible.Part(0))
	for k := 1; k < visible.Parts(); k++ {
		h.mix(visible.Part(k))
	}
	fields, ref, off := 0, 0, 0
	for n := mask.Next(0); n >= 0; n = mask.Next(n + 1) {
		c := reg.Comps[n]
		if !visible.Has(n) {
			off += c.Words
			continue
		}
		for _, k := range c.Coding(a).Codes {
			w := words[off+k.Word]
			if k.Kind == coder.Ref && refs != nil {
				w = int32(refs[ref].value)
				ref++
			}
			h.mix(uint64(uint32(w)))
		}
		for i := range c.Leaves {
			if c.Leaves[i].SeenBy(a) {
				fields++
			}
		}
		off += c.Words
	}
	return fields
}

// Hash returns a 64-bit hash of all ghosts in tick t, in the order of wire ids, and the
// number of fields in it. It equals [Sender.Hash] after the Append of t. The number is
// 0 if the snapshot of t was not received or not complete.
func (r *Receiver) Hash(t schema.Tick) (hash uint64, fields int) {
	if _, all, _ := r.Complete(t); !all {
		return 0, 0
	}
	var h hasher
	for _, g := range r.ghosts {
		if s, ok := g.At(t); ok {
			fields += h.addEntity(r.reg, g.Wire, g.Prefab, s.Owner, s.Jumps, s.Mask, s.Words, quantise.Audience(s.Audience), nil)
		}
	}
	return uint64(h), fields
}

// Hash returns a 64-bit hash of all entities shown to the viewer, as of the last
// Append, and the number of fields in it. It covers only fields that the viewer may
// know. It equals [Receiver.Hash] of that tick if nothing was postponed. Call it before
// the next Begin.
func (s *Sender) Hash() (hash uint64, fields int) {
	var h hasher
	for w := 1; w < len(s.shown); w++ {
		g := &s.shown[w]
		if !s.live.has(schema.WireID(w)) || !s.told.has(schema.WireID(w)) {
			continue
		}
		e := s.src.slots[s.slots[w]]
		v := &e.vers[e.head]
		a := s.auds[w]
		var refs []refNote
		if g.refs != nil {
			refs = g.refs.list
		}
		fields += h.addEntity(s.src.reg, schema.WireID(w), e.prefab, v.owner, v.jumps-g.jumps, e.mask(e.head), e.lane(e.head, a), a, refs)
	}
	return uint64(h), fields
}
