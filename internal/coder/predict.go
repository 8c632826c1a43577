package coder

// rowOf returns the class of the expected error and the row of contexts.
func rowOf(hold, going int64) (h, row int) {
	h = historyClass(hold>>6 + going>>1)
	if going >= hold {
		return h, rowHold + h
	}
	return h, h
}

// rowOf returns the same with fewer baselines, from the size of the range.
func (c *Code) rowOf(n int) (h, row int) {
	return min(c.Size, historyClasses-1), rowDefault + 8*n + min(c.Size>>2, 7)
}

// Bit reports whether a word can only be 0 or 1.
func (c *Code) Bit() bool { return c.Lo == 0 && c.Hi == 1 && c.Kind == Plain }

// bitContext returns the context of a word that is 0 or 1.
func (c *Code) bitContext(b *Baselines, s Surprise) int {
	v := b.Words[0][c.Word]
	row := rowBit + int(v&1)
	if b.N == 3 {
		row = bitRow(v, b.Words[1][c.Word])
	}
	return valueContext(SortScalar, row, s)
}

// bitRow returns the row of a word that is 0 or 1 with three baselines, from the newer two.
func bitRow(v, before int32) int {
	row := rowBit + 4 + int(v&1)
	if v != before {
		row += 2
	}
	return row
}

// valueContext returns the context of a value from its sort, its row, and the surprise
// so far.
func valueContext(sort, row int, s Surprise) int { return (sort*rows+row)*surprises + s.class() }

// guess is the prediction of a word.
type guess struct {
	value int32
	back  bool // back is true if the predicted motion is downwards.
	row   int
	class int // class is the class of the expected error.
}

// predict predicts a single word.
func (c *Code) predict(b *Baselines, s *Scales) guess {
	v := b.Words[0][c.Word]
	if b.N < 3 {
		h, row := c.rowOf(b.N)
		return guess{value: v, row: row, class: h}
	}
	newer := int64(c.Residual(b.Words[1][c.Word], v))
	older := int64(c.Residual(b.Words[2][c.Word], b.Words[1][c.Word]))
	if newer|older == 0 {
		return guess{value: v, row: rowHold}
	}
	hold, going := s.errors(newer, older)
	h, row := rowOf(hold, going)
	if h == 0 { // row 0 is for words at rest
		h, row = 1, row+1
	}
	m := &s.motion[SortScalar][row]
	move := newer*m[0] - older*m[1]
	return guess{c.moveBy(v, (move+1<<15)>>16), move < 0, row, h}
}

// predictVector predicts the words of a vector. They share one expected error.
func predictVector(codes []Code, b *Baselines, s *Scales, to []guess) {
	if b.N < 3 {
		for i := range codes {
			h, row := codes[i].rowOf(b.N)
			to[i] = guess{value: b.Words[0][codes[i].Word], row: row, class: h}
		}
		return
	}
	var newer, older [MaxVector]int64
	hold, going := int64(0), int64(0)
	for i := range codes {
		c := &codes[i]
		v := b.Words[1][c.Word]
		newer[i], older[i] = int64(c.Residual(v, b.Words[0][c.Word])), int64(c.Residual(b.Words[2][c.Word], v))
		x, y := s.errors(newer[i], older[i])
		hold, going = max(hold, x), max(going, y)
	}
	h, row := rowOf(hold, going)
	m := &s.motion[SortVector][row]
	for i := range codes {
		move := newer[i]*m[0] - older[i]*m[1]
		to[i] = guess{codes[i].within(b.Words[0][codes[i].Word], (move+1<<15)>>16), move < 0, row, h}
	}
}

// moveBy adds a movement to a value. It may lead out of the range.
func (c *Code) moveBy(v int32, d int64) int32 {
	switch c.Kind {
	case Angle:
		n := c.Hi - c.Lo + 1
		return int32((int64(v)+d-c.Lo)&(n-1) + c.Lo)
	case Float:
		return ordered(ordered(v) + int32(d))
	default:
		return v + int32(d)
	}
}

// within is moveBy limited to the range.
func (c *Code) within(v int32, d int64) int32 {
	if c.Kind == Plain && c.Lo <= c.Hi {
		return int32(min(max(int64(v)+d, c.Lo), c.Hi))
	}
	return c.moveBy(v, d)
}
