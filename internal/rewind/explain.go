package rewind

import "github.com/foretick/foretick/lagcomp"

// Explain judges a shot again and returns the details as data. It lists every entity that
// came within margin of the line of fire: where its shooter claimed to see it, where it was
// judged, and where it is now. It allocates.
func (v *View) Explain(r lagcomp.Ray, margin float32) lagcomp.Explanation {
	f := v.Filter
	x := v.past.history.Explain(r, v.Claimed, v.Used, v.Reason, f, margin)
	if v.by != nil && v.by.offset != 0 {
		v.explainAhead(&x, r, margin, f)
	}
	x.Hit, _ = v.Past.Raycast(r, f)
	claimed := v.claimed()
	for i := range x.Bodies {
		b := &x.Bodies[i]
		b.Used = v.Past.Hitboxes(b.ID, nil)
		if claimed != nil {
			b.Claimed = claimed.Past.Hitboxes(b.ID, nil)
		}
	}
	return x
}

// claimed returns the view of the claimed moment, nil if the past does not hold that
// moment.
func (v *View) claimed() *View {
	if v.by == nil || v.Claimed == v.Used {
		return v
	}
	oldest, _ := v.past.history.Oldest()
	if v.Reason == lagcomp.NaN || v.Claimed.Tick < oldest || v.Claimed.Tick >= v.past.newest() || v.past.cfg.NoRewind {
		return nil
	}
	said := View{Claimed: v.Claimed, Used: v.Claimed, past: v.past, by: v.by, now: v.now, screen: true}
	if v.ahead.A != 0 {
		said.ahead = keysAt(min(v.by.aheadSaid(), int64(v.past.newest())*OffsetSteps))
	}
	said.fillView()
	return &said
}

// explainAhead adds the moments at which the shooter saw entities drawn ahead.
func (v *View) explainAhead(x *lagcomp.Explanation, r lagcomp.Ray, margin float32, f lagcomp.Filter) {
	claim := func(k Keys) lagcomp.Claim { return lagcomp.Claim{Tick: k.A, Fraction: k.F} }
	claimed := claim(keysAt(v.by.aheadSaid()))
	used := v.Used
	if v.ahead.A != 0 {
		used = claim(v.ahead)
	}
	ahead := v.past.history.Explain(r, claimed, used, v.Reason, f, margin)
	bodies := x.Bodies[:0]
	for _, b := range x.Bodies {
		if !v.by.isAhead(b.ID) {
			bodies = append(bodies, b)
		}
	}
	for _, b := range ahead.Bodies {
		if v.by.isAhead(b.ID) {
			bodies = append(bodies, b)
		}
	}
	x.Bodies = bodies
}

// aheadSaid returns the moment at which the player claimed to see entities drawn ahead, in
// steps of a tick.
func (s *Shooter) aheadSaid() int64 { return max(int64(s.gave)*OffsetSteps-s.offset, 0) }
