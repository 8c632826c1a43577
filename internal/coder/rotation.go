package coder

import "math"

// QuatWords is the number of words of a rotation: the index of the unit quaternion's
// greatest component, and the other three in units of √2/2^bits (smallest three).
const QuatWords = 4

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

// rotation is the prediction of a rotation.
type rotation struct {
	q      quaternion
	move   quaternion
	order  [4]uint8 // order has the components, the greatest expected first.
	margin int      // margin is the class of the distance between the first and the second.
	row    int
	class  int
	column int // column is the column of the contexts of the greatest component.
}

// predictRotation predicts the rotation that starts at a word.
func predictRotation(word, size int, b *Baselines, s *Scales) (r rotation) {
	r.q = expand(b.Words[0][word:], size)
	if b.N < 3 {
		r.class, r.row, r.column = size, rowDefault+8*b.N+size>>2, rankClasses-1
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

// extrapolate continues the turn in the space of quaternions, and normalises it.
func (r *rotation) extrapolate(word, size int, b *Baselines, s *Scales) {
	p, o := expand(b.Words[1][word:], size), expand(b.Words[2][word:], size)
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
	m := &s.motion[SortRotation][r.row]
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

// guess returns the prediction of component i if the greatest is g.
func (r *rotation) guess(i, g int, c *Code) guess {
	v, move := r.q[i], r.move[i]
	if r.q[g] < 0 {
		v, move = -v, -move
	}
	return guess{int32(min(max((v+128)>>8, c.Lo), c.Hi)), move < 0, r.row, r.class}
}
