package snapshot

import "math/bits"

// baselines are the values that both ends hold of an entity, with the same
// components: the newest, and, if n is 3, two older ones.
type baselines struct {
	n          int // 0: the kind's defaults
	words      [3][]int32
	d1, d2, d3 int64 // how many ticks ago they were
}

// at narrows baselines to one component's words.
func (b *baselines) at(off, n int) baselines {
	c := *b
	for i := range max(b.n, 1) {
		c.words[i] = b.words[i][off : off+n]
	}
	return c
}

// componentContext is the context of the flag that a component changed. References
// do not count: they differ in meaning between the ends.
func (b *baselines) componentContext(codes []wordCode) int {
	switch {
	case b.n < 3:
		return ctxComponent + b.n
	case equalWords(codes, b.words[0], b.words[1]):
		return ctxComponent + 2 // at rest
	case equalWords(codes, b.words[1], b.words[2]):
		return ctxComponent + 3 // began to change
	}
	return ctxComponent + 4
}

func equalWords(codes []wordCode, a, b []int32) bool {
	for i := range codes {
		if k := &codes[i]; k.kind != wordRef && a[k.word] != b[k.word] {
			return false
		}
	}
	return true
}

// predict guesses a word: with three baselines, by that rule, to hold or to go on
// as before, that would have been right the last time; and it expects to be as
// wrong as it would have been then.
func (c *wordCode) predict(b *baselines) guess {
	v := b.words[0][c.word]
	if b.n < 3 {
		class := min(c.size/2, valueClasses-1)
		return guess{v, blockOf(min(b.n, 1), class), class}
	}
	d12 := int64(c.residual(b.words[1][c.word], v))
	d23 := int64(c.residual(b.words[2][c.word], b.words[1][c.word]))
	num, den := b.d1, b.d2-b.d1
	going := d12 - scale(d23, den, b.d3-b.d2) // how wrong it would have been to go on
	if abs(going) >= abs(d12) {
		class := classOf(scale(abs(d12), num, den))
		return guess{v, blockOf(fromHold, class), class}
	}
	class := classOf(scale(abs(going), num, den))
	return guess{c.move(v, scale(d12, num, den)), blockOf(fromMotion, class), class}
}

// move adds a movement to a value and stays in its range.
func (c *wordCode) move(v int32, d int64) int32 {
	switch {
	case c.kind == wordAngle:
		n := c.hi - c.lo + 1
		return int32((int64(v)+d-c.lo)&(n-1) + c.lo)
	case c.kind == wordFloat:
		return ordered(ordered(v) + int32(d))
	case c.lo <= c.hi:
		return int32(min(max(int64(v)+d, c.lo), c.hi))
	}
	return v + int32(d)
}

// scale is v·num/den, rounded towards minus infinity; den > 0 and num < 2¹⁶.
func scale(v, num, den int64) int64 {
	if num == den {
		return v
	}
	q := v * num / den
	if v*num%den < 0 {
		q--
	}
	return q
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// classOf is the number of bits of an expected difference.
func classOf(v int64) int { return min(bits.Len64(uint64(v)), valueClasses-1) }
