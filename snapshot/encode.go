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
	t, ok := g.holds(s.src.tick - s.usual[0])
	return ok && t == g.acked
}

// history finds the two older usual baselines of a record, or returns false.
func (s *Sender) history(g *shown, e *entity, base int, r *recordWriter, a audience) bool {
	if s.usual[2] == 0 {
		return false
	}
	reg := s.src.reg
	mask := reg.visibleMask(e.vers[base].mask, a)
	t, last := s.src.tick-s.usual[0], base
	for i := 1; i < 3; i++ {
		t -= s.usual[i]
		at, ok := g.holds(t)
		if !ok {
			return false
		}
		v := last
		if after(e.vers[v].tick, at) {
			v = e.find(at)
		}
		if v < 0 || (v != last && (s.audience(e.vers[v].owner) != a || reg.visibleMask(e.vers[v].mask, a) != mask)) {
			return false
		}
		r.base.words[i], r.vers[i] = e.lane(v, a), e.vers[v].tick
		last = v
	}
	r.base.n = 3
	return true
}

// encode writes a candidate's record to the scratch flags and bits.
func (s *Sender) encode(c *candidate) {
	g := &s.shown[c.wire]
	e := s.src.slots[g.slot]
	w := &s.code
	c.pos, c.sym = w.w.Len(), len(w.f.syms)
	w.f.cost, c.encoded = 0, true
	a := s.audience(e.vers[e.head].owner)
	if base := s.baseline(g, e); base < 0 {
		w.flag(ctxPlain, false)
		w.flag(ctxFull, true)
		s.encodeFull(g, e, a)
	} else {
		s.encodeDelta(c, g, e, a, base)
		if c.kept {
			return
		}
	}
	c.n, c.m = w.w.Len()-c.pos, len(w.f.syms)-c.sym
	c.size = c.n + int(w.f.cost+c.gate+255)/256
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
func (s *Sender) encodeDelta(x *candidate, g *shown, e *entity, a audience, base int) {
	reg, v, b, c := s.src.reg, &e.vers[e.head], &e.vers[base], &s.code
	r := recordWriter{coder: c, reg: reg, g: g, a: a, baseMask: reg.visibleMask(b.mask, a)}
	r.base.n, r.base.words[0] = 1, e.lane(base, a)
	mask := reg.visibleMask(v.mask, a)
	r.vers[0] = b.tick
	usual := s.isUsual(g)
	history := usual && s.history(g, e, base, &r, a)
	plain := history && mask == r.baseMask
	if plain && s.cfg.Cache != nil && !s.src.hot[g.slot].refs && s.cfg.Statistics == nil {
		s.encodeKept(x, g, &r, mask, e)
		return
	}
	c.flag(ctxPlain, plain)
	if !plain {
		c.flag(ctxFull, false)
		c.flag(ctxUsual, usual)
		if !usual {
			c.w.Golomb(s.src.tick - g.acked - 1)
		} else if s.usual[2] != 0 {
			c.flag(ctxHistory, history)
		}
		s.encodeMask(mask, r.baseMask)
	}
	r.body(mask, e.lane(e.head, a))
}

// encodeKept takes a plain record from the cache, or makes it for others too.
func (s *Sender) encodeKept(x *candidate, g *shown, r *recordWriter, mask uint64, e *entity) {
	k, c := s.cfg.Cache, &s.code
	key := keyOf(s.usual, r.a, r.vers)
	i := k.find(g.slot, &key)
	if i < 0 {
		c.flag(ctxPlain, true)
		r.body(mask, e.lane(e.head, r.a))
		k.add(g.slot, &key, c.f.syms[x.sym:], &c.w, x.pos, c.w.Len()-x.pos, c.f.cost)
		return
	}
	f := &k.entries[i]
	x.kept, x.sym, x.m, x.pos, x.n = true, int(f.sym), int(f.m), int(f.pos), int(f.n)
	x.size = x.n + int(f.cost+x.gate+255)/256
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
	vers     [3]Tick // of the baselines
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

// component writes a flag, and if it is set what became of its units.
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
	past := unsurprised
	for i := range c.units[r.a] {
		u := &c.units[r.a][i]
		codes := c.codes[r.a][u.from : u.from+u.n]
		switch u.sort {
		case sortScalar:
			past = r.scalar(&codes[0], b, words, past)
		case sortVector:
			past = r.vector(codes, b, words, past)
		case sortRotation:
			past = r.rotation(codes, b, words, past)
		default:
			same := r.sameRef(r.ref, b.n > 0)
			r.flag(ctxRef, !same)
			if !same {
				r.w.Write(uint64(r.g.refs.list[r.ref].value), 16)
			}
			r.ref++
		}
	}
}

// scalar writes a word that stands alone.
func (c *coder) scalar(k *wordCode, b *baselines, words []int32, past surprise) surprise {
	v := words[k.word]
	if k.bit() {
		c.flag(ctxZero+k.bitContext(b, past), v == b.words[0][k.word])
		return past
	}
	g := k.predict(b, c.scale)
	if c.stat != nil {
		c.stat.moved(sortScalar, &g, k, b, c.scale, v)
	}
	d := k.residual(g.value, v)
	c.value(valueContext(sortScalar, g.row, past), g.back, d)
	return past.then(g.class, d)
}

// unitContext is the context of the flag that a vector or rotation changed.
func unitContext(sort int, codes []wordCode, b *baselines, past surprise) int {
	state, before := 0, 0
	if b.n == 3 {
		state = 3
		if equalWords(codes, b.words[0], b.words[1]) {
			state = 1
		} else if equalWords(codes, b.words[1], b.words[2]) {
			state = 2
		}
	}
	if past > -8 {
		before = 2
	} else if past != unsurprised {
		before = 1
	}
	return ctxUnit + (sort-sortVector)*12 + state*3 + before
}

// vector writes whether a vector changed, and its words.
func (c *coder) vector(codes []wordCode, b *baselines, words []int32, past surprise) surprise {
	changed := !equalWords(codes, words, b.words[0])
	c.flag(unitContext(sortVector, codes, b, past), changed)
	if !changed {
		return past.then(0, 0)
	}
	var gs [maxVector]guess
	predictVector(codes, b, c.scale, gs[:])
	for i := range codes {
		k, g := &codes[i], &gs[i]
		if c.stat != nil {
			c.stat.moved(sortVector, g, k, b, c.scale, words[k.word])
		}
		d := k.residual(g.value, words[k.word])
		c.value(valueContext(sortVector, g.row, past), g.back, d)
		past = past.then(g.class, d)
	}
	return past
}

// rotation writes whether a rotation changed, how unexpected its greatest component
// is, and the others.
func (c *coder) rotation(codes []wordCode, b *baselines, words []int32, past surprise) surprise {
	changed := !equalWords(codes, words, b.words[0])
	c.flag(unitContext(sortRotation, codes, b, past), changed)
	if !changed {
		return past.then(0, 0)
	}
	r := predictRotation(codes[0].word, codes[1].size, b, c.scale)
	if c.stat != nil {
		c.stat.turned(&r, codes, b, c.scale, words)
	}
	top := int(words[codes[0].word])
	rank := 0
	for int(r.order[rank]) != top {
		rank++
	}
	c.flag(ctxRank+r.margin*rankClasses+r.column, rank > 0)
	if rank > 0 {
		c.flag(ctxRanks+r.margin, rank > 1)
		if rank > 1 {
			c.flag(ctxRanks+12+r.margin, rank > 2)
		}
	}
	at := 0
	for i := 1; i < quatWords; i++ {
		if at == top {
			at++
		}
		k := &codes[i]
		g := r.guess(at, top, k)
		d := k.residual(g.value, words[k.word])
		c.value(valueContext(sortRotation, g.row, past), g.back, d)
		past = past.then(g.class, d)
		at++
	}
	return past
}

// sameRef tells whether the viewer's baseline holds what a reference means now.
func (r *recordWriter) sameRef(i int, held bool) bool {
	n := &r.g.refs.list[i]
	if held {
		return !after(n.since, r.g.acked)
	}
	return n.value == 0
}
