package snapshot_test

import (
	"math"
	"slices"
)

// This file belongs to the second reader: vectors and rotations.

// newIndependentSpin describes the component spin.
func newIndependentSpin(tables []byte) *independent {
	d := &independent{ghosts: map[int]*indGhost{}, lists: map[uint32]indList{}}
	d.load(tables)
	for grid := range 2 {
		fine := int64(1)
		more := int64(0)
		if grid == 1 {
			fine, more = 16, 4
		}
		k := indComponent{n: 15, sent: map[int]indWord{}, vec: map[int]int{4: 3}, quat: map[int]bool{0: true, 7: true, 11: true}}
		for i := range 3 {
			k.sent[4+i] = plain(-51200*fine, 51200*fine)
		}
		for at, b := range map[int]int64{0: 9 + more, 7: 9, 11: 8 + more} {
			to := 0
			if at == 11 {
				to = 1
			}
			k.sent[at] = plain(0, 3).only(to)
			for i := 1; i < 4; i++ {
				k.sent[at+i] = plain(-1<<(b-1), 1<<(b-1)-1).only(to)
			}
		}
		d.comps[grid] = []indComponent{k}
	}
	zero := []int32{3, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0}
	d.kinds = []map[int][2][]int32{{0: {zero, zero}}}
	return d
}

func (d *independent) surprised(x int64, class int) {
	if v := octaves(max(x, -x)<<16) - class; class == 0 && x == 0 {
		d.surprise = max(d.surprise, -8)
	} else {
		d.surprise = max(d.surprise, v)
	}
}

func (d *independent) column() int {
	if d.surprise == noSurprise {
		return 0
	}
	return min(max((d.surprise+200)/2-100+4, 1), 7)
}

// changed reads the flag of a vector or rotation of m words from i on.
func (d *independent) changed(ctx, n, i, m int, from [3][]int32) bool {
	same := func(a, b []int32) bool { return slices.Equal(a[i:i+m], b[i:i+m]) }
	state, before := 0, 0
	switch {
	case n < 3:
	case same(from[0], from[1]):
		state = 1
	case same(from[1], from[2]):
		state = 2
	default:
		state = 3
	}
	if d.surprise > -8 {
		before = 2
	} else if d.surprise != noSurprise {
		before = 1
	}
	if !d.flag(ctx + 3*state + before) {
		d.surprise = max(d.surprise, -8)
		return false
	}
	return true
}

// motions are the scales of the two differences, and what a row makes of them.
type motions struct{ speed, newer, older int64 }

func motionsOf(since [3]uint32) motions {
	a, e, f := int64(since[0]), int64(since[1]-since[0]), int64(since[2]-since[1])
	return motions{a << 16 / e, a * a << 16 / ((e + f) * e), a * a << 16 / ((e + f) * f)}
}

func (m motions) move(k [2]int64, u, w int64) int64 {
	return u*((k[0]*m.speed+k[1]*m.newer)>>12) - w*(k[1]*m.older>>12)
}

func classAndRow(hold, going int64) (class, row int) {
	class = octaves(hold>>6 + going>>1)
	if row = class; going >= hold {
		row += 24
	}
	return class, row
}

func magnitudeOf(v int64) int64 { return max(v, -v) }

func (d *independent) vector(k indComponent, n, i, m int, from [3][]int32, since [3]uint32, out []int32) {
	if !d.changed(27, n, i, m, from) {
		return
	}
	w := k.sent[i]
	class, row := min(int(w.size), 23), 48+8*n+min(int(w.size)/4, 7)
	us, vs := make([]int64, m), make([]int64, m)
	var s motions
	if n == 3 {
		s = motionsOf(since)
		hold, going := int64(0), int64(0)
		for j := range m {
			us[j], vs[j] = w.difference(from[0][i+j], from[1][i+j]), w.difference(from[1][i+j], from[2][i+j])
			hold = max(hold, magnitudeOf(us[j]*s.speed))
			going = max(going, magnitudeOf(us[j]*s.newer-vs[j]*s.older))
		}
		class, row = classAndRow(hold, going)
	}
	for j := range m {
		p, move := int64(from[0][i+j]), int64(0)
		if n == 3 {
			move = s.move(d.weights[1][row], us[j], vs[j])
			p = min(max(p+(move+1<<15)>>16, w.lo), w.hi)
		}
		x := d.difference(576+8*row+d.column(), move < 0)
		d.surprised(x, class)
		if p += x; p < w.lo || p > w.hi {
			panic(errIndependent)
		}
		out[i+j] = int32(p)
	}
}

