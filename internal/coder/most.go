package coder

// Most bounds the size in bits of units in a record against a prefab's defaults, whatever their values.
type Most struct{ t *Tables }

// Most returns the bounds for the tables.
func (t *Tables) Most() Most { return Most{t} }

// Unit returns the most bits that a unit takes. sort is its sort, and codes are its words.
func (m Most) Unit(sort int, codes []Code) int {
	var n int
	switch sort {
	case SortRef:
		return m.flags(CtxRef, CtxRef+1) + 16
	case SortText:
		most := textMost(codes)
		return m.flags(ctxUnit, ctxUnit+3) + 2*Width(0, int64(most)) + 1 + 8*most
	case SortVector:
		n = m.flags(ctxUnit, ctxUnit+3)
		for i := range codes {
			n += m.mostBits(SortVector, &codes[i])
		}
		return n
	case SortRotation:
		n = m.flags(ctxUnit+12, ctxUnit+15) + m.flags(ctxRank, ctxRanks) + 2*m.flags(ctxRanks, ctxStill)
		for i := range codes[1:] {
			n += m.mostBits(SortRotation, &codes[1+i])
		}
		return n
	}
	if codes[0].Bit() {
		return m.flags(ctxZero+rowBit*surprises, ctxZero+rows*surprises)
	}
	return m.mostBits(SortScalar, &codes[0])
}

// flags returns the most bits of a flag in one of the contexts from one up to another.
func (m Most) flags(from, to int) int {
	most := uint16(0)
	for _, c := range m.t.Costs[from:to] {
		most = max(most, c[0], c[1])
	}
	return int(most+255) / 256
}

// mostBits returns the most bits of a word's difference.
func (m Most) mostBits(sort int, k *Code) int {
	size := min(k.Size, 32)
	row := rowDefault + min(k.Size/4, 7)
	most := 0
	for ctx := (sort*rows + row) * surprises; ctx < (sort*rows+row+1)*surprises; ctx++ {
		lengths, bits := &m.t.books[m.t.bookOf[ctx]].lengths, 0
		escape := int(lengths[symEscape]) + 6 + size
		for sym := range symEscape {
			least, extra := unsplit(sym)
			switch n := int(lengths[sym]); {
			case uint64(least) >= 1<<size:
			case n == 0:
				bits = max(bits, escape)
			default:
				bits = max(bits, n+extra)
			}
		}
		if size > maxOctave {
			bits = max(bits, escape)
		}
		most = max(most, bits+m.flags(ctxZero+ctx, ctxZero+ctx+1))
	}
	return most
}
