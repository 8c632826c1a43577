package snapshot

import (
	"math"
	"unsafe"
)

// Beyond returns, for a time t + f after everything that is known of a ghost, its
// two newest keyframes, how many ticks lie between them and how many the time is
// beyond the newer: pass them to [Schema.Extrapolate]. False where [Ghost.Sample]
// is to be used: the time is not beyond, the value was last seen at rest, it
// teleported, changed hands or components, or is gone.
func (g *Ghost) Beyond(t Tick, f float32) (a, b State, span, beyond float32, ok bool) {
	if g.n < 2 || (g.Gone != 0 && !after(g.Gone, t)) {
		return State{}, State{}, 0, 0, false
	}
	b = g.state(g.head, g.vers[g.head].tick)
	if after(b.Tick, t) {
		return State{}, State{}, 0, 0, false
	}
	for u := g.r.newest; after(u, b.Tick) && g.r.newest-u < uint32(len(g.r.ring)); u-- {
		if g.r.received(u) && !g.postponed(u) {
			return State{}, State{}, 0, 0, false // it had come to rest by then
		}
	}
	a, _, _, ok = g.Sample(b.Tick-1, 0)
	if !ok || a.Tick == b.Tick || a.Mask != b.Mask || a.Audience != b.Audience || a.Owner != b.Owner || a.Jumps != b.Jumps {
		return State{}, State{}, 0, 0, false
	}
	return a, b, float32(b.Tick - a.Tick), float32(int32(t-b.Tick)) + f, true
}

// Extrapolates tells whether any field goes on beyond what is known (tag
// extrapolate).
func (s *Schema) Extrapolates() bool {
	for i := range s.leaves {
		if s.leaves[i].ahead > 0 {
			return true
		}
	}
	return false
}

// Extrapolate writes to dst the value some ticks beyond b, of which a lies span ticks
// before, for a viewer of the given classes: fields tagged extrapolate go on as they
// did from a to b, for as many ticks as their tag says and inside their range, and
// stay there; the others are b's.
func (s *Schema) Extrapolate(aud Audience, a, b []int32, span, beyond float32, g Grid, refs Refs, dst unsafe.Pointer) {
	if v := s.via; v != nil {
		v.wire.Extrapolate(aud, a, b, span, beyond, g, refs, v.in)
		v.store(v.in, dst, aud)
		return
	}
	a, b = a[:s.words], b[:s.words]
	if len(s.lists) == 0 {
		extrapolate(s.leaves, aud, a, b, span, beyond, g, refs, dst)
		return
	}
	s.parts(func(leaves []leaf) { extrapolate(leaves, aud, a, b, span, beyond, g, refs, dst) }, func(l *list) {
		if s.leaves[l.from-1].seenBy(aud) {
			n := l.length(b)
			at, both := l.fit(dst, n), min(l.length(a), n)*l.each
			leaves := l.leaves(s, n)
			extrapolate(leaves[:both], aud, a, b, span, beyond, g, refs, at)
			restore(leaves[both:], b, g, refs, at, aud)
		}
	})
}

// extrapolate does so for some leaves.
func extrapolate(leaves []leaf, aud Audience, a, b []int32, span, beyond float32, g Grid, refs Refs, dst unsafe.Pointer) {
	for i := range leaves {
		l := &leaves[i]
		switch on := float64(min(beyond, l.ahead) / span); {
		case !l.seenBy(aud):
		case !(on > 0):
			l.restore(b, g, refs, dst)
		case l.op == opQuat:
			l.blendQuat(a[l.word:], b[l.word:], 1+on, g, dst)
		case l.op <= opUint64:
			x, y := l.float(a, g), l.float(b, g)
			v := math.RoundToEven(y + float64((y-x)*on))
			l.storeInt(dst, l.clampInt(int64(min(max(v, -1<<62), 1<<62))))
		default:
			l.blend(a, b, 1+on, g, dst)
			if s := &l.grid[g]; l.stepped() && !l.angle() {
				l.storeFloat(dst, min(max(l.loadFloat(dst), float64(s.lo)*s.step), float64(s.hi)*s.step))
			}
		}
	}
}
