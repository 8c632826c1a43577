package coder

import (
	"math"
	"slices"
)

// Tally counts coded values, to learn tables from.
type Tally struct {
	flags   [contexts][2]uint64
	symbols [valueContexts][symbols]uint32
	motion  [sorts][motionRows]leastSquares
}

// CountFlags counts the flags of a snapshot, and their contexts.
func (s *Tally) CountFlags(syms []uint16) {
	for _, sym := range syms {
		s.flags[sym>>1][sym&1]++
	}
}

// leastSquares fits two weights. It sums products of velocity v, acceleration a and the
// actual movement y.
type leastSquares struct{ vv, va, aa, vy, ay float64 }

// addObservation adds one observation, in units of the field. Large errors count less, because
// their cost grows only with the logarithm.
func (l *leastSquares) addObservation(v, a, y, err float64) {
	w := 1 / (math.Abs(err) + 1.5)
	l.vv += w * v * v
	l.va += w * v * a
	l.aa += w * a * a
	l.vy += w * v * y
	l.ay += w * a * y
}

// solve returns the weights. With few observations they stay near those before.
func (l leastSquares) solve(before weights) weights {
	const draw = 30
	p, q := float64(before[0])/weightOne, float64(before[1])/weightOne
	l.vv += draw
	l.aa += draw
	l.vy += draw * p
	l.ay += draw * q
	det := l.vv*l.aa - l.va*l.va
	if det < 1e-6*l.vv*l.aa {
		return before
	}
	fix := func(x float64) int16 { return int16(math.Round(min(max(x, -4), 4) * weightOne)) }
	return weights{fix((l.vy*l.aa - l.ay*l.va) / det), fix((l.ay*l.vv - l.vy*l.va) / det)}
}

// Tables returns the tables that code the counted values most cheaply, as bytes for
// [ParseTables]. Codes for rare cases stay near the built-in tables.
func (s *Tally) Tables() []byte {
	prior, t := Builtin(), &Tables{}
	for i, n := range s.flags {
		if i >= ctxZero { // count the values that were coded with 0 as a symbol, too
			sym := &s.symbols[i-ctxZero]
			if zeros := uint64(sym[symZero]); zeros > 0 {
				for _, k := range sym[:symZero] {
					n[0] += uint64(k)
				}
				n[1] += zeros
			}
		}
		const weight = 24
		p := (float64(n[0]) + weight*float64(prior.probs[i])/probOne) / (float64(n[0]+n[1]) + weight)
		t.probs[i] = uint16(min(max(p*probOne+0.5, 4), probOne-4))
	}
	for k := range s.motion {
		for r := range s.motion[k] {
			t.weights[k][r] = s.motion[k][r].solve(prior.weights[k][r])
		}
	}
	s.cluster(t, prior)
	return t.Bytes()
}