// quaternion restores a rotation's greatest component, in 256ths.
func (d *independent) quaternion(words []int32, size int64) (q [4]int64) {
	rest, k := int64(1)<<(2*size-1), 1
	for i := range q {
		if i != int(words[0]) {
			q[i] = 256 * int64(words[k])
			rest -= int64(words[k]) * int64(words[k])
			k++
		}
	}
	q[words[0]] = int64(math.Sqrt(float64(max(rest, 0) << 16)))
	return q
}

func (d *independent) rotation(k indComponent, n, i int, from [3][]int32, since [3]uint32, out []int32) {
	if !d.changed(39, n, i, 4, from) {
		return
	}
	w := k.sent[i+1]
	size := w.size
	q := d.quaternion(from[0][i:], size)
	var moves [4]int64
	class, row, column := int(size), 48+8*n+int(size)/4, 12
	if n == 3 {
		class, row, moves, q = d.turned(q, i, size, from, since)
		column = class / 2
	}
	order := []int{0, 1, 2, 3}
	slices.SortStableFunc(order, func(a, b int) int { return int(magnitudeOf(q[b]) - magnitudeOf(q[a])) })
	margin := octaves((magnitudeOf(q[order[0]])-magnitudeOf(q[order[1]]))<<8) / 2
	rank := 0
	if d.flag(51 + 13*margin + column) {
		if rank = 1; d.flag(207 + margin) {
			if rank = 2; d.flag(219 + margin) {
				rank = 3
			}
		}
	}
	top := order[rank]
	if q[top] < 0 {
		for j := range q {
			q[j], moves[j] = -q[j], -moves[j]
		}
	}
	out[i] = int32(top)
	at := 1
	for j := range q {
		if j == top {
			continue
		}
		p := min(max((q[j]+128)>>8, w.lo), w.hi)
		x := d.difference(2*576+8*row+d.column(), moves[j] < 0)
		d.surprised(x, class)
		if p += x; p < w.lo || p > w.hi {
			panic(errIndependent)
		}
		out[i+at] = int32(p)
		at++
	}
}

// turned predicts a rotation from three baselines.
func (d *independent) turned(q [4]int64, i int, size int64, from [3][]int32, since [3]uint32) (class, row int, moves, next [4]int64) {
	b, c := d.quaternion(from[1][i:], size), d.quaternion(from[2][i:], size)
	face := func(x *[4]int64, y [4]int64) {
		if x[0]*y[0]+x[1]*y[1]+x[2]*y[2]+x[3]*y[3] < 0 {
			for j := range x {
				x[j] = -x[j]
			}
		}
	}
	face(&b, q)
	face(&c, b)
	s := motionsOf(since)
	hold, going := int64(0), int64(0)
	for j := range q {
		hold = max(hold, magnitudeOf((q[j]-b[j])*s.speed))
		going = max(going, magnitudeOf((q[j]-b[j])*s.newer-(b[j]-c[j])*s.older))
	}
	class, row = classAndRow(hold>>8, going>>8)
	sum, far := int64(0), int64(1)<<(size+8)
	for j := range q {
		moves[j] = s.move(d.weights[2][row], q[j]-b[j], b[j]-c[j])
		next[j] = min(max(q[j]+(moves[j]+1<<15)>>16, -far), far)
		sum += next[j] * next[j]
	}
	length := max(int64(math.Sqrt(float64(sum))), 1)
	f := int64(math.Sqrt(float64(int64(1)<<(2*size-1)<<16))) << 16 / length
	for j := range next {
		next[j] = next[j] * f >> 16
	}
	return class, row, moves, next
}
