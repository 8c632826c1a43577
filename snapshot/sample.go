package snapshot

// Before returns the keyframe before one that [Ghost.Sample] returned as its first: the
// value of the newest older snapshot that tells it. False where there is none within
// [HermiteSpan] ticks, or a teleport or a change of components or owner lies between.
func (g *Ghost) Before(a State) (State, bool) {
	for u := a.Tick - 1; a.Tick-u <= HermiteSpan && u != 0 && !after(g.Born, u); u-- {
		if !g.r.received(u) || g.postponed(u) {
			continue
		}
		i := g.upTo(u)
		if i < 0 {
			return State{}, false
		}
		o := g.state(i, u)
		return o, o.Mask == a.Mask && o.Audience == a.Audience && o.Owner == a.Owner && o.Jumps == a.Jumps
	}
	return State{}, false
}

// Sample returns the keyframes around the time t + f (f from 0 to below 1) and how
// far between them it lies: pass them to [Schema.Interpolate]. Where the value is known
// to have been at rest, beyond the newest, and over a teleport or a change of
// components or owner, both are the same: it holds. False before the first value and once the
// entity is gone.
func (g *Ghost) Sample(t Tick, f float32) (a, b State, frac float32, ok bool) {
	if g.n == 0 || (g.Gone != 0 && !after(g.Gone, t)) {
		return State{}, State{}, 0, false
	}
	k := 0
	for k < g.n && after(g.vers[g.at(k)].tick, t) {
		k++
	}
	if k == g.n {
		return State{}, State{}, 0, false
	}
	i := g.at(k)
	a = g.state(i, g.vers[i].tick)
	if k == 0 {
		return a, a, 0, true
	}
	j := g.at(k - 1)
	b = g.state(j, g.vers[j].tick)
	// The older value may be known to hold for longer than its own tick.
	for u := b.Tick - 1; after(u, a.Tick) && b.Tick-u <= uint32(len(g.r.ring)); u-- {
		if g.r.received(u) && !g.postponed(u) {
			a.Tick = u
			break
		}
	}
	if a.Mask != b.Mask || a.Audience != b.Audience || a.Owner != b.Owner || a.Jumps != b.Jumps {
		return a, a, 0, true
	}
	x := float32(int32(t-a.Tick)) + f
	if x <= 0 {
		return a, a, 0, true
	}
	return a, b, x / float32(b.Tick-a.Tick), true
}
