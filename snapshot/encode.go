package snapshot

import "math/bits"

// baseline finds the version that a record may be a difference from, or −1: one
// that the viewer holds, of the same audience and owner.
func (s *Sender) baseline(g *shown, e *entity) int {
	if !g.acks {
		return -1
	}
	t := s.src.tick
	if t-g.acked > maxBack || (g.last != g.acked && t-g.since >= uint32(s.cfg.Window)) {
		return -1
	}
	i := e.find(g.acked)
	if i < 0 || e.vers[i].owner != e.vers[e.head].owner {
		return -1
	}
	return i
}

// encode writes a candidate's record to the scratch bits.
func (s *Sender) encode(c *candidate) {
	g := &s.shown[c.wire]
	e := s.src.slots[g.slot]
	w := &s.scratch
	c.pos, c.encoded = w.Len(), true
	v := &e.vers[e.head]
	a := s.audience(v.owner)
	base := s.baseline(g, e)
	w.Bool(base < 0)
	if base < 0 {
		s.encodeFull(w, g, e, a)
	} else {
		s.encodeDelta(w, g, e, a, base)
	}
	c.n = w.Len() - c.pos
}

// encodeFull writes a record against the defaults of the kind.
func (s *Sender) encodeFull(w *BitWriter, g *shown, e *entity, a audience) {
	reg, v := s.src.reg, &e.vers[e.head]
	k := &reg.kinds[e.kind]
	w.Write(uint64(e.kind), bits.Len(uint(len(reg.kinds)-1)))
	w.Bool(a == audienceOwner)
	if a == audiencePublic {
		w.Bool(v.owner != 0)
	}
	if v.owner != 0 {
		w.Write(uint64(v.owner), 16)
	}
	w.Golomb(min(s.src.tick-g.born, maxBack))
	mask := reg.visibleMask(v.mask, a)
	s.encodeMask(w, mask, reg.visibleMask(k.mask, a))
	r := recordWriter{w: w, s: s, g: g, a: a, baseMask: k.mask, base: k.words[a]}
	r.body(v.mask, e.lane(e.head, a))
}

// encodeDelta writes a record against a version that the viewer holds.
func (s *Sender) encodeDelta(w *BitWriter, g *shown, e *entity, a audience, base int) {
	reg, v, b := s.src.reg, &e.vers[e.head], &e.vers[base]
	d := s.src.tick - g.acked
	w.Bool(d == s.usual())
	if d != s.usual() {
		w.Golomb(d - 1)
	}
	s.encodeMask(w, reg.visibleMask(v.mask, a), reg.visibleMask(b.mask, a))
	r := recordWriter{w: w, s: s, g: g, a: a, acked: true, baseMask: b.mask, base: e.lane(base, a)}
	r.body(v.mask, e.lane(e.head, a))
}

func (s *Sender) encodeMask(w *BitWriter, mask, usual uint64) {
	w.Bool(mask != usual)
	if mask != usual {
		w.Write(mask, len(s.src.reg.comps))
	}
}

// recordWriter writes the components of one record.
type recordWriter struct {
	w        *BitWriter
	s        *Sender
	g        *shown
	a        audience
	acked    bool // base is a version the viewer holds, not a kind's defaults
	baseMask uint64
	base     []int32
	ref      int
}

func (r *recordWriter) body(mask uint64, words []int32) {
	reg := r.s.src.reg
	off := 0
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := reg.comps[i]
		base, held := reg.component(r.baseMask, r.base, i), r.acked
		if base == nil {
			base, held = c.zero[r.a], false
		}
		if len(c.codes[r.a]) > 0 {
			r.component(c, base, words[off:off+c.words], held)
		}
		off += c.words
	}
}

// component writes a flag, and if it is set one for each word with its difference.
func (r *recordWriter) component(c *Schema, base, words []int32, held bool) {
	refs := r.ref
	changed := false
	for i := range c.codes[r.a] {
		k := &c.codes[r.a][i]
		if k.kind == wordRef {
			changed = changed || !r.sameRef(refs, held)
			refs++
		} else if words[k.word] != base[k.word] {
			changed = true
		}
	}
	r.w.Bool(changed)
	if !changed {
		r.ref = refs
		return
	}
	for i := range c.codes[r.a] {
		k := &c.codes[r.a][i]
		if k.kind == wordRef {
			same := r.sameRef(r.ref, held)
			r.w.Bool(!same)
			if !same {
				r.w.Write(uint64(r.g.refs[r.ref].value), 16)
			}
			r.ref++
			continue
		}
		d := k.residual(base[k.word], words[k.word])
		r.w.Bool(d != 0)
		if d != 0 {
			k.write(r.w, d)
		}
	}
}

// sameRef tells whether the viewer's baseline holds what a reference means now.
func (r *recordWriter) sameRef(i int, held bool) bool {
	n := &r.g.refs[i]
	if held {
		return !after(n.since, r.g.acked)
	}
	return n.value == 0
}
