package snapshot

import (
	"math/bits"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

// Leaving returns the number of removals that are not acknowledged yet. An entity that was shown and is not
// known to have been received counts against a limit of 4096, even while its removal is not acknowledged. At
// the limit no more entities are shown until some are acknowledged.
func (s *Sender) Leaving() (n int) {
	for _, m := range s.away {
		n += bits.OnesCount64(m)
	}
	return n
}

// chooseLeaving chooses the removals to send and returns the room left. If there are too many for one snapshot,
// they take turns. The time it takes depends on the words of the set and the chosen removals, not on how many
// wait.
func (s *Sender) chooseLeaving(left int) int {
	s.runs = s.runs[:0]
	n, cursor := s.Leaving(), s.cursor
	var size int
	for most := min(n, maxLeaving); ; most = most * 3 / 4 {
		s.stuck = n > most
		s.cursor = s.pick(most, cursor)
		if size = s.leavingBits(); size <= left/2 || most <= 1 {
			break
		}
	}
	if size > max(left, 0) {
		s.stuck, s.cursor = true, s.pick(0, cursor)
		size = 0
	}
	return left - size
}

// pick chooses up to most removals, after the wire id cursor if there are more. It
// returns the last one.
func (s *Sender) pick(most int, cursor schema.WireID) schema.WireID {
	s.leaving = s.leaving[:0]
	clear(s.leaves)
	at := 0
	if s.stuck {
		at = int(cursor) + 1
	}
	for range most {
		w := nextWire(len(s.away), at, s.goes)
		if w < 0 {
			w = nextWire(len(s.away), 0, s.goes)
		}
		s.leaves.add(schema.WireID(w))
		if at = w + 1; s.stuck {
			cursor = schema.WireID(w)
		}
	}
	for i, m := range s.leaves {
		for ; m != 0; m &= m - 1 {
			s.leaving = append(s.leaving, schema.WireID(i<<6+bits.TrailingZeros64(m)))
		}
	}
	return cursor
}

// leavingBits returns the bits of the chosen removals, without their number.
func (s *Sender) leavingBits() int {
	n, at := 0, schema.WireID(0)
	for _, w := range s.leaving {
		n += coder.GolombBits(uint32(w-at-1)) + 1 + coder.GolombBits(min(s.src.tick-s.shown[w].gone, maxBack))
		at = w
	}
	return n
}

// goes returns a word of the set of removals that wait.
func (s *Sender) goes(i int) uint64 { return s.away[i] }

func (s *Sender) writeLeaving(w *coder.BitWriter, rec *Sent) {
	n := uint32(len(s.leaving))
	if s.picked > 0 {
		n += piecesMark
	}
	w.Golomb(n)
	at := schema.WireID(0)
	for _, wire := range s.leaving {
		g := &s.shown[wire]
		w.Golomb(uint32(wire - at - 1))
		w.Bool(g.hidden)
		w.Golomb(min(s.src.tick-g.gone, maxBack))
		at = wire
		rec.away = append(rec.away, removal{wire, g.life})
		s.count.Removals++
	}
}
