package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// baseline returns the version that a record may be a difference from, or −1, and the tick of its record. The
// viewer must hold that version, and its audience and the owner must be the same since.
func (s *Sender) baseline(w schema.WireID, e *entity) (int, schema.Tick) {
	if !s.held.has(w) {
		return -1, 0
	}
	t, acked := s.src.tick, s.acked(w)
	if acked == 0 || t-acked > maxBack || s.outdated(w, acked) {
		return -1, 0
	}
	if after(s.from[w], acked) {
		return -1, 0
	}
	i := s.src.versionHeld(e, acked, s.auds[w])
	if i < 0 || e.vers[i].owner != e.vers[e.head].owner {
		return -1, 0
	}
	return i, acked
}

// history finds the two older usual baselines of a record, or returns false.
func (s *Sender) history(w schema.WireID, e *entity, base int, r *recordWriter, a quantise.Audience) bool {
	if s.usual[2] == 0 {
		return false
	}
	reg := s.src.reg
	mask, last := e.mask(base), base
	for i := 1; i < 3; i++ {
		at, ok := s.sent.holds(w, s.ages[i])
		if !ok || after(s.from[w], at) {
			return false
		}
		v := last
		if after(e.vers[v].tick, at) {
			v = s.src.versionHeld(e, at, a)
		}
		if v < 0 || e.vers[v].jumps != e.vers[base].jumps || (v != last && (s.ownAudience(e.vers[v].owner) != a&quantise.ToOwner || !reg.SeenAlike(a, e.mask(v), mask))) {
			return false
		}
		r.base.Words[i], r.packs[i], r.vers[i] = e.lane(v, a), e.mask(v), e.vers[v].tick
		last = v
	}
	r.base.N = 3
	return true
}

// encode makes a candidate's record, or finds it in the cache.
func (s *Sender) encode(c *candidate) {
	a := s.auds[c.wire]
	if !s.encodeSteady(c, a) {
		s.encodeOther(c, a)
	}
	c.noteSize()
}

// shareable reports whether a record may be cached: it means the same to all viewers,
// and nothing is counted while it is made.
func (s *Sender) shareable(w schema.WireID) bool {
	return !s.counts() && !s.refers.has(w)
}

// encodeSteady encodes an entity with records in each of the usual baselines that the
// viewer received. Such records are the same for all viewers with these baselines.
func (s *Sender) encodeSteady(c *candidate, a quantise.Audience) bool {
	p := s.plan(a)
	if p == nil || !s.shareable(c.wire) || after(s.from[c.wire], s.sent.aged(s.ages[2]).tick) {
		return false
	}
	for _, age := range s.ages {
		if !s.sent.aged(age).carried.has(c.wire) {
			return false
		}
	}
	k := s.cache
	x := p.slotPlan(s.slots[c.wire])
	switch {
	case x.is&planSpecial != 0:
		return false
	case x.is&planRecord != 0:
		k.hits++
	default:
		r := recordWriter{Encoder: &k.code, reg: s.src.reg, a: a}
		e := s.src.slots[s.slots[c.wire]]
		if !s.steady(x, e, &r) {
			x.is |= planSpecial
			return false
		}
		k.misses++
		k.code.Scales = &p.scale
		at := k.code.Open()
		k.code.Flag(coder.CtxPlain, true)
		mask := e.mask(e.head)
		r.body(mask, e.lane(e.head, a))
		k.code.Close(&at)
		x.is |= planRecord
		x.at, k.entries = int32(len(k.entries)), append(k.entries, cached{at: at})
	}
	c.kept, c.steady, c.at = true, true, k.entries[x.at].at
	return true
}

// steady sets r's baselines to an entity's values in the usual baselines' ticks. It reports whether a record
// against them is plain.
func (s *Sender) steady(x *slotPlan, e *entity, r *recordWriter) bool {
	if x.is&planFound == 0 {
		s.findUsual(x, e)
	}
	if x.is&planMoot != 0 {
		return false
	}
	v, mask := &e.vers[e.head], e.mask(e.head)
	for i, k := range x.vers {
		if e.vers[k].jumps != v.jumps || !e.mask(int(k)).Equal(mask) {
			return false
		}
		r.base.Words[i] = e.lane(int(k), r.a)
	}
	r.base.N, r.packs = 3, [3]quantise.Mask{mask, mask, mask}
	return true
}

