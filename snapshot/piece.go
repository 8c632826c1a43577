package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/plan"
)

// A record that is longer than a packet is sent in pieces:
//
//  1. The sender pins it: it codes the value of this tick as a full record, cut into pieces.
//     A cut is between two components, or between two units of one.
//  2. Snapshots carry the pieces. Each is sent until a snapshot with it was delivered.
//  3. The receiver keeps the words until it has all pieces. Then it has the value of the
//     pinned tick, and the entity appears or changes.
//  4. The sender knows the same once all pieces were delivered. Later records are
//     differences from the pinned value.
//
// Until then the entity has no other records, and each snapshot lists it as postponed.
//
// The units of all components that the viewer receives, one component after another, are
// numbered. A piece holds those from a number on. Elements from a slice's length on count,
// and are not written. A piece that begins within a slice repeats the slice's length, so it
// can be read without the others.

// MaxRecord is the size in bytes of the longest record that is sent.
const MaxRecord = 16 << 10

const (
	piecesMark = maxLeaving + 1 // is added to the number of removals: pieces follow the records
	maxPieces  = 64             // of one record in one snapshot
	maxInParts = 4              // records that a sender has in pieces at once
	maxRooms   = 2 * maxInParts // records that a receiver keeps in pieces: some may be given up
	pieceBits  = 8 * 192        // a piece ends with the unit that makes it that long
)

// pieceHead is what each piece takes besides its units, in bits: more than it nearly ever is.
const pieceHead = 160

// RecordBytes returns the size in bytes of a record in pieces, from the bits of its units. It
// is at most [MaxRecord] for a record that can be sent.
func RecordBytes(units int) int { return (units + (units/pieceBits+1)*pieceHead + 7) / 8 }

// sliceUnits is a slice among the units of its component: at is the unit of its length, and
// end the one behind its last element. at is −1 for none.
type sliceUnits struct {
	at, end, each int // each: units of an element
	list          *plan.List
}

// unitsHeld is the unit behind the last element below the slice's length.
func (s *sliceUnits) unitsHeld(words []int32) int { return s.at + 1 + s.list.Length(words)*s.each }

// sliceOf returns the slice whose length is unit i.
func sliceOf(c *plan.Plan, coded *plan.Coding, i int) sliceUnits {
	n := -1 - coded.Units[i].Vec
	l, x := &c.Lists[n], coded.Extents[n]
	return sliceUnits{i, i + 1 + l.Most*x.Units, x.Units, l}
}

// sliceAround returns the slice that unit k is an element of.
func sliceAround(c *plan.Plan, coded *plan.Coding, k int) sliceUnits {
	for i := 0; i < k; {
		if coded.Units[i].Sort != coder.SortLength {
			i++
			continue
		}
		s := sliceOf(c, coded, i)
		if k < s.end {
			return s
		}
		i = s.end
	}
	return sliceUnits{at: -1}
}

// pieceUnits writes the units of a component from k on, until the piece is full. It returns
// the unit behind them.
func (r *recordWriter) pieceUnits(c *plan.Plan, coded *plan.Coding, k int, b *coder.Baselines, words []int32, full func() bool) int {
	past, in := coder.Unsurprised, sliceAround(c, coded, k)
	if in.at >= 0 {
		past = r.Scalar(&coded.Codes[coded.Units[in.at].From], b, words, past)
	}
	for first := true; k < len(coded.Units) && (first || !full()); first = false {
		if u := &coded.Units[k]; u.Sort == coder.SortLength {
			past = r.Scalar(&coded.Codes[u.From], b, words, past)
			in = sliceOf(c, coded, k)
		} else {
			past = r.units(c, coded, k, k+1, b, words, past)
		}
		if k++; in.at >= 0 && k >= in.unitsHeld(words) {
			for ; k < in.end; k++ {
				if coded.Units[k].Sort == coder.SortRef {
					r.ref++
				}
			}
			in.at = -1
		}
	}
	return k
}

// pieceUnits is the inverse of recordWriter.pieceUnits. It reads the units from k up to end.
func (r *Receiver) pieceUnits(c *plan.Plan, a plan.Audience, k, end int, b *coder.Baselines, to []int32) (ok bool) {
	coded, past := c.Coding(a), coder.Unsurprised
	in := sliceAround(c, coded, k)
	if in.at >= 0 {
		if past, ok = r.in.Scalar(&coded.Codes[coded.Units[in.at].From], b, to, past); !ok {
			return false
		}
	}
	for k < end {
		if u := &coded.Units[k]; u.Sort == coder.SortLength {
			past, ok = r.in.Scalar(&coded.Codes[u.From], b, to, past)
			in = sliceOf(c, coded, k)
		} else {
			past, ok = r.units(c, a, k, k+1, b, to, past)
		}
		if !ok || r.in.Bad {
			return false
		}
		if k++; in.at >= 0 && k >= in.unitsHeld(to) {
			k, in.at = in.end, -1
		}
	}
	return true
}

// pieceLoad returns what a piece of n units counts towards maxRead, for a snapshot's pieces
// together: very many units may take next to no bytes. units is how many the record has.
func pieceLoad(n, units int) int { return n + units/8 }

// countUnits returns the number of units of the components of a mask, for an audience.
func countUnits(reg *plan.Registry, mask plan.Mask, a plan.Audience) (n int) {
	for i, c := range reg.Comps {
		if mask.Has(i) {
			n += len(c.Coding(a).Units)
		}
	}
	return n
}
