package snapshot

import (
	"math/bits"
	"slices"
)

// baseline finds the version that a record may be a difference from, or −1: one
// that the viewer holds, of the same audience and owner; and its record's tick.
func (s *Sender) baseline(w WireID, e *entity) (int, Tick) {
	if !s.held.has(w) {
		return -1, 0
	}
	t, acked := s.src.tick, s.trail.acked(w)
	if acked == 0 || t-acked > maxBack || (s.trail.last(w) != acked && t-s.trail.since(w) >= uint32(s.cfg.Window)) {
		return -1, 0
	}
	if after(s.from[w], acked) {
		return -1, 0
	}
	i := s.src.held(e, acked, s.auds[w])
	if i < 0 || e.vers[i].owner != e.vers[e.head].owner {
		return -1, 0
	}
	return i, acked
}

// isUsual tells whether a viewer that looks for its newest value at or before the
// usual tick finds the acked one.
func (s *Sender) isUsual(w WireID, acked Tick) bool {
	if s.usual[0] == 0 {
		return false
	}
	t, ok := s.trail.holds(w, s.ages[0])
	return ok && t == acked
}

// history finds the two older usual baselines of a record, or returns false.
func (s *Sender) history(w WireID, e *entity, base int, r *recordWriter, a audience) bool {
	if s.usual[2] == 0 {
		return false
	}
	reg := s.src.reg
	mask := reg.visibleMask(e.vers[base].mask, a)
	last := base
	for i := 1; i < 3; i++ {
		at, ok := s.trail.holds(w, s.ages[i])
		if !ok || after(s.from[w], at) {
			return false
		}
		v := last
		if after(e.vers[v].tick, at) {
			v = s.src.held(e, at, a)
		}
		if v < 0 || e.vers[v].jumps != e.vers[base].jumps || (v != last && (s.owns(e.vers[v].owner) != a&ToOwner || reg.visibleMask(e.vers[v].mask, a) != mask)) {
			return false
		}
		r.base.words[i], r.packs[i], r.vers[i] = e.lane(v, a), e.vers[v].mask, e.vers[v].tick
		last = v
	}
	r.base.n = 3
	return true
}

// encode makes a candidate's record, or finds it in the cache.
func (s *Sender) encode(c *candidate) {
	a := s.auds[c.wire]
	if !s.encodeSteady(c, a) {
		s.encodeOther(c, a)
	}
	c.settle()
}

// shareable tells whether a record may lie in the cache: it means the same to all
// viewers, and nothing is counted while it is made.
func (s *Sender) shareable(w WireID) bool {
	return !s.code.counts() && !s.refers.has(w)
}

// encodeSteady does so for an entity of which the viewer received records in the
// usual baselines themselves: then viewers differ in nothing else.
func (s *Sender) encodeSteady(c *candidate, a audience) bool {
	p := s.plan(a)
	if p == nil || !s.shareable(c.wire) || after(s.from[c.wire], s.trail.aged(s.ages[2]).tick) {
		return false
	}
	for _, age := range s.ages {
		if !s.trail.aged(age).carried.has(c.wire) {
			return false
		}
	}
	k := s.cache
	x := p.slot(s.slots[c.wire])
	switch {
	case x.is&planSpecial != 0:
		return false
	case x.is&planRecord != 0:
		k.hits++
	default:
		r := recordWriter{coder: &k.code, reg: s.src.reg, a: a}
		e := s.src.slots[s.slots[c.wire]]
		if !s.steady(x, e, &r) {
			x.is |= planSpecial
			return false
		}
		k.misses++
		k.code.scale = &p.scale
		at := k.code.open()
		k.code.flag(ctxPlain, true)
		mask := e.vers[e.head].mask
		r.body(mask, s.src.reg.visibleMask(mask, a), e.lane(e.head, a))
		k.code.close(&at)
		x.is |= planRecord
		x.at, k.entries = int32(len(k.entries)), append(k.entries, cached{at: at})
	}
	c.kept, c.at = true, k.entries[x.at].at
	return true
}

