package lagcomp

// Explanation holds the details of a judged shot: the world that its shooter saw, the
// one that was used and the present one. It is data for a log, a drawing or a dispute.
type Explanation struct {
	Ray     Ray             // the line of fire
	Claimed Claim           // the moment that the client said its screen showed
	Used    Claim           // the moment that the shot was judged at
	Reason  Reason          // why Used differs from Claimed; OK if it does not
	Now     Tick            // the newest recorded tick, which is the present of the shot
	Hit     Hit             // what the shot hit; the zero Hit: it missed
	Bodies  []ExplainedBody // the entities near the line of fire
}

// ExplainedBody is one entity near the line of fire, at three moments. A slice is empty
// when the entity was not there at that moment.
type ExplainedBody struct {
	ID, Owner              uint64   // the entity and its player
	Claimed, Used, Present []Hitbox // its hitboxes at the claimed moment, at the moment used, and now
}

// Explain judges a shot again and returns the details. It lists every entity that came
// within margin of the line of fire at any of the three moments. It allocates; use it to
// look into one shot, not for every shot.
func (h *History) Explain(r Ray, claimed, used Claim, reason Reason, f Filter, margin float32) Explanation {
	x := Explanation{Ray: r, Claimed: claimed, Used: used, Reason: reason}
	x.Now, _ = h.Newest()
	views := [3]Past{h.atClaim(claimed), h.atClaim(used), h.At(x.Now, 0)}
	if hit, ok := views[1].Raycast(r, f); ok {
		x.Hit = hit
	}
	l, ok := r.line()
	if !ok {
		return x
	}
	for i := range h.lives.slots {
		if h.lives.slots[i].run == 0 {
			continue
		}
		id := h.lives.slots[i].id
		body := ExplainedBody{ID: id}
		near := false
		for k, out := range []*[]Hitbox{&body.Claimed, &body.Used, &body.Present} {
			p := views[k]
			e, ok := p.lookup(id)
			if !ok {
				continue
			}
			s := sweep{p: &p, line: l, radius: nonNegative(margin), filter: &f, best: l.max}
			near = near || s.near(&e)
			body.Owner = uint64(e.who().owner)
			*out = p.Hitboxes(id, nil)
		}
		if near {
			x.Bodies = append(x.Bodies, body)
		}
	}
	return x
}
