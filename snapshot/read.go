package snapshot

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// goneRecord is a removal as read.
type goneRecord struct {
	wire   WireID
	hidden bool
	tick   Tick
}

// record is an entity's value as read; its words are in Receiver.words.
type record struct {
	wire   WireID
	full   bool
	stale  bool // of a former life of the wire id
	aud    audience
	owner  uint16
	jumps  uint16
	prefab int32
	born   Tick
	mask   uint64
	words  []int32
}

// Read applies one snapshot: exactly what one Append appended. It returns its tick.
// A snapshot older than the newest is kept to be a baseline, and for At and Sample;
// one that was read before does nothing. On an error, [ErrHeavy], [ErrMalformed] or
// [ErrBaseline], nothing at all was applied. What b claims is checked before it is
// used.
func (r *Receiver) Read(b []byte) (Tick, error) {
	r.changes = r.changes[:0]
	r.begin(len(b))
	t, err := r.split(b)
	if err == nil && r.received(t) {
		r.count.Duplicate++
		return t, nil
	}
	if err == nil {
		err = r.parse(t)
	}
	if err != nil {
		if errors.Is(err, ErrHeavy) {
			r.count.Heavy++
			return 0, err
		}
		r.count.Malformed++
		if errors.Is(err, ErrBaseline) {
			r.count.Baseline++
		}
		return 0, err
	}
	r.apply(t)
	return t, nil
}

// split finds a snapshot's tick, flags and bits.
func (r *Receiver) split(b []byte) (Tick, error) {
	t, b, ok := r.tickOf(b)
	if !ok {
		return 0, malformed("tick")
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return 0, malformed("length of the flags")
	}
	r.in.tab, r.in.scale = r.reg.tab, &r.scale
	r.in.rc.reset(b[k : k+int(n)])
	r.in.Reset(b[k+int(n):])
	return t, nil
}

// TickOf returns the tick that a snapshot names, before it is read, and false when
// it names none that could be read. Read applies whatever tick it is given: on a
// network where packets can be forged, refuse one that the server cannot have
// reached yet, as it would be the newest until the server gets there.
func (r *Receiver) TickOf(b []byte) (Tick, bool) {
	t, _, ok := r.tickOf(b)
	return t, ok
}

// tickOf reads the tick; of a short one it takes the tick nearest to the newest.
func (r *Receiver) tickOf(b []byte) (Tick, []byte, bool) {
	if len(b) < 2 {
		return 0, nil, false
	}
	low := uint32(binary.LittleEndian.Uint16(b))
	if low < 0x8000 {
		d := int32((low-r.newest)<<17) >> 17
		return r.newest + uint32(d), b[2:], r.newest != 0
	}
	if len(b) < 5 || b[4] > 1 {
		return 0, nil, false
	}
	return low&0x7fff | uint32(b[2])<<15 | uint32(b[3])<<23 | uint32(b[4])<<31, b[5:], true
}

func (r *Receiver) parse(t Tick) error {
	r.gone, r.order, r.spans, r.opened = r.gone[:0], r.order[:0], r.spans[:0], 0
	r.records.reset()
	r.words.reset()
	r.load = spawnLoad{most: r.cfg.Spawns}
	in := &r.in
	r.complete, r.ownWhole = in.flag(ctxComplete), in.flag(ctxOwn)
	r.usual = [3]uint32{in.Golomb()}
	if r.usual[0] != 0 {
		if in.flag(ctxSteady) {
			r.usual[1], r.usual[2] = ordinaryGaps[1], ordinaryGaps[2]
		} else if r.usual[1] = uint32(in.Read(6)); r.usual[1] != 0 {
			r.usual[2] = uint32(in.Read(6))
		}
	}
	if t == 0 || in.bad || r.usual[0] > maxBack || (r.usual[2] != 0 && r.usual[0] >= 64) || (r.newest != 0 && t-r.newest > 1<<30 && r.newest-t > 1<<30) {
		return malformed("header")
	}
	if r.cfg.After != 0 && !after(t, r.cfg.After) {
		return malformed("tick")
	}
	if err := r.parseGone(t); err != nil {
		return err
	}
	if err := r.parseRecords(t); err != nil {
		return err
	}
	if !r.complete {
		if err := r.parseSpans(); err != nil {
			return err
		}
	}
	if !in.end() {
		return malformed("length")
	}
	return r.prepare(t)
}

// later reads a wire id after the one before, from a gap.
func (r *Receiver) later(at WireID) (WireID, bool) {
	w := uint64(at) + uint64(r.in.Golomb()) + 1
	return WireID(w), w <= maxWire && !r.in.bad
}