// steady gives the values of an entity in the usual baselines' ticks, and tells
// whether a record against them is plain.
func (s *Sender) steady(x *slotPlan, e *entity, r *recordWriter) bool {
	if x.is&planFound == 0 {
		s.findUsual(x, e)
	}
	if x.is&planMoot != 0 {
		return false
	}
	v := &e.vers[e.head]
	for i, k := range x.vers {
		if b := &e.vers[k]; b.jumps != v.jumps || b.mask != v.mask {
			return false
		}
		r.base.words[i] = e.lane(int(k), r.a)
	}
	r.base.n, r.packs = 3, [3]uint64{v.mask, v.mask, v.mask}
	return true
}

// findUsual finds the versions of an entity in the usual baselines' ticks.
func (s *Sender) findUsual(x *slotPlan, e *entity) {
	x.is |= planFound
	t, owner := s.src.tick, e.vers[e.head].owner
	for i, d := range s.usual {
		t -= d
		k := e.find(t)
		if x.vers[i] = int32(k); k < 0 || e.vers[k].owner != owner {
			x.is |= planMoot // other viewers may see it otherwise
		}
	}
}

// encodeOther makes any record.
func (s *Sender) encodeOther(c *candidate, a audience) {
	e := s.src.slots[s.slots[c.wire]]
	if s.encodePlain(c, e, a) {
		return
	}
	w := &s.code
	base, acked := s.baseline(c.wire, e)
	c.at, c.sym = w.open(), int32(len(w.syms))
	if base < 0 {
		w.flag(ctxPlain, false)
		w.flag(ctxFull, true)
		s.encodeFull(&s.shown[c.wire], e, a)
	} else {
		s.encodeDelta(c.wire, e, a, base, acked)
	}
	w.close(&c.at)
	c.k = int32(len(w.syms)) - c.sym
}

// plainBase finds the three usual baselines of a plain record, or returns false.
func (s *Sender) plainBase(w WireID, e *entity, r *recordWriter) bool {
	at, ok := s.trail.holdsAll(w, &s.ages)
	t := s.src.tick
	switch {
	case !ok || !s.held.has(w) || t-at[0] > maxBack:
		return false
	case s.from[w] != 0 && after(s.from[w], at[2]):
		return false
	case t-at[0] >= uint32(s.cfg.Window) && s.trail.last(w) != at[0] && t-s.trail.since(w) >= uint32(s.cfg.Window):
		return false
	}
	v, mask := &e.vers[e.head], s.src.reg.visibleMask(e.vers[e.head].mask, r.a)
	last := -1
	for i := range at {
		k := last
		if k < 0 || after(e.vers[k].tick, at[i]) {
			k = s.src.held(e, at[i], r.a)
		}
		if k < 0 {
			return false
		}
		b := &e.vers[k]
		if b.jumps != v.jumps || b.mask != v.mask && s.src.reg.visibleMask(b.mask, r.a) != mask || b.owner != v.owner && (i == 0 || s.owns(b.owner) != r.a&ToOwner) {
			return false
		}
		r.base.words[i], r.packs[i], r.vers[i] = e.lane(k, r.a), b.mask, b.tick
		last = k
	}
	r.base.n, r.acked = 3, at[0]
	return true
}

// encodePlain makes a plain record, or finds it in the cache.
func (s *Sender) encodePlain(c *candidate, e *entity, a audience) bool {
	p := s.plan(a)
	if p == nil {
		return false
	}
	r := recordWriter{coder: &s.code, reg: s.src.reg, g: &s.shown[c.wire], a: a}
	if !s.plainBase(c.wire, e, &r) {
		return false
	}
	k := s.cache
	if !s.shareable(c.wire) {
		k = nil
	}
	var x *slotPlan
	if k != nil {
		r.coder = &k.code
		x = p.slot(s.slots[c.wire])
		if f := k.find(x, &r.vers); f != nil {
			k.hits++
			c.kept, c.at = true, *f
			return true
		}
		k.misses++
	}
	w := r.coder
	w.scale = &p.scale
	c.at, c.sym = w.open(), int32(len(w.syms))
	w.flag(ctxPlain, true)
	mask := e.vers[e.head].mask
	r.body(mask, r.reg.visibleMask(mask, a), e.lane(e.head, a))
	w.close(&c.at)
	c.k = int32(len(w.syms)) - c.sym
	if k != nil {
		c.kept = true
		k.entries = append(k.entries, cached{vers: r.vers, next: x.more, at: c.at})
		x.more = int32(len(k.entries))
	}
	return true
}