// findUsual finds the versions of an entity in the usual baselines' ticks.
func (s *Sender) findUsual(x *slotPlan, e *entity) {
	x.is |= planFound
	t, owner := s.src.tick, e.vers[e.head].owner
	for i, d := range s.usual {
		t -= d
		k := e.versionAt(t)
		if x.vers[i] = int32(k); k < 0 || e.vers[k].owner != owner {
			x.is |= planMoot // the record is not the same for all viewers
		}
	}
}

// encodeOther makes a record that encodeSteady cannot make.
func (s *Sender) encodeOther(c *candidate, a quantise.Audience) {
	e := s.src.slots[s.slots[c.wire]]
	if s.encodePlain(c, e, a) {
		return
	}
	w := &s.code
	base, acked := s.baseline(c.wire, e)
	c.at, c.sym = w.Open(), int32(len(w.Syms))
	if base < 0 {
		w.Flag(coder.CtxPlain, false)
		w.Flag(coder.CtxFull, true)
		s.encodeFull(&s.shown[c.wire], e, a)
	} else {
		s.encodeDelta(c.wire, e, a, base, acked)
	}
	w.Close(&c.at)
	c.k = int32(len(w.Syms)) - c.sym
}

// plainBase finds the three usual baselines of a plain record, or returns false.
func (s *Sender) plainBase(w schema.WireID, e *entity, r *recordWriter) bool {
	at, ok := s.sent.holdsAll(w, &s.ages)
	t := s.src.tick
	switch {
	case !ok || !s.held.has(w) || t-at[0] > maxBack:
		return false
	case s.from[w] != 0 && after(s.from[w], at[2]):
		return false
	case t-at[0] >= uint32(s.cfg.Window) && s.sent.last(w) != at[0] && t-s.sent.since(w) >= uint32(s.cfg.Window):
		return false
	}
	v, mask, last := &e.vers[e.head], e.mask(e.head), -1
	for i := range at {
		k := last
		if k < 0 || after(e.vers[k].tick, at[i]) {
			k = s.src.versionHeld(e, at[i], r.a)
		}
		if k < 0 {
			return false
		}
		b, has := &e.vers[k], e.mask(k)
		if b.jumps != v.jumps || !has.Equal(mask) && !s.src.reg.SeenAlike(r.a, has, mask) || b.owner != v.owner && (i == 0 || s.ownAudience(b.owner) != r.a&quantise.ToOwner) {
			return false
		}
		r.base.Words[i], r.packs[i], r.vers[i] = e.lane(k, r.a), has, b.tick
		last = k
	}
	r.base.N, r.acked = 3, at[0]
	return true
}

// encodePlain makes a plain record, or finds it in the cache.
func (s *Sender) encodePlain(c *candidate, e *entity, a quantise.Audience) bool {
	p := s.plan(a)
	if p == nil {
		return false
	}
	r := recordWriter{Encoder: &s.code, reg: s.src.reg, g: &s.shown[c.wire], a: a, prof: s.prof}
	if !s.plainBase(c.wire, e, &r) {
		return false
	}
	k := s.cache
	if !s.shareable(c.wire) {
		k = nil
	}
	var x *slotPlan
	if k != nil {
		r.Encoder = &k.code
		x = p.slotPlan(s.slots[c.wire])
		if f := k.findRecord(x, &r.vers); f != nil {
			k.hits++
			c.kept, c.at = true, *f
			return true
		}
		k.misses++
	}
	w := r.Encoder
	w.Scales = &p.scale
	c.at, c.sym = w.Open(), int32(len(w.Syms))
	w.Flag(coder.CtxPlain, true)
	mask := e.mask(e.head)
	r.body(mask, e.lane(e.head, a))
	w.Close(&c.at)
	c.k = int32(len(w.Syms)) - c.sym
	if k != nil {
		c.kept = true
		k.entries = append(k.entries, cached{vers: r.vers, next: x.more, at: c.at})
		x.more = int32(len(k.entries))
	}
	return true
}