// next reads the wire id of a record.
func (r *Receiver) next(at WireID) (WireID, bool) {
	if r.in.flag(ctxNext) {
		return at + 1, at < maxWire
	}
	to := uint64(at) + r.in.gap() + 2
	return WireID(to), to <= maxWire && !r.in.bad
}

// page counts the pages of wire ids that a snapshot would open.
func (r *Receiver) page(w, last WireID) bool {
	if r.pages[w/pageSlots] == nil && (last == 0 || last/pageSlots != w/pageSlots) {
		r.opened++
	}
	return r.opened <= maxPages
}

func (r *Receiver) parseGone(t Tick) error {
	n, at := r.in.Golomb(), WireID(0)
	if n > maxLeaving {
		return malformed("number of removals")
	}
	for range n {
		w, ok := r.later(at)
		hidden := r.in.Bool()
		d := r.in.Golomb()
		if !ok || r.in.bad || d > maxBack || d >= t || !r.page(w, at) {
			return malformed("removal")
		}
		r.gone = append(r.gone, goneRecord{w, hidden, t - d})
		at = w
	}
	return nil
}

func (r *Receiver) parseRecords(t Tick) error {
	if r.usual[2] != 0 {
		r.scale.set(r.reg.tab, r.usual)
		if r.in.flag(ctxExpecting) {
			if err := r.parseExpected(t); err != nil {
				return err
			}
		}
	}
	at, listed := WireID(0), r.records.n
	for r.in.flag(ctxMore) {
		w, ok := r.next(at)
		if !ok || !r.page(w, at) {
			return malformed("wire id")
		}
		if err := r.parseRecord(w, r.slot(w), t); err != nil {
			return err
		}
		at = w
	}
	return r.sort(listed)
}

// sort puts the records in the order of wire ids: those that were expected and those
// that were named are in it each.
func (r *Receiver) sort(listed int) error {
	for i, k := 0, listed; i < listed || k < r.records.n; {
		switch {
		case k == r.records.n || i < listed && r.records.at(i).wire < r.records.at(k).wire:
			r.order = append(r.order, uint16(i))
			i++
		case i < listed && r.records.at(i).wire == r.records.at(k).wire:
			return malformed("two records of one entity")
		default:
			r.order = append(r.order, uint16(k))
			k++
		}
	}
	return nil
}

func (r *Receiver) parseRecord(w WireID, slot *wireSlot, t Tick) (err error) {
	rec := record{wire: w}
	r.in.rc.next()
	switch {
	case r.in.flag(ctxPlain):
		err = r.parsePlain(&rec, slot, t)
	case r.in.flag(ctxFull):
		rec.full = true
		err = r.parseFull(&rec, slot, t)
	default:
		err = r.parseDelta(&rec, slot, t)
	}
	r.in.rc.next()
	if err == nil && r.in.bad {
		err = malformed("record")
	}
	if err == nil && !r.records.add(r, &rec) {
		err = ErrHeavy
	}
	return err
}

// parsePlain reads a record against the three usual baselines.
func (r *Receiver) parsePlain(rec *record, slot *wireSlot, t Tick) error {
	if r.usual[2] == 0 || r.usual[0] >= t || slot == nil || slot.ghost == nil {
		return ErrBaseline
	}
	g := slot.ghost
	i := g.upTo(t - r.usual[0])
	if i < 0 {
		return ErrBaseline
	}
	v := g.vers[i]
	b := baselines{n: 1, words: [3][]int32{g.lane(i)}}
	if !r.history(g, v, t, &b) {
		return ErrBaseline
	}
	rec.prefab, rec.born, rec.aud, rec.owner, rec.mask, rec.jumps = int32(g.Prefab), g.Born, v.aud, v.owner, v.mask, v.jumps
	return r.parseBody(rec, v.mask, &b)
}

