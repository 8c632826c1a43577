package snapshot

import (
	"errors"
	"math/bits"
	"slices"
)

// goneRecord is a removal as read.
type goneRecord struct {
	wire   WireID
	hidden bool
	tick   Tick
}

// record is an entity's value as read; its words are in Receiver.words.
type record struct {
	wire       WireID
	full       bool
	stale      bool // of a former life of the wire id
	mine       bool
	owner      uint16
	kind       int
	born       Tick
	mask       uint64
	from, upto int
}

// Read applies one snapshot: exactly what one Append appended. It returns its tick.
// A snapshot older than the newest is kept to be a baseline, and for At and Sample;
// one that was read before does nothing. On an error, [ErrMalformed] or
// [ErrBaseline], nothing at all was applied. What b claims is checked before it is
// used.
func (r *Receiver) Read(b []byte) (Tick, error) {
	r.changes = r.changes[:0]
	r.in.Reset(b)
	t := Tick(r.in.Read(32))
	if r.received(t) {
		r.count.Duplicate++
		return t, nil
	}
	if err := r.parse(t); err != nil {
		r.count.Malformed++
		if errors.Is(err, ErrBaseline) {
			r.count.Baseline++
		}
		return 0, err
	}
	r.apply(t)
	return t, nil
}

func (r *Receiver) parse(t Tick) error {
	r.gone, r.records, r.words, r.spans, r.opened = r.gone[:0], r.records[:0], r.words[:0], r.spans[:0], 0
	in := &r.in
	r.complete, r.ownWhole = in.Bool(), in.Bool()
	r.usual = in.Golomb()
	if t == 0 || in.bad || (r.newest != 0 && t-r.newest > 1<<30 && r.newest-t > 1<<30) {
		return malformed("header")
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
	return nil
}

// next reads a wire id later than the one before.
func (r *Receiver) next(at WireID) (WireID, bool) {
	gap := uint64(r.in.Golomb())
	w := uint64(at) + gap + 1
	return WireID(w), w <= maxWire && !r.in.bad
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
		w, ok := r.next(at)
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
	at := WireID(0)
	var load spawnLoad
	for r.in.Bool() {
		w, ok := r.next(at)
		if !ok || !r.page(w, at) {
			return malformed("wire id")
		}
		slot := r.slot(w)
		rec := record{wire: w, full: r.in.Bool()}
		var err error
		if rec.full {
			err = r.parseFull(&rec, slot, t)
			fresh := slot == nil || slot.ghost == nil || slot.ghost.Born != rec.born
			if !load.add(&candidate{spawn: fresh, words: rec.upto - rec.from}) {
				return malformed("too many spawns")
			}
		} else {
			err = r.parseDelta(&rec, slot, t)
		}
		if err != nil {
			return err
		}
		if r.in.bad {
			return malformed("record")
		}
		r.records = append(r.records, rec)
		at = w
	}
	return nil
}

func (r *Receiver) parseFull(rec *record, slot *wireSlot, t Tick) error {
	in := &r.in
	if len(r.reg.kinds) == 0 {
		return malformed("kind")
	}
	rec.kind = int(in.Read(bits.Len(uint(len(r.reg.kinds) - 1))))
	if rec.kind >= len(r.reg.kinds) {
		return malformed("kind")
	}
	rec.mine = in.Bool()
	if rec.mine || in.Bool() {
		if rec.owner = uint16(in.Read(16)); rec.owner == 0 {
			return malformed("owner")
		}
	}
	d := in.Golomb()
	if d > maxBack || d >= t || in.bad {
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
		} else if g != nil && g.Kind != rec.kind {
			return malformed("an entity changes its kind")
		}
		rec.stale = rec.stale || (slot.gone != 0 && !after(rec.born, slot.gone) && (slot.ghost == nil || slot.ghost.Born != rec.born))
	}
	k, a := &r.reg.kinds[rec.kind], rec.audience()
	if !r.parseMask(rec, r.reg.visibleMask(k.mask, a)) {
		return malformed("components")
	}
	return r.parseBody(rec, k.mask, k.words[a])
}

func (rec *record) audience() audience {
	if rec.mine {
		return audienceOwner
	}
	return audiencePublic
}

func (r *Receiver) parseDelta(rec *record, slot *wireSlot, t Tick) error {
	d := r.usual
	if !r.in.Bool() {
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
	if i < 0 {
		return ErrBaseline
	}
	v := &g.vers[i]
	rec.kind, rec.born, rec.mine, rec.owner = g.Kind, g.Born, v.mine, v.owner
	if !r.parseMask(rec, v.mask) {
		return malformed("components")
	}
	return r.parseBody(rec, v.mask, g.lane(i))
}

func (r *Receiver) parseMask(rec *record, usual uint64) bool {
	rec.mask = usual
	if r.in.Bool() {
		rec.mask = r.in.Read(len(r.reg.comps))
		// Components of which the viewer receives nothing are not its business.
		return !r.in.bad && rec.mask == r.reg.visibleMask(rec.mask, rec.audience())
	}
	return !r.in.bad
}

// parseBody reads the components of a record into the scratch words.
func (r *Receiver) parseBody(rec *record, baseMask uint64, base []int32) error {
	rec.from = len(r.words)
	n := r.reg.wordsOf(rec.mask)
	r.words = slices.Grow(r.words, n)[:rec.from+n]
	rec.upto = rec.from + n
	off, a := rec.from, rec.audience()
	for m := rec.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c := r.reg.comps[i]
		from := r.reg.component(baseMask, base, i)
		if from == nil {
			from = c.zero[a]
		}
		to := r.words[off : off+c.words]
		copy(to, from)
		off += c.words
		if len(c.codes[a]) > 0 && r.in.Bool() {
			for j := range c.codes[a] {
				if k := &c.codes[a][j]; r.in.Bool() && !r.parseWord(k, to) {
					return malformed("value of " + c.name)
				}
			}
		}
		if r.in.bad {
			return malformed("length")
		}
	}
	return nil
}

func (r *Receiver) parseWord(k *wordCode, to []int32) (ok bool) {
	if k.kind == wordRef {
		to[k.word] = int32(r.in.Read(16))
		return true
	}
	to[k.word], ok = k.apply(to[k.word], k.read(&r.in))
	return ok
}

func (r *Receiver) parseSpans() error {
	n, at := r.in.Golomb(), uint32(0)
	if n > maxWire || int(n) > r.in.Left() {
		return malformed("number of postponed runs")
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