// cluster shares maxBooks codes among the value contexts. It uses the counts, plus a
// small share that the previous tables would have expected.
func (s *Tally) cluster(t, prior *Tables) {
	counts := make([][symbols]float64, valueContexts)
	var flagless []int
	for i := range counts {
		if t.flagless(i) {
			flagless = append(flagless, i)
		}
		b := &prior.books[prior.bookOf[i]]
		for k, n := range s.symbols[i] {
			counts[i][k] = float64(n)
			if b.lengths[k] > 0 {
				counts[i][k] += 3 * math.Exp2(-float64(b.lengths[k]))
			}
		}
		if counts[i][symZero] = 0; t.flagless(i) {
			p := float64(t.probs[ctxZero+i]) / probOne
			n := 0.0
			for _, k := range counts[i] {
				n += k
			}
			counts[i][symZero] = n * (1 - p) / p
		}
	}
	var sums [maxBooks][symbols]float64
	seeds := 1
	for i := range counts {
		addCounts(&sums[0], &counts[i])
	}
	best := make([]float64, valueContexts) // cost with the codes so far
	cost := make([]float64, valueContexts)
	bitsOf(&sums[0], counts, best)
	own := make([]float64, valueContexts)
	for i := range counts {
		own[i] = dot(&counts[i], logs(&counts[i]))
	}
	for ; seeds < maxBooks; seeds++ { // the next seed is the context that is worst off
		worst := 0
		for i := range counts {
			if best[i]-own[i] > best[worst]-own[worst] {
				worst = i
			}
		}
		sums[seeds] = counts[worst]
		bitsOf(&sums[seeds], counts, cost)
		for i := range best {
			best[i] = min(best[i], cost[i])
		}
	}
	for range 12 {
		for i := range best {
			best[i] = math.Inf(1)
		}
		for k := range sums {
			bitsOf(&sums[k], counts, cost)
			for i := range best {
				if cost[i] < best[i] {
					best[i], t.bookOf[i] = cost[i], uint8(k)
				}
			}
		}
		sums = [maxBooks][symbols]float64{}
		for i := range counts {
			addCounts(&sums[t.bookOf[i]], &counts[i])
		}
	}
	t.books = make([]book, maxBooks)
	for k := range sums {
		zero := slices.ContainsFunc(flagless, func(i int) bool { return int(t.bookOf[i]) == k })
		t.books[k].learn(&sums[k], zero)
	}
}

func addCounts(to, n *[symbols]float64) {
	for k := range n {
		to[k] += n[k]
	}
}

// bitsOf fills the slice to with the cost of each context's counts with the code for sum.
func bitsOf(sum *[symbols]float64, counts [][symbols]float64, to []float64) {
	l := logs(sum)
	for i := range counts {
		to[i] = dot(&counts[i], l)
	}
}

func dot(n, l *[symbols]float64) float64 {
	x := 0.0
	for k := range n {
		x += n[k] * l[k]
	}
	return x
}

// logs returns the size in bits of each symbol in an ideal code for sum.
func logs(sum *[symbols]float64) *[symbols]float64 {
	total := 0.0
	for _, n := range sum {
		total += n + 0.02
	}
	l := &[symbols]float64{}
	for k, n := range sum {
		l[k] = math.Log2(total / (n + 0.02))
	}
	return l
}

// moved counts a word's movement, for the weights of its row.
func (s *Tally) moved(sort int, g *guess, c *Code, b *Baselines, k *Scales, v int32) {
	if b.N < 3 {
		return
	}
	at := b.Words[0][c.Word]
	newer := c.Residual(b.Words[1][c.Word], at)
	older := c.Residual(b.Words[2][c.Word], b.Words[1][c.Word])
	s.observeMotion(sort, g.row, k, float64(newer), float64(older), float64(c.Residual(at, v)), float64(c.Residual(g.value, v)))
}

func (s *Tally) observeMotion(sort, row int, k *Scales, newer, older, y, err float64) {
	s.motion[sort][row].addObservation(newer*float64(k.speed)/65536, (newer*float64(k.newer)-older*float64(k.older))/65536, y, err)
}

// turned counts a rotation's movement, as moved does for a word.
func (s *Tally) turned(r *rotation, codes []Code, b *Baselines, k *Scales, words []int32) {
	if b.N < 3 {
		return
	}
	word, size := codes[0].Word, codes[1].Size
	p, o, w, v := expand(b.Words[0][word:], size), expand(b.Words[1][word:], size), expand(b.Words[2][word:], size), expand(words[word:], size)
	o.towards(&p)
	w.towards(&o)
	v.towards(&p)
	for i := range p {
		if i != int(words[word]) {
			guess := r.q[i]
			if r.q[words[word]] < 0 != (v[words[word]] < 0) {
				guess = -guess
			}
			s.observeMotion(SortRotation, r.row, k, float64(p[i]-o[i])/256, float64(o[i]-w[i])/256, float64(v[i]-p[i])/256, float64(v[i]-guess)/256)
		}
	}
}
