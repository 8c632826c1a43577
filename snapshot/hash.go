package snapshot

import "math/bits"

// hasher folds words into 64 bits; the order counts.
type hasher uint64

func (h *hasher) add(v uint64) {
	x := uint64(*h) ^ v
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	*h = hasher(hi ^ lo + bits.RotateLeft64(uint64(*h), 23))
}

// entity folds one entity's value, as its viewer may know it, and returns how many
// fields that was. ref gives the i-th reference's wire id, or is nil when the words
// hold wire ids.
func (h *hasher) entity(reg *Registry, wire WireID, prefab int, owner uint16, jumps uint16, mask uint64, words []int32, a audience, refs []refNote) int {
	h.add(uint64(wire) | uint64(prefab)<<16 | uint64(owner)<<32 | uint64(jumps)<<48)
	h.add(uint64(a))
	visible := reg.visibleMask(mask, a)
	h.add(visible)
	fields, ref, off := 0, 0, 0
	for m := mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros64(m)
		c := reg.comps[n]
		if visible>>n&1 == 0 {
			off += c.words
			continue
		}
		for _, k := range c.coding(a).codes {
			w := words[off+k.word]
			if k.kind == wordRef && refs != nil {
				w = int32(refs[ref].value)
				ref++
			}
			h.add(uint64(uint32(w)))
		}
		for i := range c.leaves {
			if c.leaves[i].seenBy(a) {
				fields++
			}
		}
		off += c.words
	}
	return fields
}

// Hash folds the state of all ghosts in tick t, by wire id, into 64 bits: it equals
// [Sender.Hash] after the Append of t. It also returns over how many fields; 0 if
// the snapshot of t was not received or not complete.
func (r *Receiver) Hash(t Tick) (hash uint64, fields int) {
	if _, all, _ := r.Complete(t); !all {
		return 0, 0
	}
	var h hasher
	for _, g := range r.ghosts {
		if s, ok := g.At(t); ok {
			fields += h.entity(r.reg, g.Wire, g.Prefab, s.Owner, s.Jumps, s.Mask, s.Words, s.Audience, nil)
		}
	}
	return uint64(h), fields
}

// Hash folds what the viewer may know of all entities shown to it, as of the last
// Append, into 64 bits: it equals [Receiver.Hash] of that tick, if nothing was
// postponed. It also returns over how many fields. Call it before the next Begin.
func (s *Sender) Hash() (hash uint64, fields int) {
	var h hasher
	for w := 1; w < len(s.shown); w++ {
		g := &s.shown[w]
		if !s.live.has(WireID(w)) || !s.told.has(WireID(w)) {
			continue
		}
		e := s.src.slots[s.slots[w]]
		v := &e.vers[e.head]
		a := s.auds[w]
		var refs []refNote
		if g.refs != nil {
			refs = g.refs.list
		}
		fields += h.entity(s.src.reg, WireID(w), e.prefab, v.owner, v.jumps-g.jumps, v.mask, e.lane(e.head, a), a, refs)
	}
	return uint64(h), fields
}
