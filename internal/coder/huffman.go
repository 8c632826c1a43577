package coder

import (
	"math/bits"
	"slices"
)

// Values are coded with static Huffman codes (D. A. Huffman, 1952), which a table lookup decodes. Codes are
// canonical: their lengths determine them.

const (
	maxCode  = 11 // bits of the longest code
	maxBooks = 48
)

// book is one code.
type book struct {
	// lengths has the code length of each symbol. 0 means that the symbol has no code and is escaped.
	lengths [symbols]uint8
	codes   [symbols]uint16 // codes has code<<4 | length of each symbol, with the first bit lowest.
	decode  [1 << maxCode]uint16
}

// build makes the codes and the decoding table from the lengths. It returns false if they are not a complete
// code with an escape.
func (b *book) build() bool {
	var count [maxCode + 1]int
	space := 0
	for _, n := range b.lengths {
		if n > maxCode {
			return false
		}
		count[n]++
		if n > 0 {
			space += 1 << (maxCode - n)
		}
	}
	if space != 1<<maxCode || b.lengths[symEscape] == 0 {
		return false
	}
	var next [maxCode + 1]int
	code := 0
	for n := 1; n <= maxCode; n++ {
		if n > 1 {
			code = (code + count[n-1]) << 1
		}
		next[n] = code
	}
	for s, n := range b.lengths {
		if n == 0 {
			b.codes[s] = 0
			continue
		}
		c := bits.Reverse16(uint16(next[n])) >> (16 - n)
		next[n]++
		b.codes[s] = c<<4 | uint16(n)
		for i := int(c); i < 1<<maxCode; i += 1 << n {
			b.decode[i] = uint16(s)<<4 | uint16(n)
		}
	}
	return true
}

// learn computes the code lengths for counts of symbols by package-merge (Larmore and
// Hirschberg, 1990), none longer than maxCode. Rare symbols are left to the escape,
// except zero if zero is set.
func (b *book) learn(counts *[symbols]float64, zero bool) {
	type packet struct {
		weight float64
		syms   []uint8
	}
	var leaves []packet
	total := 0.0
	for _, n := range counts {
		total += n
	}
	escaped := 0.0
	for s, n := range counts {
		// An escape takes some 16 bits more than a code would.
		if s != symEscape && n > 0 && n >= total/(1<<(maxCode+2)) || s == symZero && zero {
			leaves = append(leaves, packet{n, []uint8{uint8(s)}})
		} else {
			escaped += n
		}
	}
	leaves = append(leaves, packet{max(escaped, total/4096, 1e-9), []uint8{symEscape}})
	if len(leaves) == 1 { // a code needs two symbols
		leaves = append(leaves, packet{1e-9, []uint8{0}})
	}
	order := func(a, b packet) int {
		if a.weight < b.weight {
			return -1
		} else if a.weight > b.weight {
			return 1
		}
		return slices.Compare(a.syms, b.syms)
	}
	slices.SortFunc(leaves, order)
	b.lengths = [symbols]uint8{}
	row := leaves
	for range maxCode - 1 {
		var pairs []packet
		for i := 0; i+1 < len(row); i += 2 {
			pairs = append(pairs, packet{row[i].weight + row[i+1].weight, append(slices.Clone(row[i].syms), row[i+1].syms...)})
		}
		row = append(pairs, leaves...)
		slices.SortStableFunc(row, order)
	}
	for _, p := range row[:2*len(leaves)-2] {
		for _, s := range p.syms {
			b.lengths[s]++
		}
	}
}