// encodeFull writes a record against the prefab's defaults.
func (s *Sender) encodeFull(g *shown, e *entity, a quantise.Audience) {
	r := s.encodeHead(&s.code, g, e, a)
	r.prof = s.prof
	r.body(e.mask(e.head), e.lane(e.head, a))
}

// encodeHead writes the part of a full record that comes before the components. It returns the writer of the
// components.
func (s *Sender) encodeHead(c *coder.Encoder, g *shown, e *entity, a quantise.Audience) recordWriter {
	reg, v := s.src.reg, &e.vers[e.head]
	k := &reg.Prefabs[e.prefab]
	c.Bits.Write(uint64(e.prefab), bits.Len(uint(len(reg.Prefabs)-1)))
	c.Flag(coder.CtxMine, a&quantise.ToOwner != 0)
	if a&quantise.ToOwner == 0 {
		c.Flag(coder.CtxOwned, v.owner != 0)
	}
	if v.owner != 0 || a&quantise.ToOwner != 0 {
		c.Bits.Write(uint64(v.owner), 16)
	}
	for m := reg.Classes &^ quantise.ToOwner; m != 0; m &= m - 1 {
		c.Bits.Bool(a&(m&-m) != 0)
	}
	c.Bits.Golomb(s.src.tick - g.born)
	r := recordWriter{Encoder: c, reg: reg, g: g, a: a, packs: [3]quantise.Mask{k.Mask}}
	r.base.Words[0] = reg.Defaults(k)[a.Lane()]
	s.encodeShape(c, reg.VisibleMask(e.mask(e.head), a), reg.VisibleMask(k.Mask, a), v.jumps-g.jumps)
	return r
}

// encodeDelta writes a record that is not plain, against versions that the viewer
// holds.
func (s *Sender) encodeDelta(w schema.WireID, e *entity, a quantise.Audience, base int, acked schema.Tick) {
	reg, v, b, c := s.src.reg, &e.vers[e.head], &e.vers[base], &s.code
	all, was := e.mask(e.head), e.mask(base)
	r := recordWriter{Encoder: c, reg: reg, g: &s.shown[w], acked: acked, a: a, packs: [3]quantise.Mask{was}, prof: s.prof}
	r.base.N, r.base.Words[0] = 1, e.lane(base, a)
	usual := s.isUsual(w, acked)
	jumps := v.jumps - b.jumps // after a teleport, earlier motion predicts nothing
	history := usual && jumps == 0 && s.history(w, e, base, &r, a)
	if !history {
		r.base.N = 1
	} else {
		c.Scales = &s.plan(a).scale
	}
	c.Flag(coder.CtxPlain, false)
	c.Flag(coder.CtxFull, false)
	c.Flag(coder.CtxUsual, usual)
	if !usual {
		c.Bits.Golomb(s.src.tick - acked - 1)
	} else if s.usual[2] != 0 {
		c.Flag(coder.CtxHistory, history)
	}
	s.encodeShape(c, reg.VisibleMask(all, a), reg.VisibleMask(was, a), jumps)
	r.body(all, e.lane(e.head, a))
}

// encodeShape writes the components and the teleports since the baseline.
func (s *Sender) encodeShape(c *coder.Encoder, mask, usual quantise.Mask, jumps uint16) {
	differs := !mask.Equal(usual)
	c.Flag(coder.CtxShape, differs || jumps != 0)
	if !differs && jumps == 0 {
		return
	}
	c.Bits.Bool(differs)
	if differs {
		encodeMask(c, mask, usual, len(s.src.reg.Comps))
		c.Bits.Bool(jumps != 0)
	}
	if jumps != 0 {
		c.Bits.Golomb(uint32(jumps - 1))
	}
}
