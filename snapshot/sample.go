package snapshot

import (
	"github.com/foretick/foretick/schema"
)

// Before returns the keyframe before a, which is the first one that [Ghost.Sample]
// returned. It is the value in the newest older snapshot that holds one. Before returns
// false if there is none within [schema.HermiteSpan] ticks, or if a teleport or a
// change of components or audience separates the two.
func (g *Ghost) Before(a State) (State, bool) {
	for u := a.Tick - 1; a.Tick-u <= schema.HermiteSpan && u != 0 && !after(g.Born, u); u-- {
		if !g.r.received(u) || g.postponed(u) {
			continue
		}
		i := g.upTo(u)
		if i < 0 {
			return State{}, false
		}
		o := g.state(i, u)
		return o, o.Mask.Equal(a.Mask) && o.Audience == a.Audience && o.Jumps == a.Jumps
	}
	return State{}, false
}

// Sample returns the keyframes around the time t + f (f from 0 to below 1), and the
// fraction of the time between them. Pass them to [schema.Schema.Interpolate].
//
// Both keyframes are the same when the value holds: at rest, after the newest value,
// and across a teleport or a change of components or audience, for example where the viewer becomes
// the owner. From Born on they are the first known value, even if it is of a later tick: the snapshots
// before it were lost, or had put the entity off. Sample returns false before Born and once the entity
// is gone.
func (g *Ghost) Sample(t schema.Tick, f float32) (a, b State, frac float32, ok bool) {
	if g.n == 0 || (g.Gone != 0 && !after(g.Gone, t)) {
		return State{}, State{}, 0, false
	}
	k := 0
	for k < g.n && after(g.vers[g.versionIndex(k)].tick, t) {
		k++
	}
	if k == g.n {
		if after(g.Born, t) {
			return State{}, State{}, 0, false
		}
		i := g.versionIndex(k - 1)
		a = g.state(i, g.vers[i].tick)
		return a, a, 0, true
	}
	i := g.versionIndex(k)
	a = g.state(i, g.vers[i].tick)
	if k == 0 {
		return a, a, 0, true
	}
	j := g.versionIndex(k - 1)
	b = g.state(j, g.vers[j].tick)
	// The older value may be known to hold for longer than its own tick.
	for u := b.Tick - 1; after(u, a.Tick) && b.Tick-u <= uint32(len(g.r.ring)); u-- {
		if g.r.received(u) && !g.postponed(u) {
			a.Tick = u
			break
		}
	}
	if !a.Mask.Equal(b.Mask) || a.Audience != b.Audience || a.Jumps != b.Jumps {
		return a, a, 0, true
	}
	x := float32(int32(t-a.Tick)) + f
	if x <= 0 {
		return a, a, 0, true
	}
	return a, b, x / float32(b.Tick-a.Tick), true
}

// Beyond is for a time t + f after the newest value of a ghost. It returns its two
// newest keyframes, the ticks between them, and the ticks from the newer one to the
// time. Pass them to [schema.Schema.Extrapolate].
//
// When Beyond returns false, use [Ghost.Sample]: the time is not later than the newest
// value, or the value was last at rest. It also returns false if the entity teleported,
// changed its audience or components, or is gone.
func (g *Ghost) Beyond(t schema.Tick, f float32) (a, b State, span, beyond float32, ok bool) {
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
	if !ok || a.Tick == b.Tick || !a.Mask.Equal(b.Mask) || a.Audience != b.Audience || a.Jumps != b.Jumps {
		return State{}, State{}, 0, 0, false
	}
	return a, b, float32(b.Tick - a.Tick), float32(int32(t-b.Tick)) + f, true
}