// encodeFull writes a record against the defaults of the prefab.
func (s *Sender) encodeFull(g *shown, e *entity, a audience) {
	reg, v, c := s.src.reg, &e.vers[e.head], &s.code
	k := &reg.prefabs[e.prefab]
	c.w.Write(uint64(e.prefab), bits.Len(uint(len(reg.prefabs)-1)))
	c.flag(ctxMine, a&ToOwner != 0)
	if a&ToOwner == 0 {
		c.flag(ctxOwned, v.owner != 0)
	}
	if v.owner != 0 {
		c.w.Write(uint64(v.owner), 16)
	}
	for m := reg.classes &^ ToOwner; m != 0; m &= m - 1 {
		c.w.Bool(a&(m&-m) != 0)
	}
	c.w.Golomb(s.src.tick - g.born)
	mask := reg.visibleMask(v.mask, a)
	r := recordWriter{coder: c, reg: reg, g: g, a: a, packs: [3]uint64{k.mask}}
	r.base.words[0] = reg.defaults(k)[a.lane()]
	s.encodeShape(mask, reg.visibleMask(k.mask, a), v.jumps-g.jumps)
	r.body(v.mask, mask, e.lane(e.head, a))
}

// encodeDelta writes a record against versions that the viewer holds, which is not
// plain.
func (s *Sender) encodeDelta(w WireID, e *entity, a audience, base int, acked Tick) {
	reg, v, b, c := s.src.reg, &e.vers[e.head], &e.vers[base], &s.code
	r := recordWriter{coder: c, reg: reg, g: &s.shown[w], acked: acked, a: a, packs: [3]uint64{b.mask}}
	r.base.n, r.base.words[0] = 1, e.lane(base, a)
	mask := reg.visibleMask(v.mask, a)
	usual := s.isUsual(w, acked)
	jumps := v.jumps - b.jumps // what it did elsewhere tells nothing
	history := usual && jumps == 0 && s.history(w, e, base, &r, a)
	if !history {
		r.base.n = 1
	} else {
		c.scale = &s.plan(a).scale
	}
	c.flag(ctxPlain, false)
	c.flag(ctxFull, false)
	c.flag(ctxUsual, usual)
	if !usual {
		c.w.Golomb(s.src.tick - acked - 1)
	} else if s.usual[2] != 0 {
		c.flag(ctxHistory, history)
	}
	s.encodeShape(mask, reg.visibleMask(b.mask, a), jumps)
	r.body(v.mask, mask, e.lane(e.head, a))
}

// encodeShape writes the components and the teleports since the baseline.
func (s *Sender) encodeShape(mask, usual uint64, jumps uint16) {
	c := &s.code
	c.flag(ctxShape, mask != usual || jumps != 0)
	if mask == usual && jumps == 0 {
		return
	}
	c.w.Bool(mask != usual)
	if mask != usual {
		c.w.Write(mask, len(s.src.reg.comps))
		c.w.Bool(jumps != 0)
	}
	if jumps != 0 {
		c.w.Golomb(uint32(jumps - 1))
	}
}

// recordWriter writes the components of one record.
type recordWriter struct {
	*coder
	reg   *Registry
	g     *shown // nil: it holds no references
	acked Tick   // of its newest delivered record
	a     audience
	packs [3]uint64 // the components whose words the baselines hold
	base  baselines
	vers  [3]Tick // of the baselines
	ref   int
	comp  int // the component at hand
}

// body writes the visible ones of the components of which the words are given.
func (r *recordWriter) body(mask, visible uint64, words []int32) {
	alike := mask == r.packs[0] && (r.base.n < 3 || mask == r.packs[1] && mask == r.packs[2])
	off := 0
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := r.reg.comps[i]
		if visible>>i&1 != 0 && len(c.leaves) > 0 {
			r.comp = i
			if alike {
				b := r.base.at(off, c.words)
				r.component(c, &b, words[off:off+c.words])
			} else {
				b := r.reg.baseOf(&r.base, &r.packs, i, r.a)
				r.component(c, &b, words[off:off+c.words])
			}
		}
		off += c.words
	}
}

// baseOf narrows baselines to a component; one that they lack starts from zero.
func (r *Registry) baseOf(b *baselines, packs *[3]uint64, comp int, a audience) baselines {
	c := r.comps[comp]
	if packs[0]>>comp&1 == 0 {
		return baselines{words: [3][]int32{c.zero[a.lane()]}}
	}
	below := uint64(1)<<comp - 1
	at := b.at(r.wordsOf(packs[0]&below), c.words)
	for i := 1; i < b.n; i++ { // hidden components may come and go
		if packs[i] != packs[0] {
			off := r.wordsOf(packs[i] & below)
			at.words[i] = b.words[i][off : off+c.words]
		}
	}
	return at
}

