package snapshot

import (
	"math"
	"slices"
)

// baselines are the values that both ends hold of an entity, with the same
// components: the newest, and, if n is 3, two older ones.
type baselines struct {
	n     int // 0: the prefab's defaults
	words [3][]int32
}

// at narrows baselines to one component's words.
func (b *baselines) at(off, n int) baselines {
	c := baselines{n: b.n}
	c.words[0] = b.words[0][off : off+n]
	if b.n == 3 {
		c.words[1], c.words[2] = b.words[1][off:off+n], b.words[2][off:off+n]
	}
	return c
}

// componentContext is the context of the flag that a component changed. References
// do not count: they differ in meaning between the ends.
func (b *baselines) componentContext(c *Schema, a audience) int {
	switch {
	case b.n < 3:
		return ctxComponent + b.n
	case c.equal(a, b.words[0], b.words[1]):
		return ctxComponent + 2 // at rest
	case c.equal(a, b.words[1], b.words[2]):
		return ctxComponent + 3 // began to change
	}
	return ctxComponent + 4
}

// equal tells whether an audience sees no difference, references apart.
func (s *Schema) equal(a audience, v, w []int32) bool {
	c := s.coding(a)
	if c.whole {
		return slices.Equal(v, w)
	}
	return equalWords(c.codes, v, w)
}

func equalWords(codes []wordCode, a, b []int32) bool {
	for i := range codes {
		if k := &codes[i]; a[k.word] != b[k.word] && k.kind != wordRef {
			return false
		}
	}
	return true
}

// scales turn differences between baselines into what they predict, in 1/65536:
// they depend on how many ticks lie between and on the tables.
type scales struct {
	ago    [3]uint32           // ticks from the snapshot back to the first, and between them
	speed  int64               // of the newer difference: velocity goes on
	newer  int64               // and acceleration
	older  int64               // less this times the older
	motion [sorts][64][2]int64 // by row
}

// set computes the scales for distances in ticks, unless they are those already.
func (s *scales) set(t *tables, ago [3]uint32) {
	if ago == s.ago {
		return
	}
	s.ago = ago
	d, e, f := int64(ago[0]), int64(ago[1]), int64(ago[2])
	s.speed = d << 16 / e
	s.newer = d * d << 16 / ((e + f) * e)
	s.older = d * d << 16 / ((e + f) * f)
	for k := range s.motion {
		for r := range motionRows {
			w := &t.weights[k][r]
			s.motion[k][r] = [2]int64{(int64(w[0])*s.speed + int64(w[1])*s.newer) >> 12, int64(w[1]) * s.older >> 12}
		}
	}
}

// errors are how wrong two guesses would be if the motion were what it is not: to
// hold, and to go on at the same speed; in 1/65536.
func (s *scales) errors(newer, older int64) (hold, going int64) {
	return abs(newer * s.speed), abs(newer*s.newer - older*s.older)
}

// rowOf is the expected class of error and the row of contexts.
func rowOf(hold, going int64) (h, row int) {
	h = historyClass(hold>>6 + going>>1)
	if going >= hold {
		return h, rowHold + h
	}
	return h, h
}

// rowOf is the same with fewer baselines: by the size of the range.
func (c *wordCode) rowOf(n int) (h, row int) {
	return min(c.size, historyClasses-1), rowDefault + 8*n + min(c.size>>2, 7)
}

// bit tells whether a word is 0 or 1 only.
func (c *wordCode) bit() bool { return c.lo == 0 && c.hi == 1 && c.kind == wordPlain }

// bitContext is the context of a word that is 0 or 1.
func (c *wordCode) bitContext(b *baselines, s surprise) int {
	v := b.words[0][c.word]
	row := rowBit + int(v&1)
	if b.n == 3 {
		row = bitRow(v, b.words[1][c.word])
	}
	return valueContext(sortScalar, row, s)
}

// bitRow is its row with three baselines, of the newer two.
func bitRow(v, before int32) int {
	row := rowBit + 4 + int(v&1)
	if v != before {
		row += 2
	}
	return row
}

func valueContext(sort, row int, s surprise) int { return (sort*rows+row)*surprises + s.class() }

// guess is what is expected of a word.
type guess struct {
	value int32
	back  bool // the predicted motion is downwards
	row   int
	class int // of the expected error
}

// predict guesses a word that stands alone.
func (c *wordCode) predict(b *baselines, s *scales) guess {
	v := b.words[0][c.word]
	if b.n < 3 {
		h, row := c.rowOf(b.n)
		return guess{value: v, row: row, class: h}
	}
	newer := int64(c.residual(b.words[1][c.word], v))
	older := int64(c.residual(b.words[2][c.word], b.words[1][c.word]))
	if newer|older == 0 {
		return guess{value: v, row: rowHold}
	}
	hold, going := s.errors(newer, older)
	h, row := rowOf(hold, going)
	if h == 0 { // that row is of words at rest
		h, row = 1, row+1
	}
	m := &s.motion[sortScalar][row]
	move := newer*m[0] - older*m[1]
	return guess{c.move(v, (move+1<<15)>>16), move < 0, row, h}
}

