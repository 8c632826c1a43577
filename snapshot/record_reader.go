package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// record is an entity's value as read; its words are in Receiver.words.
type record struct {
	wire   schema.WireID
	full   bool
	stale  bool // stale is true if the record is of a former life of the wire id.
	aud    quantise.Audience
	owner  uint16
	jumps  uint16
	prefab int32
	born   schema.Tick
	mask   quantise.Mask
	words  []int32
}

func (r *Receiver) parseRecords(t schema.Tick) error {
	if r.usual[2] != 0 {
		r.scale.Set(r.reg.Tables, r.usual)
		if r.in.Flag(coder.CtxExpecting) {
			if err := r.parseExpected(t); err != nil {
				return err
			}
		}
	}
	at, listed := schema.WireID(0), r.records.n
	for r.in.Flag(coder.CtxMore) {
		w, ok := r.nextWire(at)
		if !ok || !r.page(w, at) {
			return malformed("wire id")
		}
		if err := r.parseRecord(w, r.wireSlot(w), t); err != nil {
			return err
		}
		at = w
	}
	return r.sort(listed)
}

// sort sorts the records by wire id. The expected ones and the named ones are each in
// order already.
func (r *Receiver) sort(listed int) error {
	for i, k := 0, listed; i < listed || k < r.records.n; {
		switch {
		case k == r.records.n || i < listed && r.records.recordAt(i).wire < r.records.recordAt(k).wire:
			r.order = append(r.order, uint16(i))
			i++
		case i < listed && r.records.recordAt(i).wire == r.records.recordAt(k).wire:
			return malformed("two records of one entity")
		default:
			r.order = append(r.order, uint16(k))
			k++
		}
	}
	return nil
}

func (r *Receiver) parseRecord(w schema.WireID, slot *wireSlot, t schema.Tick) (err error) {
	rec := record{wire: w}
	r.fault = w
	r.in.Flags.Next()
	switch {
	case r.in.Flag(coder.CtxPlain):
		err = r.parsePlain(&rec, slot, t)
	case r.in.Flag(coder.CtxFull):
		rec.full = true
		err = r.parseFull(&rec, slot, t)
	default:
		err = r.parseDelta(&rec, slot, t)
	}
	r.in.Flags.Next()
	if err == nil && r.in.Bad {
		err = malformed("record")
	}
	if err == nil && !r.records.addRecord(r, &rec) {
		err = ErrHeavy
	}
	if err == nil {
		r.fault = 0
	}
	return err
}

// parsePlain reads a record against the three usual baselines.
func (r *Receiver) parsePlain(rec *record, slot *wireSlot, t schema.Tick) error {
	if r.usual[2] == 0 || r.usual[0] >= t || slot == nil || slot.ghost == nil {
		return ErrBaseline
	}
	g := slot.ghost
	i := g.upTo(t - r.usual[0])
	if i < 0 {
		return ErrBaseline
	}
	v := g.vers[i]
	b := coder.Baselines{N: 1, Words: [3][]int32{g.lane(i)}}
	if !r.history(g, v, t, &b) {
		return ErrBaseline
	}
	rec.prefab, rec.born, rec.aud, rec.owner, rec.mask, rec.jumps = int32(g.Prefab), g.Born, v.aud, v.owner, v.mask, v.jumps
	return r.parseBody(rec, v.mask, &b)
}

func (r *Receiver) parseFull(rec *record, slot *wireSlot, t schema.Tick) error {
	base, err := r.parseHead(rec, slot, t)
	if err != nil {
		return err
	}
	return r.parseBody(rec, r.reg.Prefabs[rec.prefab].Mask, &base)
}

