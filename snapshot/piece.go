package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// A record that is longer than a packet is sent in pieces:
//
// 1. The sender pins it: it codes the value of this tick as a full record, cut into pieces. A cut is between
// two components, or between two units of one. 2. Snapshots carry the pieces. Each is sent until a snapshot
// with it was delivered. 3. The receiver keeps the words until it has all pieces. Then it has the value of the
// pinned tick, and the entity appears or changes. 4. The sender knows the same once all pieces were delivered.
// Later records are differences from the pinned value.
//
// Until then the entity has no other records, and each snapshot lists it as postponed.
//
// The units of all components that the viewer receives, one component after another, are numbered. A piece
// holds consecutive units, from a number on. Elements beyond a slice's length are numbered too, but not
// written. A piece that begins within a slice repeats the slice's length, so it can be read without the others.

// MaxRecord is the size in bytes of the longest record that is sent.
const MaxRecord = 16 << 10

const (
	piecesMark = maxLeaving + 1 // added to the number of removals if pieces follow the records
	maxPieces  = 64             // pieces of one record in one snapshot
	maxInParts = 4              // records that a sender has in pieces at once
	// records that a receiver keeps in pieces: the sender may have given up some of them
	maxRooms  = 2 * maxInParts
	pieceBits = 8 * 192 // size at which a piece ends: the unit that reaches it is the last
)

// pieceHead is an estimate of the bits that a piece takes besides its units. It is nearly always too high.
const pieceHead = 160

// RecordBytes returns the size in bytes of a record in pieces, from the bits of its units. It
// is at most [MaxRecord] for a record that can be sent.
func RecordBytes(units int) int { return (units + (units/pieceBits+1)*pieceHead + 7) / 8 }

// sliceUnits is a slice among the units of its component.
type sliceUnits struct {
	// at is the unit of the slice's length, or −1 if there is no slice. end is the unit after its last element.
	// each is the number of units of an element.
	at, end, each int
	list          *quantise.List
}

// unitsHeld returns the unit after the last element below the slice's length.
func (s *sliceUnits) unitsHeld(words []int32) int { return s.at + 1 + s.list.Length(words)*s.each }

// sliceOf returns the slice whose length is unit i.
func sliceOf(c *quantise.Plan, coded *quantise.Coding, i int) sliceUnits {
	n := -1 - coded.Units[i].Vec
	l, x := &c.Lists[n], coded.Extents[n]
	return sliceUnits{i, i + 1 + l.Most*x.Units, x.Units, l}
}

// sliceAround returns the slice that unit k is an element of.
func sliceAround(c *quantise.Plan, coded *quantise.Coding, k int) sliceUnits {
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

// pieceUnits writes the units of a component from k on, until the piece is full. It returns the unit after
// them.
func (r *recordWriter) pieceUnits(c *quantise.Plan, coded *quantise.Coding, k int, b *coder.Baselines, words []int32, full func() bool) int {
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
func (r *Receiver) pieceUnits(c *quantise.Plan, a quantise.Audience, k, end int, b *coder.Baselines, to []int32) (ok bool) {
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

// pieceLoad returns how much a piece of n units counts towards the limit maxRead for all pieces of a snapshot.
// The limit is needed because very many units may take next to no bytes. units is the number of units of the
// record.
func pieceLoad(n, units int) int { return n + units/8 }

// countUnits returns the number of units of the components of a mask, for an audience.
func countUnits(reg *quantise.Registry, mask quantise.Mask, a quantise.Audience) (n int) {
	for i, c := range reg.Comps {
		if mask.Has(i) {
			n += len(c.Coding(a).Units)
		}
	}
	return n
}