func (r *Receiver) parseFull(rec *record, slot *wireSlot, t Tick) error {
	in := &r.in
	if len(r.reg.prefabs) == 0 {
		return malformed("prefab")
	}
	rec.prefab = int32(in.Read(bits.Len(uint(len(r.reg.prefabs) - 1))))
	if int(rec.prefab) >= len(r.reg.prefabs) {
		return malformed("prefab")
	}
	if in.flag(ctxMine) {
		rec.aud = ToOwner
	}
	if rec.aud != 0 || in.flag(ctxOwned) {
		if rec.owner = uint16(in.Read(16)); rec.owner == 0 {
			return malformed("owner")
		}
	}
	if !r.mayOwn(rec.owner, rec.aud&ToOwner != 0) {
		return malformed("owner")
	}
	for m := r.reg.classes &^ ToOwner; m != 0; m &= m - 1 {
		if in.Bool() {
			rec.aud |= m & -m
		}
	}
	d := in.Golomb()
	if d >= t || in.bad {
		return malformed("birth")
	}
	rec.born = t - d
	if slot != nil {
		if g := slot.ghost; g != nil && rec.born != g.Born {
			switch {
			case after(g.Born, rec.born):
				rec.stale = true
			case g.Gone == 0 || after(g.Gone, rec.born):
				return malformed("a wire id in use is born again")
			}
		} else if g != nil && g.Prefab != int(rec.prefab) {
			return malformed("an entity changes its prefab")
		}
		rec.stale = rec.stale || (slot.gone != 0 && !after(rec.born, slot.gone) && (slot.ghost == nil || slot.ghost.Born != rec.born))
	}
	k := &r.reg.prefabs[rec.prefab]
	if !r.parseShape(rec, r.reg.visibleMask(k.mask, rec.aud)) {
		return malformed("components")
	}
	b := baselines{words: [3][]int32{r.reg.defaults(k)[rec.aud.lane()]}}
	return r.parseBody(rec, k.mask, &b)
}

// mayOwn tells whether a player may own an entity, as the viewer's own or as another's.
func (r *Receiver) mayOwn(owner uint16, mine bool) bool {
	if owner != Everyone && r.cfg.Owners != 0 && owner > r.cfg.Owners {
		return false
	}
	return r.cfg.Viewer == 0 || mine == (owner == r.cfg.Viewer || owner == Everyone)
}

func (r *Receiver) parseDelta(rec *record, slot *wireSlot, t Tick) error {
	usual, d := r.in.flag(ctxUsual), r.usual[0]
	if !usual {
		d = r.in.Golomb() + 1
	}
	if d == 0 || d > maxBack || d >= t || r.in.bad {
		return malformed("distance of a baseline")
	}
	if slot == nil || slot.ghost == nil {
		return ErrBaseline
	}
	g := slot.ghost
	i := g.exact(t - d)
	if usual {
		i = g.upTo(t - d)
	}
	if i < 0 {
		return ErrBaseline
	}
	v := g.vers[i]
	b := baselines{n: 1, words: [3][]int32{g.lane(i)}}
	if usual && r.usual[2] != 0 && r.in.flag(ctxHistory) && !r.history(g, v, t, &b) {
		return ErrBaseline
	}
	rec.prefab, rec.born, rec.aud, rec.owner, rec.jumps = int32(g.Prefab), g.Born, v.aud, v.owner, v.jumps
	if !r.parseShape(rec, v.mask) || (b.n == 3 && rec.jumps != v.jumps) {
		return malformed("components")
	}
	return r.parseBody(rec, v.mask, &b)
}

// history finds the two older usual baselines.
func (r *Receiver) history(g *Ghost, v *ghostVersion, t Tick, b *baselines) bool {
	t -= r.usual[0]
	for i := 1; i < 3; i++ {
		t -= r.usual[i]
		k := g.upTo(t)
		if k < 0 || g.vers[k].mask != v.mask || g.vers[k].aud != v.aud || g.vers[k].jumps != v.jumps {
			return false
		}
		b.words[i] = g.lane(k)
	}
	b.n = 3
	return true
}

// parseShape reads the components of a record and how often it teleported since
// its baseline.
func (r *Receiver) parseShape(rec *record, usual uint64) bool {
	rec.mask = usual
	if !r.in.flag(ctxShape) {
		return !r.in.bad
	}
	jumped := true
	if r.in.Bool() {
		rec.mask = r.in.Read(len(r.reg.comps))
		jumped = r.in.Bool()
	}
	if jumped {
		n := r.in.Golomb()
		if n >= maxBack {
			return false
		}
		rec.jumps += uint16(n + 1)
	}
	// Components of which the viewer receives nothing are not its business.
	return !r.in.bad && rec.mask == r.reg.visibleMask(rec.mask, rec.aud)
}

// parseBody reads the components of a record into the scratch words.
func (r *Receiver) parseBody(rec *record, baseMask uint64, base *baselines) error {
	if err := r.charge(rec); err != nil {
		return err
	}
	off, a, packs := 0, rec.aud, [3]uint64{baseMask, baseMask, baseMask}
	for m := rec.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := r.reg.comps[i]
		b := r.reg.baseOf(base, &packs, i, a)
		to := rec.words[off : off+c.words]
		copy(to, b.words[0])
		if b.n == 0 {
			c.hide(to, a)
		}
		off += c.words
		if coded := c.coding(a); len(coded.codes) > 0 && r.in.flag(b.componentContext(c, a)) {
			if !r.parseUnits(c, a, &b, to) {
				return malformed("value of " + c.name)
			}
		}
		if r.in.bad {
			return malformed("length")
		}
	}
	return nil
}