// parseHead reads the part of a full record that comes before the components, and returns the components'
// baseline.
func (r *Receiver) parseHead(rec *record, slot *wireSlot, t schema.Tick) (b coder.Baselines, _ error) {
	in := &r.in
	if len(r.reg.Prefabs) == 0 {
		return b, malformed("prefab")
	}
	rec.prefab = int32(in.Read(bits.Len(uint(len(r.reg.Prefabs) - 1))))
	if int(rec.prefab) >= len(r.reg.Prefabs) {
		return b, malformed("prefab")
	}
	if in.Flag(coder.CtxMine) {
		rec.aud = quantise.ToOwner
	}
	if rec.aud != 0 || in.Flag(coder.CtxOwned) {
		if rec.owner = uint16(in.Read(16)); rec.owner == 0 && (rec.aud == 0 || r.cfg.Viewer != 0) {
			return b, malformed("owner")
		}
	}
	if !r.mayOwn(rec.owner, rec.aud&quantise.ToOwner != 0) {
		return b, malformed("owner")
	}
	for m := r.reg.Classes &^ quantise.ToOwner; m != 0; m &= m - 1 {
		if in.Bool() {
			rec.aud |= m & -m
		}
	}
	d := in.Golomb()
	if d >= t || in.Bad {
		return b, malformed("birth")
	}
	rec.born = t - d
	if err := rec.judgeLife(slot); err != nil {
		return b, err
	}
	k := &r.reg.Prefabs[rec.prefab]
	if k.Mask.Wide() && r.reg.Hides(k.Mask, rec.aud) && !r.spend(maskBytes) {
		return b, ErrHeavy
	}
	if err := r.parseShape(rec, r.reg.VisibleMask(k.Mask, rec.aud)); err != nil {
		return b, err
	}
	b.Words[0] = r.reg.Defaults(k)[rec.aud.Lane()]
	return b, nil
}

// judgeLife compares the life of a full record with what is known of its wire id.
func (rec *record) judgeLife(slot *wireSlot) error {
	if slot == nil {
		return nil
	}
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
	return nil
}

// mayOwn reports whether a record with this owner may be marked as the viewer's own (mine), or as another's.
func (r *Receiver) mayOwn(owner uint16, mine bool) bool {
	if owner != Everyone && r.cfg.Owners != 0 && owner > r.cfg.Owners {
		return false
	}
	return r.cfg.Viewer == 0 || mine == (owner == r.cfg.Viewer || owner == Everyone)
}

func (r *Receiver) parseDelta(rec *record, slot *wireSlot, t schema.Tick) error {
	usual, d := r.in.Flag(coder.CtxUsual), r.usual[0]
	if !usual {
		d = r.in.Golomb() + 1
	}
	if d == 0 || d > maxBack || d >= t || r.in.Bad {
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
	b := coder.Baselines{N: 1, Words: [3][]int32{g.lane(i)}}
	if usual && r.usual[2] != 0 && r.in.Flag(coder.CtxHistory) && !r.history(g, v, t, &b) {
		return ErrBaseline
	}
	rec.prefab, rec.born, rec.aud, rec.owner, rec.jumps = int32(g.Prefab), g.Born, v.aud, v.owner, v.jumps
	if err := r.parseShape(rec, v.mask); err != nil {
		return err
	}
	if b.N == 3 && rec.jumps != v.jumps {
		return malformed("components")
	}
	return r.parseBody(rec, v.mask, &b)
}

// history finds the two older usual baselines.
func (r *Receiver) history(g *Ghost, v *ghostVersion, t schema.Tick, b *coder.Baselines) bool {
	t -= r.usual[0]
	for i := 1; i < 3; i++ {
		t -= r.usual[i]
		k := g.upTo(t)
		if k < 0 || !g.vers[k].mask.Equal(v.mask) || g.vers[k].aud != v.aud || g.vers[k].jumps != v.jumps {
			return false
		}
		b.Words[i] = g.lane(k)
	}
	b.N = 3
	return true
}

// parseShape reads the components of a record and the number of teleports since its
// baseline.
func (r *Receiver) parseShape(rec *record, usual quantise.Mask) error {
	rec.mask = usual
	shaped, jumped := r.in.Flag(coder.CtxShape), true
	switch {
	case r.in.Bad:
		return malformed("components")
	case !shaped:
		return nil
	}
	if r.in.Bool() {
		if err := r.parseMask(rec); err != nil {
			return err
		}
		jumped = r.in.Bool()
	}
	if jumped {
		n := r.in.Golomb()
		if n >= maxBack {
			return malformed("components")
		}
		rec.jumps += uint16(n + 1)
	}
	// The mask must not name components that the viewer receives nothing of.
	if r.in.Bad || r.reg.Hides(rec.mask, rec.aud) {
		return malformed("components")
	}
	return nil
}

// parseBody reads the components of a record into the scratch words.
func (r *Receiver) parseBody(rec *record, baseMask quantise.Mask, base *coder.Baselines) error {
	n := len(base.Words[0])
	if !rec.mask.Equal(baseMask) {
		n = r.reg.WordsOf(rec.mask)
	}
	if err := r.charge(rec, n); err != nil {
		return err
	}
	off, from, a := 0, 0, rec.aud // off counts words of the record, and from words of the baselines
	for k := range max(rec.mask.Parts(), baseMask.Parts()) {
		has, had := rec.mask.Part(k), baseMask.Part(k)
		for m := has | had; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			c := r.reg.Comps[k<<6+i]
			b := coder.Baselines{Words: [3][]int32{c.Zero[a.Lane()]}}
			if had>>i&1 != 0 {
				b = base.At(from, c.Words)
				from += c.Words
			}
			if has>>i&1 != 0 {
				if err := r.parseComponent(k<<6+i, a, &b, rec.words[off:off+c.Words]); err != nil {
					return err
				}
				off += c.Words
			}
		}
	}
	return nil
}

