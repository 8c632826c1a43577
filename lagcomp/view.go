package lagcomp

// View is the world as one shooter saw it: a Past with his filter, for a check
// of the game's own. Its queries are those of Past, and it is good for as long. The
// zero View is an empty world.
type View struct {
	past   Past
	filter Filter
}

// Rewind answers the view at a moment, bounded as by At: what a scoped form of an
// ordinary query needs. A fraction that is none counts as 0.
func (h *History) Rewind(c Claim, f Filter) View {
	at, _ := moment(c)
	c = claimAt(at)
	return View{past: h.At(c.Tick, c.Fraction), filter: f}
}

// Invoke runs a check of the game's own inside of a compensated view that
// holds only the targets named, or everybody if targets is nil. Nothing moves:
// the check asks the view where its targets were. The view must not be kept.
func (h *History) Invoke(c Claim, f Filter, targets []ID, check func(View)) {
	if targets != nil {
		before := f.Visible
		f.Visible = func(id ID) bool {
			for _, t := range targets {
				if t == id {
					return before == nil || before(id)
				}
			}
			return false
		}
	}
	check(h.Rewind(c, f))
}

// Past is the view's world without its filter.
func (v View) Past() Past { return v.past }

// Raycast is Past.Raycast.
func (v View) Raycast(r Ray) (Hit, bool) { return v.past.Raycast(r, v.filter) }

// SphereCast is Past.SphereCast.
func (v View) SphereCast(r Ray, radius float32) (Hit, bool) {
	return v.past.SphereCast(r, radius, v.filter)
}

// Overlap is Past.Overlap.
func (v View) Overlap(s Sphere, out []Hit) []Hit { return v.past.Overlap(s, v.filter, out) }

// Nearest is Past.Nearest.
func (v View) Nearest(at Vec, max float32) (Hit, bool) { return v.past.Nearest(at, max, v.filter) }

// Validate is Past.Validate.
func (v View) Validate(target ID, r Ray) (Hit, bool) { return v.past.Validate(target, r, v.filter) }

// Hitbox is Past.Hitbox of a target that the filter lets be touched and that
// still lives that life.
func (v View) Hitbox(id ID, i int) (Hitbox, bool) {
	e, ok := v.past.named(id, &v.filter)
	if !ok || i < 0 || i >= e.count() || !v.past.eligible(e.who(), &v.filter) || !v.past.alive(&e, &v.filter) {
		return Hitbox{}, false
	}
	var out Hitbox
	e.hitbox(i, &out)
	return out, true
}

// View is the view through a filter.
func (p Past) View(f Filter) View { return View{past: p, filter: f} }
