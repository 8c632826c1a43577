package netcode

import "math"

const (
	driftBlocks = 32   // blocks of samples kept
	driftShort  = 0.25 // seconds that a block lasts at first; later twice that
	driftFew    = 6    // blocks needed for an estimate
	driftSide   = 4    // blocks on either side of a step
	driftMost   = 0.05 // largest drift that is believed, as a share of time
	driftLeast  = 2e-5 // smallest change of the drift that is applied: no window resolves less
)

// drift estimates how much faster the client's clock runs than the server's.
//
// A sample is two values against the local clock: how late a snapshot arrived,
// and how late the command arrived that it reports on. Clock drift raises one
// and lowers the other; a longer path raises both. So half their difference is
// the effect of the clocks, and their sum is the effect of the path. Lines are
// fitted through both by least squares over some seconds, with one step where
// that explains more (the server lost time, a route changed). The estimate
// believes only the part of a slope that exceeds its error, less half the slope
// of the sum: a path that gets longer in one direction only is no drift.
type drift struct {
	blocks [driftBlocks]driftBlock
	n      int
	length float64 // length is the length of a block, in ticks.
	now    driftBlock
	begun  float64
}

// driftBlock is a sum of samples.
type driftBlock struct{ n, at, clock, path float64 }

func (b *driftBlock) merge(o driftBlock) {
	b.n, b.at, b.clock, b.path = b.n+o.n, b.at+o.at, b.clock+o.clock, b.path+o.path
}

// dropSamples drops the samples: those before and after a jump cannot be combined.
func (d *drift) dropSamples() { d.n, d.now = 0, driftBlock{} }

// addSample takes a sample and reports whether a new estimate is available.
func (d *drift) addSample(at, lag, late, rate float64) bool {
	closed := false
	if d.now.n > 0 && at-d.begun >= d.length {
		d.pushBlock(rate)
		closed = d.n >= driftFew
	}
	if d.now.n == 0 {
		d.begun = at
		if d.n == 0 {
			d.length = driftShort * rate
		}
	}
	d.now.merge(driftBlock{1, at, (lag - late) / 2, lag + late})
	return closed
}

func (d *drift) pushBlock(rate float64) {
	if d.n == driftBlocks {
		if short := driftShort * rate; d.length <= short {
			d.length = 2 * short
			for i := range driftBlocks / 2 {
				b := d.blocks[2*i]
				b.merge(d.blocks[2*i+1])
				d.blocks[i] = b
			}
			d.n /= 2
		} else {
			copy(d.blocks[:], d.blocks[1:])
			d.n--
		}
	}
	d.blocks[d.n] = d.now
	d.n++
	d.now = driftBlock{}
}

// estimate returns the drift as a share of local time.
func (d *drift) estimate() float64 {
	clock := d.slope(func(b *driftBlock) float64 { return b.clock })
	path := d.slope(func(b *driftBlock) float64 { return b.path })
	size := min(max(0, math.Abs(clock)-math.Abs(path)/2), driftMost)
	return math.Copysign(size, clock)
}

// line holds the sums for a weighted line.
type line struct{ w, x, y, xx, xy, yy float64 }

func (l *line) addPoint(w, x, y float64) {
	l.w, l.x, l.y = l.w+w, l.x+w*x, l.y+w*y
	l.xx, l.xy, l.yy = l.xx+w*x*x, l.xy+w*x*y, l.yy+w*y*y
}

func (l line) minus(o line) line {
	return line{l.w - o.w, l.x - o.x, l.y - o.y, l.xx - o.xx, l.xy - o.xy, l.yy - o.yy}
}

// moments returns the moments about the mean.
func (l line) moments() (xx, xy, yy float64) {
	return l.xx - l.x*l.x/l.w, l.xy - l.x*l.y/l.w, l.yy - l.y*l.y/l.w
}

// slope returns the believable part of the slope of the line through the
// blocks.
func (d *drift) slope(of func(*driftBlock) float64) float64 {
	var all line
	x0, y0 := d.blocks[0].at/d.blocks[0].n, of(&d.blocks[0])/d.blocks[0].n
	add := func(l *line, b *driftBlock) { l.addPoint(b.n, b.at/b.n-x0, of(b)/b.n-y0) }
	for i := range d.n {
		add(&all, &d.blocks[i])
	}
	xx, xy, yy := all.moments()
	rest, free := max(0, yy-xy*xy/xx), float64(d.n-2)
	var left line
	straight := rest
	for i := range d.n - driftSide {
		add(&left, &d.blocks[i])
		if i+1 < driftSide {
			continue
		}
		lxx, lxy, lyy := left.moments()
		rxx, rxy, ryy := all.minus(left).moments()
		sxx, sxy, syy := lxx+rxx, lxy+rxy, lyy+ryy
		split := max(0, syy-sxy*sxy/sxx)
		if split < rest && straight-split > 15*split/float64(d.n-3) {
			xx, xy, rest, free = sxx, sxy, split, float64(d.n-3)
		}
	}
	slope := xy / xx
	doubt := 9 * (1 + 4/free) * rest / free / xx
	return slope * max(0, 1-doubt/(slope*slope+1e-18))
}
