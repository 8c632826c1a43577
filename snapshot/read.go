package snapshot

import (
	"encoding/binary"
	"errors"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// goneRecord is a removal as read.
type goneRecord struct {
	wire   schema.WireID
	hidden bool
	tick   schema.Tick
}

// Read applies one snapshot and returns its tick. b must be exactly what one Append
// appended. A snapshot older than the newest is kept as a baseline, and for At and
// Sample. A snapshot that was read before does nothing. On an error ([ErrHeavy],
// [ErrMalformed] or [ErrBaseline]) nothing at all is applied. Every claim in b is
// checked before it is used.
func (r *Receiver) Read(b []byte) (schema.Tick, error) {
	r.changes, r.fault = r.changes[:0], 0
	r.grantCredit(len(b))
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
	if r.counted.prof != nil {
		r.counted.addSnapshot(len(b))
	}
	r.applySnapshot(t)
	return t, nil
}

// split finds a snapshot's tick, flags and bits.
func (r *Receiver) split(b []byte) (schema.Tick, error) {
	t, b, ok := r.tickOf(b)
	if !ok {
		return 0, malformed("tick")
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return 0, malformed("length of the flags")
	}
	r.in.Tables, r.in.Scales = r.reg.Tables, &r.scale
	r.in.Flags.Reset(b[k : k+int(n)])
	r.in.Reset(b[k+int(n):])
	return t, nil
}

// TickOf returns the tick that a snapshot names, without reading the rest. It returns
// false if the tick cannot be read. Read accepts any tick. On a network where packets
// can be forged, refuse a tick that the server cannot have reached yet: otherwise it
// stays the newest until the server reaches it.
func (r *Receiver) TickOf(b []byte) (schema.Tick, bool) {
	t, _, ok := r.tickOf(b)
	return t, ok
}

// tickOf reads the tick. For a short one it returns the match nearest to the newest
// tick.
func (r *Receiver) tickOf(b []byte) (schema.Tick, []byte, bool) {
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

func (r *Receiver) parse(t schema.Tick) error {
	r.gone, r.order, r.spans, r.opened = r.gone[:0], r.order[:0], r.spans[:0], 0
	r.counted.parts = r.counted.parts[:0]
	r.records.reset()
	r.words.reset()
	r.load = spawnLoad{most: r.cfg.Spawns}
	in := &r.in
	r.complete, r.ownWhole = in.Flag(coder.CtxComplete), in.Flag(coder.CtxOwn)
	r.usual = [3]uint32{in.Golomb()}
	if r.usual[0] != 0 {
		if in.Flag(coder.CtxSteady) {
			r.usual[1], r.usual[2] = ordinaryGaps[1], ordinaryGaps[2]
		} else if r.usual[1] = uint32(in.Read(6)); r.usual[1] != 0 {
			r.usual[2] = uint32(in.Read(6))
		}
	}
	if t == 0 || in.Bad || r.usual[0] > maxBack || (r.usual[2] != 0 && r.usual[0] >= 64) || (r.newest != 0 && t-r.newest > 1<<30 && r.newest-t > 1<<30) {
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
	if r.pieces {
		prof := r.counted.prof
		r.counted.prof = nil // like a sender's profile, count pieces in the last line
		err := r.parsePieces(t)
		if r.counted.prof = prof; err != nil {
			return err
		}
	}
	if !r.complete {
		if err := r.parseSpans(); err != nil {
			return err
		}
	}
	if !in.End() {
		return malformed("length")
	}
	return r.prepare(t)
}

// later reads a gap, and returns the wire id that follows at by it.
func (r *Receiver) later(at schema.WireID) (schema.WireID, bool) {
	w := uint64(at) + uint64(r.in.Golomb()) + 1
	return schema.WireID(w), w <= maxWire && !r.in.Bad
}

// nextWire reads the wire id of the record that follows that of at.
func (r *Receiver) nextWire(at schema.WireID) (schema.WireID, bool) {
	if r.in.Flag(coder.CtxNext) {
		return at + 1, at < maxWire
	}
	to := uint64(at) + r.in.Gap() + 2
	return schema.WireID(to), to <= maxWire && !r.in.Bad
}

// page counts a new page of wire ids that a snapshot would open. It reports whether there are at most maxPages.
func (r *Receiver) page(w, last schema.WireID) bool {
	if r.pages[w/pageSlots] == nil && (last == 0 || last/pageSlots != w/pageSlots) {
		r.opened++
	}
	return r.opened <= maxPages
}

func (r *Receiver) parseGone(t schema.Tick) error {
	n, at := r.in.Golomb(), schema.WireID(0)
	if r.pieces = n >= piecesMark; r.pieces {
		n -= piecesMark
	}
	if n > maxLeaving {
		return malformed("number of removals")
	}
	for range n {
		w, ok := r.later(at)
		hidden := r.in.Bool()
		d := r.in.Golomb()
		if !ok || r.in.Bad || d > maxBack || d >= t || !r.page(w, at) {
			return malformed("removal")
		}
		r.gone = append(r.gone, goneRecord{w, hidden, t - d})
		at = w
	}
	return nil
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
		if r.in.Bad || to > maxWire {
			return malformed("postponed run")
		}
		r.spans = append(r.spans, span{schema.WireID(from), schema.WireID(to)})
		at = uint32(to)
	}
	return nil
}
