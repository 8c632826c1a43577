package snapshot

import "math/bits"

// FieldHash is the hash of one field of an entity as a viewer may know it; of what is
// no field, Component is "".
type FieldHash struct {
	Component, Field string
	Hash             uint64
}

// entityHashes appends what two ends compare of an entity.
func (r *Registry) entityHashes(dst []FieldHash, prefab int, owner, jumps uint16, mask uint64, words []int32, a audience, refs []refNote) []FieldHash {
	visible := r.visibleMask(mask, a)
	for _, x := range []struct {
		name string
		v    uint64
	}{{"prefab", uint64(prefab)}, {"owner", uint64(owner)}, {"audience", uint64(a)}, {"teleports", uint64(jumps)}, {"components", visible}} {
		dst = append(dst, FieldHash{Field: x.name, Hash: x.v})
	}
	ref, off := 0, 0
	for m := mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros64(m)
		c := r.comps[n]
		for i := range c.leaves {
			l := &c.leaves[i]
			if visible>>n&1 == 0 || !l.seenBy(a) {
				continue
			}
			var h hasher
			for k := l.word; k < l.word+l.words(); k++ {
				w := words[off+k]
				if l.op == opRef && refs != nil {
					w = int32(refs[ref].value)
					ref++
				}
				h.add(uint64(uint32(w)))
			}
			dst = append(dst, FieldHash{c.name, c.nameOf(i).name, uint64(h)})
		}
		off += c.words
	}
	return dst
}

// HashFields appends to dst a hash of each field of an entity as the viewer may know
// it, as of the last Append, which equals [Ghost.HashFields] of that tick unless the
// entity was postponed. It also returns the entity's wire id, 0 if it is not shown.
// It is for finding faults: it costs as much as it tells. Call it before the next
// Begin.
func (s *Sender) HashFields(id NetID, dst []FieldHash) (WireID, []FieldHash) {
	e := s.src.lookup(id)
	if e == nil || int(e.slot) >= len(s.bySlot) || s.bySlot[e.slot].id != id || s.bySlot[e.slot].wire == 0 {
		return 0, dst
	}
	w := s.bySlot[e.slot].wire
	g, v, a := &s.shown[w], &e.vers[e.head], s.auds[w]
	var refs []refNote
	if g.refs != nil {
		refs = g.refs.list
	}
	return w, s.src.reg.entityHashes(dst, e.prefab, v.owner, v.jumps-g.jumps, v.mask, e.lane(e.head, a), a, refs)
}

// HashFields appends to dst a hash of each field in tick t; false where [Ghost.At]
// is.
func (g *Ghost) HashFields(t Tick, dst []FieldHash) ([]FieldHash, bool) {
	s, ok := g.At(t)
	if !ok {
		return dst, false
	}
	return g.r.reg.entityHashes(dst, g.Prefab, s.Owner, s.Jumps, s.Mask, s.Words, s.Audience, nil), true
}

// FirstDifferent names the first field in which two lists of hashes of one entity
// differ; false if they do not.
func FirstDifferent(a, b []FieldHash) (component, field string, differ bool) {
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return a[i].Component, a[i].Field, true
		}
	}
	if len(b) > len(a) {
		return b[len(a)].Component, b[len(a)].Field, true
	}
	return "", "", false
}
