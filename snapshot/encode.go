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

// isUsual tells whether a viewer that looks for its newest value at or before the
// usual tick finds the acked one.
func (s *Sender) isUsual(g *shown) bool {
	if s.usual[0] == 0 {
		return false
	}
	t := s.src.tick - s.usual[0]
	return g.acked == t || (after(t, g.acked) && (g.last == g.acked || after(g.since, t)))
}

// history finds the two older usual baselines of a record, or returns false.
func (s *Sender) history(g *shown, e *entity, base int, b *baselines, a audience) bool {
	d := s.usual
	if d[2] == 0 || s.src.tick-g.acked != d[0] || d[0]+d[1]+d[2] >= uint32(min(s.cfg.Window, 64)) {
		return false
	}
	if g.older>>d[1]&1 == 0 || g.older>>(d[1]+d[2])&1 == 0 {
		return false
	}
	reg := s.src.reg
	mask := reg.visibleMask(e.vers[base].mask, a)
	for i, back := range [2]uint32{d[1], d[1] + d[2]} {
		v := e.find(g.acked - back)
		if v < 0 || reg.visibleMask(e.vers[v].mask, a) != mask || s.audience(e.vers[v].owner) != a {
			return false
		}
		b.words[i+1] = e.lane(v, a)
	}
	b.n, b.d1, b.d2, b.d3 = 3, int64(d[0]), int64(d[0]+d[1]), int64(d[0]+d[1]+d[2])
	return true
}

// encode writes a candidate's record to the scratch flags and bits.
func (s *Sender) encode(c *candidate) {
	g := &s.shown[c.wire]
	e := s.src.slots[g.slot]
	w := &s.code
	c.pos, c.sym = w.w.Len(), len(w.f.syms)
	w.f.cost = 0
	a := s.audience(e.vers[e.head].owner)
	base := s.baseline(g, e)
	w.flag(ctxFull, base < 0)
	if base < 0 {
		s.encodeFull(g, e, a)
	} else {
		s.encodeDelta(g, e, a, base)
	}
	c.n, c.m = w.w.Len()-c.pos, len(w.f.syms)-c.sym
	c.size = c.n + int(w.f.cost+255)/256
}

// encodeFull writes a record against the defaults of the kind.
func (s *Sender) encodeFull(g *shown, e *entity, a audience) {
	reg, v, c := s.src.reg, &e.vers[e.head], &s.code
	k := &reg.kinds[e.kind]
	c.w.Write(uint64(e.kind), bits.Len(uint(len(reg.kinds)-1)))
	c.flag(ctxMine, a == audienceOwner)
	if a == audiencePublic {
		c.flag(ctxOwned, v.owner != 0)
	}
	if v.owner != 0 {
		c.w.Write(uint64(v.owner), 16)
	}
	c.w.Golomb(s.src.tick - g.born)
	mask := reg.visibleMask(v.mask, a)
	r := recordWriter{coder: c, reg: reg, g: g, a: a, baseMask: reg.visibleMask(k.mask, a)}
	r.base.words[0] = k.words[a]
	s.encodeMask(mask, r.baseMask)
	r.body(mask, e.lane(e.head, a))
}

// encodeDelta writes a record against versions that the viewer holds.
func (s *Sender) encodeDelta(g *shown, e *entity, a audience, base int) {
	reg, v, b, c := s.src.reg, &e.vers[e.head], &e.vers[base], &s.code
	usual := s.isUsual(g)
	c.flag(ctxUsual, usual)
	if !usual {
		c.w.Golomb(s.src.tick - g.acked - 1)
	}
	r := recordWriter{coder: c, reg: reg, g: g, a: a, baseMask: reg.visibleMask(b.mask, a)}
	r.base.n, r.base.words[0] = 1, e.lane(base, a)
	if usual && s.usual[2] != 0 {
		c.flag(ctxHistory, s.history(g, e, base, &r.base, a))
	}
	mask := reg.visibleMask(v.mask, a)
	s.encodeMask(mask, r.baseMask)
	r.body(mask, e.lane(e.head, a))
}

func (s *Sender) encodeMask(mask, usual uint64) {
	s.code.flag(ctxMask, mask != usual)
	if mask != usual {
		s.code.w.Write(mask, len(s.src.reg.comps))
	}
}

// recordWriter writes the components of one record.
type recordWriter struct {
	*coder
	reg      *Registry
	g        *shown
	a        audience
	baseMask uint64
	base     baselines
	ref      int
}

func (r *recordWriter) body(mask uint64, words []int32) {
	off := 0
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := r.reg.comps[i]
		if len(c.codes[r.a]) > 0 {
			b := r.reg.baseOf(&r.base, r.baseMask, i, r.a)
			r.component(c, &b, words[off:off+c.words])
		}
		off += c.words
	}
}

// baseOf narrows baselines to a component; one that they lack starts from zero.
func (r *Registry) baseOf(b *baselines, mask uint64, comp int, a audience) baselines {
	c := r.comps[comp]
	if mask>>comp&1 == 0 {
		return baselines{words: [3][]int32{c.zero[a]}}
	}
	return b.at(r.wordsOf(mask&(1<<comp-1)), c.words)
}

// component writes a flag, and if it is set each word's difference.
func (r *recordWriter) component(c *Schema, b *baselines, words []int32) {
	refs, changed := r.ref, false
	for i := range c.codes[r.a] {
		k := &c.codes[r.a][i]
		if k.kind == wordRef {
			changed = changed || !r.sameRef(refs, b.n > 0)
			refs++
		} else if words[k.word] != b.words[0][k.word] {
			changed = true
		}
	}
	r.flag(b.componentContext(c.codes[r.a]), changed)
	if !changed {
		r.ref = refs
		return
	}
	past := noneBefore
	for i := range c.codes[r.a] {
		k := &c.codes[r.a][i]
		if k.kind == wordRef {
			same := r.sameRef(r.ref, b.n > 0)
			r.flag(ctxRef, !same)
			if !same {
				r.w.Write(uint64(r.g.refs.list[r.ref].value), 16)
			}
			r.ref++
			continue
		}
		g := k.predict(b)
		d := k.residual(g.value, words[k.word])
		r.value(&g, past, d)
		past = past.then(d)
	}
}

// sameRef tells whether the viewer's baseline holds what a reference means now.
func (r *recordWriter) sameRef(i int, held bool) bool {
	n := &r.g.refs.list[i]
	if held {
		return !after(n.since, r.g.acked)
	}
	return n.value == 0
}