// component writes a flag, and if it is set what became of its units.
func (r *recordWriter) component(c *Schema, b *baselines, words []int32) {
	refs, changed := r.differ(c, b, words)
	if r.prof != nil {
		r.prof.shape += r.prof.since(r.coder)
	}
	r.flag(b.componentContext(c, r.a), changed)
	if r.prof != nil {
		r.prof.shares[r.comp] += r.prof.since(r.coder)
		if changed {
			r.prof.counts[r.comp]++
		}
	}
	if !changed {
		r.ref = refs
		return
	}
	past := unsurprised
	coded := c.coding(r.a)
	all, units := coded.codes, coded.units
	for i := 0; i < len(units); i++ {
		u := &units[i]
		if b.n == 3 && u.run > 0 {
			at, upto := all[u.from].word, u.from+u.run
			if r.counts() {
				r.countedRun(c, all[u.from:upto], b, words, past)
			} else {
				r.run(coded.runs[u.from:upto], b.words[0][at:], b.words[1][at:], b.words[2][at:], words[at:], past)
			}
			i += int(u.run) - 1
			continue
		}
		codes := all[u.from : u.from+u.n]
		switch u.sort {
		case sortScalar:
			past = r.scalar(&codes[0], b, words, past)
		case sortVector:
			past = r.vector(codes, b, words, past)
		case sortRotation:
			past = r.rotation(codes, b, words, past)
		case sortText:
			past = r.text(codes, b, words, past)
		case sortLength:
			past, i = r.slice(c, i, b, words, past)
		default:
			same := r.sameRef(r.ref, b.n > 0)
			r.flag(ctxRef, !same)
			if !same {
				r.w.Write(uint64(r.g.refs.list[r.ref].value), 16)
			}
			r.ref++
		}
		if r.prof != nil {
			r.prof.fields[r.comp][c.fieldOf(codes[0].word)] += r.prof.since(r.coder)
		}
	}
}

// countedRun writes a run word by word, and counts.
func (r *recordWriter) countedRun(c *Schema, codes []wordCode, b *baselines, words []int32, past surprise) {
	share := func(k *wordCode) {
		if r.prof != nil {
			r.prof.fields[r.comp][c.fieldOf(k.word)] += r.prof.since(r.coder)
		}
	}
	var all [runMost]*wordCode
	rest, moved := all[:0], false
	for i := range codes {
		switch k := &codes[i]; {
		case k.bit():
		case b.words[0][k.word] == b.words[1][k.word] && b.words[1][k.word] == b.words[2][k.word]:
			rest = append(rest, k)
		default:
			moved = true
			r.scalar(k, b, words, past)
			share(k)
		}
	}
	for i := range codes {
		if k := &codes[i]; k.bit() {
			r.scalar(k, b, words, past)
			share(k)
		}
	}
	if len(rest) == 0 {
		return
	}
	changed := slices.ContainsFunc(rest, func(k *wordCode) bool { return words[k.word] != b.words[0][k.word] })
	r.flag(stillContext(len(rest), !moved), changed)
	share(rest[0])
	for _, k := range rest {
		switch {
		case !changed:
		case len(rest) > 1:
			r.scalar(k, b, words, past)
		default:
			r.nonzero(valueContext(sortScalar, rowHold, past), false, k.residual(b.words[0][k.word], words[k.word]))
		}
		share(k)
	}
}

// differ tells whether a component's words differ from its baseline's, and returns
// the number of references so far.
func (r *recordWriter) differ(c *Schema, b *baselines, words []int32) (refs int, changed bool) {
	coded := c.coding(r.a)
	if refs = r.ref; coded.whole {
		return refs, !slices.Equal(words, b.words[0])
	}
	codes := coded.codes
	for i := range codes {
		k := &codes[i]
		if k.kind == wordRef {
			changed = changed || !r.sameRef(refs, b.n > 0)
			refs++
		} else if words[k.word] != b.words[0][k.word] {
			changed = true
		}
	}
	return refs, changed
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
		return !after(n.since, r.acked)
	}
	return n.value == 0
}