// parseComponent reads a component's words.
func (r *Receiver) parseComponent(i int, a quantise.Audience, b *coder.Baselines, to []int32) error {
	c := r.reg.Comps[i]
	copy(to, b.Words[0])
	if b.N == 0 {
		c.Hide(to, a)
	}
	coded := c.Coding(a)
	if len(coded.Codes) == 0 {
		return nil
	}
	counts := r.counted.prof != nil
	if counts {
		r.counted.comp, r.counted.mark = i, r.in.Cost()
	}
	changed := r.in.Flag(quantise.Context(c, b, a))
	if counts {
		r.counted.noteComponent(&r.in, i, changed)
	}
	if changed {
		if _, ok := r.units(c, a, 0, len(coded.Units), b, to, coder.Unsurprised); !ok {
			return malformed("value of " + c.Name)
		}
	}
	if r.in.Bad {
		return malformed("length")
	}
	return nil
}

// units is the inverse of recordWriter.units.
func (r *Receiver) units(c *quantise.Plan, a quantise.Audience, i, end int, b *coder.Baselines, to []int32, past coder.Surprise) (_ coder.Surprise, ok bool) {
	coded := c.Coding(a)
	all, units := coded.Codes, coded.Units
	for ; i < end; i++ {
		u := &units[i]
		if u.Run > 0 && b.N == 3 {
			n := min(u.Run, int32(end-i))
			at := all[u.From].Word
			if r.counted.prof != nil {
				if !r.in.RunByWord(all[u.From:u.From+n], b, to, past, func(k *coder.Code) { r.charged(c, k) }) {
					return past, false
				}
			} else if !r.in.Run(coded.Runs[u.From:u.From+n], b.Words[0][at:], b.Words[1][at:], b.Words[2][at:], to[at:], past) {
				return past, false
			}
			i += int(n) - 1
			continue
		}
		codes := all[u.From : u.From+u.N]
		switch ok = true; u.Sort {
		case coder.SortScalar:
			past, ok = r.in.Scalar(&codes[0], b, to, past)
		case coder.SortVector:
			past, ok = r.in.Vector(codes, b, to, past)
		case coder.SortRotation:
			past, ok = r.in.Rotation(codes, b, to, past)
		case coder.SortText:
			past, ok = r.in.Text(codes, b, to, past)
		case coder.SortLength:
			past, i, ok = r.slice(c, a, i, b, to, past)
		default:
			if r.in.Flag(coder.CtxRef) {
				to[codes[0].Word] = int32(r.in.Read(16))
			}
		}
		if !ok {
			return past, false
		}
		if r.counted.prof != nil {
			r.charged(c, &codes[0])
		}
	}
	return past, true
}
