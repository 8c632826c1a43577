package coder

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Tables are what both ends know of values before any is sent. They never change.
type Tables struct {
	probs   [contexts]uint16 // probs has the probability of a 0 in each context, of 4096.
	weights [sorts][motionRows]weights
	bookOf  [valueContexts]uint8
	books   []book
	values  [valueContexts]valueCode
	codes   [][64]uint16             // codes has the codes of the books: see shorten.
	short   [][1 << shortCode]uint32 // short has the codes by the next bits: see shorten.
	Costs   [contexts][2]uint16
	Hash    uint64
}

// weights continue a motion: the shares of velocity and acceleration, in 1/4096.
type weights [2]int16

// valueCode is the coding of a value in its context.
type valueCode struct {
	// zero is the probability that the value is not 0, of 4096. 0 means that 0 has a symbol, and no flag.
	zero uint16
	book uint16
}

const (
	tablesVersion = 3
	weightOne     = 4096
	packedBook    = (symbols + 1) / 2
	fixedTables   = 1 + 2*contexts + 4*sorts*motionRows + valueContexts + 1
)

// flaglessLeast is the least probability of a difference other than 0, of 4096, for 0
// to be a symbol among others. A symbol costs at least a bit, but less time than a
// flag.
const flaglessLeast = 1638

// flagless reports whether 0 is a symbol in a value context, of scalars that move.
func (t *Tables) flagless(i int) bool {
	return i < motionRows*surprises && i/surprises != rowHold && t.probs[ctxZero+i] >= flaglessLeast
}

// Bytes returns the tables as bytes for [ParseTables].
func (t *Tables) Bytes() []byte {
	b := []byte{tablesVersion}
	for _, p := range t.probs {
		b = binary.LittleEndian.AppendUint16(b, p)
	}
	for s := range t.weights {
		for _, w := range t.weights[s] {
			b = binary.LittleEndian.AppendUint16(b, uint16(w[0]))
			b = binary.LittleEndian.AppendUint16(b, uint16(w[1]))
		}
	}
	b = append(b, t.bookOf[:]...)
	b = append(b, byte(len(t.books)))
	for i := range t.books {
		var packed [packedBook]byte
		for s, n := range t.books[i].lengths {
			packed[s/2] |= n << (4 * uint(s&1))
		}
		b = append(b, packed[:]...)
	}
	return b
}

// ParseTables reads the bytes of [Tables.Bytes].
func ParseTables(b []byte) (*Tables, error) {
	if len(b) < fixedTables || b[0] != tablesVersion || len(b) != fixedTables+int(b[fixedTables-1])*packedBook {
		return nil, fmt.Errorf("%d bytes are no tables of version %d: learn them again with this version", len(b), tablesVersion)
	}
	t := &Tables{}
	h := fnv.New64a()
	_, _ = h.Write(b)
	t.Hash = h.Sum64()
	b = b[1:]
	for i := range t.probs {
		p := binary.LittleEndian.Uint16(b)
		if p == 0 || p >= probOne {
			return nil, fmt.Errorf("table entry %d is %d: it must lie between 1 and %d", i, p, probOne-1)
		}
		t.probs[i] = p
		t.Costs[i] = [2]uint16{uint16(flagCost(uint32(p))), uint16(flagCost(probOne - uint32(p)))}
		b = b[2:]
	}
	for s := range t.weights {
		for r := range t.weights[s] {
			t.weights[s][r] = weights{int16(binary.LittleEndian.Uint16(b)), int16(binary.LittleEndian.Uint16(b[2:]))}
			b = b[4:]
		}
	}
	copy(t.bookOf[:], b)
	t.books = make([]book, b[valueContexts])
	for i, k := range t.bookOf {
		if int(k) >= len(t.books) {
			return nil, fmt.Errorf("value context %d has code %d of %d", i, k, len(t.books))
		}
	}
	b = b[valueContexts+1:]
	for i := range t.books {
		for s := range t.books[i].lengths {
			t.books[i].lengths[s] = b[s/2] >> (4 * uint(s&1)) & 15
		}
		if !t.books[i].build() {
			return nil, fmt.Errorf("code %d of the tables is not complete", i)
		}
		b = b[packedBook:]
	}
	for i, k := range t.bookOf {
		if t.flagless(i) && t.books[k].lengths[symZero] == 0 {
			return nil, fmt.Errorf("value context %d has no flag for 0, and code %d no symbol", i, k)
		}
	}
	t.shorten()
	return t, nil
}

// shortCode is the number of bits looked up at once. Nearly all codes are shorter.
const shortCode = 8

// shorten builds fast lookups from the books. A code's place is twice the number of its
// magnitude (0 for 0), plus one if it points against the motion.
//
// A short code's entry has its length in the lowest bits. From bit 4 it has the number
// of bits after the code, at bit 8 whether it points against the motion, and from bit
// 16 the least magnitude. An entry of 0 means a longer code, or the escape.
func (t *Tables) shorten() {
	for i := range t.values {
		t.values[i] = valueCode{t.probs[ctxZero+i], uint16(t.bookOf[i])}
		if t.flagless(i) {
			t.values[i].zero = 0
		}
	}
	t.codes, t.short = make([][64]uint16, len(t.books)), make([][1 << shortCode]uint32, len(t.books))
	for i := range t.books {
		b := &t.books[i]
		t.codes[i][0], t.codes[i][1] = b.codes[symZero], b.codes[symZero]
		copy(t.codes[i][2:], b.codes[:symEscape])
		for k := range t.short[i] {
			e := t.books[i].decode[k]
			sym := int(e >> 4)
			switch {
			case e&15 > shortCode || sym == symEscape:
			case sym == symZero:
				t.short[i][k] = uint32(e & 15)
			default:
				m, extra := unsplit(sym)
				t.short[i][k] = uint32(e&15) | uint32(extra)<<4 | uint32(sym&1)<<8 | m<<16
			}
		}
	}
}

// Describe names the tables by a hash.
func (t *Tables) Describe() string { return fmt.Sprintf("tables %d %016x\n", tablesVersion, t.Hash) }