// parseUnits reads what became of a component's units.
func (r *Receiver) parseUnits(c *Schema, a audience, b *baselines, to []int32) (ok bool) {
	past := unsurprised
	coded := c.coding(a)
	all, units := coded.codes, coded.units
	for i := 0; i < len(units); i++ {
		u := &units[i]
		if u.run > 0 && b.n == 3 {
			at := all[u.from].word
			if ok = r.in.run(coded.runs[u.from:u.from+u.run], b.words[0][at:], b.words[1][at:], b.words[2][at:], to[at:], past); !ok {
				return false
			}
			i += int(u.run) - 1
			continue
		}
		codes := all[u.from : u.from+u.n]
		switch u.sort {
		case sortScalar:
			past, ok = r.in.scalar(&codes[0], b, to, past)
		case sortVector:
			past, ok = r.in.vector(codes, b, to, past)
		case sortRotation:
			past, ok = r.in.rotation(codes, b, to, past)
		case sortText:
			past, ok = r.in.text(codes, b, to, past)
		case sortLength:
			past, i, ok = r.slice(c, a, i, b, to, past)
		default:
			if ok = true; r.in.flag(ctxRef) {
				to[codes[0].word] = int32(r.in.Read(16))
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

func (d *decoder) scalar(k *wordCode, b *baselines, to []int32, past surprise) (surprise, bool) {
	if k.bit() {
		if !d.flag(ctxZero + k.bitContext(b, past)) {
			to[k.word] = 1 - b.words[0][k.word]
		}
		return past, true
	}
	g := k.predict(b, d.scale)
	return d.word(k, sortScalar, &g, to, past)
}

func (d *decoder) word(k *wordCode, sort int, g *guess, to []int32, past surprise) (surprise, bool) {
	v := d.value(valueContext(sort, g.row, past), g.back)
	var ok bool
	to[k.word], ok = k.apply(g.value, v)
	return past.then(g.class, v), ok
}

func (d *decoder) vector(codes []wordCode, b *baselines, to []int32, past surprise) (surprise, bool) {
	if !d.flag(unitContext(sortVector, codes, b, past)) {
		return past.then(0, 0), true
	}
	var gs [maxVector]guess
	predictVector(codes, b, d.scale, gs[:])
	for i := range codes {
		var ok bool
		if past, ok = d.word(&codes[i], sortVector, &gs[i], to, past); !ok {
			return past, false
		}
	}
	return past, true
}

func (d *decoder) rotation(codes []wordCode, b *baselines, to []int32, past surprise) (surprise, bool) {
	if !d.flag(unitContext(sortRotation, codes, b, past)) {
		return past.then(0, 0), true
	}
	r := predictRotation(codes[0].word, codes[1].size, b, d.scale)
	rank := 0
	if d.flag(ctxRank + r.margin*rankClasses + r.column) {
		rank = 1
		if d.flag(ctxRanks + r.margin) {
			rank = 2
			if d.flag(ctxRanks + 12 + r.margin) {
				rank = 3
			}
		}
	}
	top := int(r.order[rank])
	to[codes[0].word] = int32(top)
	at := 0
	for i := 1; i < quatWords; i++ {
		if at == top {
			at++
		}
		g := r.guess(at, top, &codes[i])
		var ok bool
		if past, ok = d.word(&codes[i], sortRotation, &g, to, past); !ok {
			return past, false
		}
		at++
	}
	return past, true
}

func (r *Receiver) parseSpans() error {
	n, at := r.in.Golomb(), uint32(0)
	if n > maxSpans || int(n) > r.in.Left() {
		return malformed("number of postponed runs")
	}
	if int(n) > cap(r.spans) {
		if !r.spend(spanBytes * int(n)) {
			return ErrHeavy
		}
		r.spans = make([]span, 0, n)
	}
	for range n {
		from := uint64(at) + uint64(r.in.Golomb())
		to := from + uint64(r.in.Golomb())
		if r.in.bad || to > maxWire {
			return malformed("postponed run")
		}
		r.spans = append(r.spans, span{WireID(from), WireID(to)})
		at = uint32(to)
	}
	return nil
}