// predictVector guesses the words of a vector: what is expected of the error is
// common to all.
func predictVector(codes []wordCode, b *baselines, s *scales, to []guess) {
	if b.n < 3 {
		for i := range codes {
			h, row := codes[i].rowOf(b.n)
			to[i] = guess{value: b.words[0][codes[i].word], row: row, class: h}
		}
		return
	}
	var newer, older [maxVector]int64
	hold, going := int64(0), int64(0)
	for i := range codes {
		c := &codes[i]
		v := b.words[1][c.word]
		newer[i], older[i] = int64(c.residual(v, b.words[0][c.word])), int64(c.residual(b.words[2][c.word], v))
		x, y := s.errors(newer[i], older[i])
		hold, going = max(hold, x), max(going, y)
	}
	h, row := rowOf(hold, going)
	m := &s.motion[sortVector][row]
	for i := range codes {
		move := newer[i]*m[0] - older[i]*m[1]
		to[i] = guess{codes[i].within(b.words[0][codes[i].word], (move+1<<15)>>16), move < 0, row, h}
	}
}

// move adds a movement to a value. It may lead out of the range.
func (c *wordCode) move(v int32, d int64) int32 {
	switch c.kind {
	case wordAngle:
		n := c.hi - c.lo + 1
		return int32((int64(v)+d-c.lo)&(n-1) + c.lo)
	case wordFloat:
		return ordered(ordered(v) + int32(d))
	default:
		return v + int32(d)
	}
}

// within is move that stays in the range.
func (c *wordCode) within(v int32, d int64) int32 {
	if c.kind == wordPlain && c.lo <= c.hi {
		return int32(min(max(int64(v)+d, c.lo), c.hi))
	}
	return c.move(v, d)
}

// abs does without a branch: signs of motion cannot be foretold.
func abs(v int64) int64 {
	s := v >> 63
	return (v ^ s) - s
}

// A rotation is four words: which component of the unit quaternion is the greatest,
// and the others in units of a 2^bits-th of √2 (smallest three).

// quaternion is a rotation in 1/256 of a word's unit.
type quaternion [4]int64

// expand restores the greatest component.
func expand(words []int32, size int) (q quaternion) {
	sum, from := int64(0), 1
	for i := range q {
		if i != int(words[0]) {
			q[i] = int64(words[from]) << 8
			sum += int64(words[from]) * int64(words[from])
			from++
		}
	}
	// Below 2⁵² a square root is exact when rounded down, on any machine.
	q[words[0]&3] = int64(math.Sqrt(float64(max(int64(1)<<(2*size-1)-sum, 0) << 16)))
	return q
}

// towards turns q to the side of p: q and −q are one rotation.
func (q *quaternion) towards(p *quaternion) {
	if q[0]*p[0]+q[1]*p[1]+q[2]*p[2]+q[3]*p[3] < 0 {
		for i := range q {
			q[i] = -q[i]
		}
	}
}

// rotation is what is expected of a rotation.
type rotation struct {
	q      quaternion
	move   quaternion
	order  [4]uint8 // components, the greatest expected first
	margin int      // class of the distance of the second
	row    int
	class  int
	column int // of the contexts of the greatest component
}

// predictRotation guesses a rotation of which the words start at a word.
func predictRotation(word, size int, b *baselines, s *scales) (r rotation) {
	r.q = expand(b.words[0][word:], size)
	if b.n < 3 {
		r.class, r.row, r.column = size, rowDefault+8*b.n+size>>2, rankClasses-1
	} else {
		r.extrapolate(word, size, b, s)
	}
	r.order = [4]uint8{0, 1, 2, 3}
	for i := 1; i < 4; i++ {
		for j := i; j > 0 && abs(r.q[r.order[j]]) > abs(r.q[r.order[j-1]]); j-- {
			r.order[j], r.order[j-1] = r.order[j-1], r.order[j]
		}
	}
	r.margin = historyClass((abs(r.q[r.order[0]])-abs(r.q[r.order[1]]))<<8) / 2
	return r
}

// extrapolate goes on turning, in the space of quaternions, and back to length 1.
func (r *rotation) extrapolate(word, size int, b *baselines, s *scales) {
	p, o := expand(b.words[1][word:], size), expand(b.words[2][word:], size)
	p.towards(&r.q)
	o.towards(&p)
	var newer, older quaternion
	hold, going := int64(0), int64(0)
	for i := range r.q {
		newer[i], older[i] = r.q[i]-p[i], p[i]-o[i]
		x, y := s.errors(newer[i], older[i])
		hold, going = max(hold, x), max(going, y)
	}
	r.class, r.row = rowOf(hold>>8, going>>8)
	r.column = r.class / 2
	m := &s.motion[sortRotation][r.row]
	sum := int64(0)
	for i := range r.q {
		r.move[i] = newer[i]*m[0] - older[i]*m[1]
		// Twice the sphere's radius is far enough: squares stay small.
		far := int64(1) << (size + 8)
		r.q[i] = min(max(r.q[i]+(r.move[i]+1<<15)>>16, -far), far)
		sum += r.q[i] * r.q[i]
	}
	length := max(int64(math.Sqrt(float64(sum))), 1)
	inverse := int64(math.Sqrt(float64(int64(1)<<(2*size-1)<<16))) << 16 / length
	for i := range r.q {
		r.q[i] = r.q[i] * inverse >> 16
	}
}

// guess is what is expected of component i if the greatest is g.
func (r *rotation) guess(i, g int, c *wordCode) guess {
	v, move := r.q[i], r.move[i]
	if r.q[g] < 0 {
		v, move = -v, -move
	}
	return guess{int32(min(max((v+128)>>8, c.lo), c.hi)), move < 0, r.row, r.class}
}
