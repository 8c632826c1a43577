package snapshot

import (
	"slices"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// room is a record of which some pieces were read.
type room struct {
	rec  record // rec has words that belong to the room.
	tick schema.Tick
	got  []uint64 // got has a bit for each unit that was read.
	left int      // left counts the units that were not read.
	seen uint64   // seen is the number of snapshots applied when the newest piece was read.
}

func (m *room) complete() bool { return m.left == 0 }

// parsePieces reads the pieces of a snapshot. They are kept even if the snapshot is refused later: nothing is
// shown before a whole record is there.
func (r *Receiver) parsePieces(t schema.Tick) error {
	records := r.in.Golomb()
	if records >= maxRooms {
		return malformed("number of records in pieces")
	}
	for range records + 1 {
		w, d, n := uint64(r.in.Golomb())+1, r.in.Golomb(), r.in.Golomb()
		if r.in.Bad || w > maxWire || d > maxBack || d >= t || n >= maxPieces || !r.page(schema.WireID(w), 0) {
			return malformed("record in pieces")
		}
		for range n + 1 {
			r.fault = schema.WireID(w)
			r.in.Flags.Next()
			if err := r.parsePiece(schema.WireID(w), t-d); err != nil {
				return err
			}
			r.in.Flags.Next()
			r.fault = 0
		}
	}
	return nil
}

// parsePiece reads one piece of a wire id's record that was pinned in a tick.
func (r *Receiver) parsePiece(w schema.WireID, pin schema.Tick) error {
	from, n := uint64(r.in.Golomb()), uint64(r.in.Golomb())+1
	r.in.Flags.Next()
	rec, slot := record{wire: w, full: true}, r.wireSlot(w)
	base, err := r.parseHead(&rec, slot, pin)
	if err != nil {
		return err
	}
	units := countUnits(r.reg, rec.mask, rec.aud)
	if r.in.Bad || from+n > uint64(units) {
		return malformed("piece")
	}
	if r.load.parts += pieceLoad(int(n), units); r.load.parts > maxRead {
		return malformed("too many pieces")
	}
	m, err := r.roomFor(&rec, slot, pin, units)
	if err != nil {
		return err
	}
	words, packs := rec.words, [3]quantise.Mask{r.reg.Prefabs[rec.prefab].Mask}
	if m != nil {
		words = m.rec.words
	}
	if m == nil || m.left == units {
		r.fillDefaults(&rec, words, &base, &packs)
	}
	at, off := 0, 0
	for i := rec.mask.Next(0); i >= 0; i = rec.mask.Next(i + 1) {
		c := r.reg.Comps[i]
		all := len(c.Coding(rec.aud).Units)
		lo, hi := max(int(from)-at, 0), min(int(from+n)-at, all)
		if lo < hi {
			b := r.reg.BaseOf(&base, &packs, i, rec.aud)
			if !r.pieceUnits(c, rec.aud, lo, hi, &b, words[off:off+c.Words]) {
				return malformed("value of " + c.Name)
			}
		}
		at, off = at+all, off+c.Words
	}
	if r.in.Bad {
		return malformed("length")
	}
	if m != nil {
		m.noteUnits(int(from), int(n))
		m.seen = r.count.Snapshots
	}
	return nil
}

// noteUnits notes n units as read.
func (m *room) noteUnits(from, n int) {
	for i := from; i < from+n; i++ {
		if bit := uint64(1) << (i & 63); m.got[i>>6]&bit == 0 {
			m.got[i>>6] |= bit
			m.left--
		}
	}
}

// fillDefaults sets the words of a record to those of its baseline.
func (r *Receiver) fillDefaults(rec *record, words []int32, base *coder.Baselines, packs *[3]quantise.Mask) {
	off := 0
	for i := rec.mask.Next(0); i >= 0; i = rec.mask.Next(i + 1) {
		c := r.reg.Comps[i]
		b := r.reg.BaseOf(base, packs, i, rec.aud)
		copy(words[off:off+c.Words], b.Words[0])
		c.Hide(words[off:off+c.Words], rec.aud)
		off += c.Words
	}
}

// roomFor returns the room of a record, which may be new. If the record is of no use, it returns nil and sets
// rec.words to memory that the piece can be read into. A record is of no use if it was completed, if it is of a
// former life of the wire id, or if a later record of the wire id is being read.
func (r *Receiver) roomFor(rec *record, slot *wireSlot, pin schema.Tick, units int) (*room, error) {
	n := r.reg.WordsOf(rec.mask)
	i := slices.IndexFunc(r.rooms, func(m *room) bool { return m.rec.wire == rec.wire })
	useless := rec.stale || slot != nil && slot.ghost != nil && slot.ghost.Born == rec.born && slot.ghost.exact(pin) >= 0
	if i >= 0 {
		m := r.rooms[i]
		switch {
		case m.tick == pin && !useless:
			if o := &m.rec; o.prefab != rec.prefab || o.aud != rec.aud || o.owner != rec.owner || o.jumps != rec.jumps || o.born != rec.born || !o.mask.Equal(rec.mask) {
				return nil, malformed("pieces of one record differ")
			}
			return m, nil
		case after(m.tick, pin):
			useless = true
		case !useless:
			r.closeRoom(i)
		}
	}
	if useless {
		if n > cap(r.waste) && !r.spend(4*n) {
			return nil, ErrHeavy
		}
		if r.load.parts += n; r.load.parts > maxRead {
			return nil, malformed("too many pieces")
		}
		r.waste = slices.Grow(r.waste[:0], n)[:n]
		rec.words = r.waste
		return nil, nil
	}
	m := &room{}
	if k := len(r.spareRooms); k > 0 {
		m, r.spareRooms = r.spareRooms[k-1], r.spareRooms[:k-1]
	}
	parts := (units + 63) / 64
	if need := 4*max(0, n-cap(m.rec.words)) + 8*max(0, parts-cap(m.got)); need > 0 && !r.spend(need) {
		r.spareRooms = append(r.spareRooms, m)
		return nil, ErrHeavy
	}
	words, got := slices.Grow(m.rec.words[:0], n)[:n], slices.Grow(m.got[:0], parts)[:parts]
	clear(got)
	*m = room{rec: *rec, tick: pin, got: got, left: units}
	m.rec.words = words
	r.makeRoom(n)
	r.rooms = append(r.rooms, m)
	return m, nil
}

// makeRoom gives up records in pieces until there is room for one more of n words. Those whose newest piece is
// oldest go first.
func (r *Receiver) makeRoom(n int) {
	for len(r.rooms) > 0 {
		words, oldest := n, 0
		for i, m := range r.rooms {
			words += len(m.rec.words)
			if m.seen < r.rooms[oldest].seen {
				oldest = i
			}
		}
		if len(r.rooms) < maxRooms && words <= maxRead {
			return
		}
		r.closeRoom(oldest)
	}
}

func (r *Receiver) closeRoom(i int) {
	r.spareRooms = append(r.spareRooms, r.rooms[i])
	r.rooms = slices.Delete(r.rooms, i, i+1)
	if len(r.spareRooms) > maxRooms {
		r.spareRooms = r.spareRooms[1:]
	}
}

// reserveRooms allocates the memory to apply the records that are whole.
func (r *Receiver) reserveRooms() bool {
	for _, m := range r.rooms {
		if !m.complete() {
			continue
		}
		slot := r.wireSlot(m.rec.wire)
		fresh := slot == nil || slot.ghost == nil || slot.ghost.Born != m.rec.born
		if fresh {
			r.load.n++
		}
		if !r.reserve(slot, fresh, len(m.rec.words)) {
			return false
		}
		r.wholes++
	}
	return true
}

// applyRooms applies the records that are whole.
func (r *Receiver) applyRooms() {
	for i := 0; i < len(r.rooms); {
		m := r.rooms[i]
		rec := &m.rec
		if !m.complete() {
			i++
			continue
		}
		if err := rec.judgeLife(r.wireSlot(rec.wire)); err == nil && !rec.stale {
			r.blankSlices(rec)
			r.applyRecord(rec, m.tick)
		}
		r.closeRoom(i)
	}
	for i := range r.spawned { // an insertion sort, as few are out of order
		for k := i; k > 0 && compareGhosts(r.spawned[k-1], r.spawned[k]) > 0; k-- {
			r.spawned[k-1], r.spawned[k] = r.spawned[k], r.spawned[k-1]
		}
	}
}

// blankSlices sets the elements beyond each slice's length to zero values, because the defaults may be longer.
func (r *Receiver) blankSlices(rec *record) {
	off := 0
	for k := rec.mask.Next(0); k >= 0; k = rec.mask.Next(k + 1) {
		c := r.reg.Comps[k]
		words := rec.words[off : off+c.Words]
		for i := range c.Lists {
			if l := &c.Lists[i]; c.CodedFor(l.Word-1, rec.aud) {
				c.BlankFrom(l, l.Length(words), l.Most, rec.aud, words)
			}
		}
		off += c.Words
	}
}

// dropRooms gives up the pieces of a wire id's life that ended in a tick.
func (r *Receiver) dropRooms(w schema.WireID, gone schema.Tick) {
	for i := 0; i < len(r.rooms); {
		if m := r.rooms[i]; m.rec.wire == w && !after(m.rec.born, gone) {
			r.closeRoom(i)
		} else {
			i++
		}
	}
}
