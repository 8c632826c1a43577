package snapshot

import (
	"slices"

	"github.com/foretick/foretick/internal/coder"
)

// pickFirst picks pieces before records are chosen, so that records cannot starve pieces. The pieces take up to
// half of the budget. After pieceWait snapshots without a piece, one piece of each record may exceed the
// budget, within the room. pickFirst returns the bits that the pieces take.
func (s *Sender) pickFirst(room, budget int) int {
	c := s.cut
	if len(c.open) == 0 {
		c.waits = 0
		return 0
	}
	if c.waits++; c.waits <= pieceWait {
		return s.pickPieces(budget/2, maxPieces)
	}
	return s.pickPieces(room, 1)
}

// pickPieces adds up to most pieces of each record to the snapshot at hand, within a number of
// bits. It returns the bits that they take.
func (s *Sender) pickPieces(left, most int) int {
	c, used := s.cut, 0
	if s.picked == 0 {
		used, s.load = piecesBits, 0
	}
	for _, x := range c.open {
		head := 0
		if x.picked == 0 {
			head = coder.GolombBits(uint32(x.wire)) + coder.GolombBits(s.src.tick-x.tick) + coder.GolombBits(maxPieces)
		}
		for i := range x.pieces {
			p := &x.pieces[i]
			if p.state == pieceFlies && s.sent.seq-p.sent >= resendPiece {
				p.state = pieceWaits
			}
			if p.state != pieceWaits || x.picked >= most {
				continue
			}
			load := pieceLoad(int(p.n), x.units)
			if used+head+p.bits() > left || s.load+load > maxRead*3/4 {
				break
			}
			s.load += load
			used += head + p.bits()
			p.state, head = piecePicked, 0
			x.picked++
			s.picked++
		}
	}
	if s.picked == 0 {
		return 0
	}
	return used
}

// piecesBits is the number of bits that the list of pieces takes besides the pieces.
const piecesBits = 10 + 7

// writePieces writes the pieces that were picked.
func (s *Sender) writePieces(rec *Sent) {
	if s.picked == 0 {
		return
	}
	h, c, n := &s.head, s.cut, uint32(0)
	for _, x := range c.open {
		if x.picked > 0 {
			n++
		}
	}
	h.Bits.Golomb(n - 1)
	for _, x := range c.open {
		if x.picked == 0 {
			continue
		}
		h.Bits.Golomb(uint32(x.wire - 1))
		h.Bits.Golomb(s.src.tick - x.tick)
		h.Bits.Golomb(uint32(x.picked - 1))
		for i := range x.pieces {
			p := &x.pieces[i]
			if p.state != piecePicked {
				continue
			}
			h.Bits.Golomb(uint32(p.from))
			h.Bits.Golomb(uint32(p.n - 1))
			h.Flags.Next()
			h.Flags.Groups = append(h.Flags.Groups, x.code.Flags.Groups[p.at.From:p.at.From+p.at.M]...)
			h.Bits.Splice(x.code.Bits.Buf, int(p.at.Pos), int(p.at.N))
			p.state, p.sent = pieceFlies, s.sent.seq
			rec.pieces = append(rec.pieces, sentPiece{x.serial, int32(i)})
			s.count.Pieces++
		}
		s.told.add(x.wire)
		x.picked = 0
	}
	c.waits = 0
}

// settlePieces notes whether the pieces of a snapshot were delivered.
func (s *Sender) settlePieces(rec *Sent, delivered bool) {
	if s.cut == nil {
		return
	}
	for _, p := range rec.pieces {
		k := slices.IndexFunc(s.cut.open, func(x *pinned) bool { return x.serial == p.serial })
		if k < 0 {
			continue
		}
		x := s.cut.open[k]
		switch it := &x.pieces[p.i]; {
		case it.state == pieceHeld:
		case delivered:
			it.state = pieceHeld
			if x.left--; x.left == 0 {
				s.cut.open = slices.Delete(s.cut.open, k, k+1)
				s.complete(x)
				s.cut.spare = append(s.cut.spare, x)
			}
		case it.sent == rec.seq && it.state == pieceFlies:
			it.state = pieceWaits
		}
	}
}

// complete notes that the viewer has all pieces of a record.
func (s *Sender) complete(x *pinned) {
	w := x.wire
	if !s.live.has(w) {
		return
	}
	s.cut.out.drop(w)
	if !s.stands(x) {
		return
	}
	s.cut.pins.add(w)
	s.cut.known[w], s.from[w], s.gained[w] = x.tick, x.tick, 0
	if !s.held.has(w) {
		s.held.add(w)
		s.mapEpoch++
	}
	slot := s.slots[w]
	h := &s.src.hot[slot]
	s.dirty.put(w, h.id != s.shown[w].id || after(s.src.newestChange(slot, h, s.auds[w]), x.tick))
}
