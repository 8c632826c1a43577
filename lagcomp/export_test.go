package lagcomp

// BruteRaycast is Raycast without the broad phase.
func BruteRaycast(p Past, r Ray, f Filter) (Hit, bool) { return BruteCast(p, r, 0, f) }

// BruteCast is SphereCast without the broad phase: the exact test of every
// volume of every entity that may be hit.
func BruteCast(p Past, r Ray, radius float32, f Filter) (Hit, bool) {
	l, ok := r.line()
	if !ok || p.h == nil {
		return Hit{}, false
	}
	s := sweep{p: &p, line: l, filter: &f, best: l.max}
	for i := range p.a.who {
		e := p.entityAt(i)
		w := e.who()
		if !p.eligible(w, &f) {
			continue
		}
		for k := range e.hitboxCount() {
			if f.Layers != 0 && f.Layers>>(e.stored(k).Layer&31)&1 == 0 {
				continue
			}
			var v Hitbox
			e.hitbox(k, &v)
			c, ok := v.cast(p.h.cfg.Shapes, &l, l.max, radius)
			if !ok || (s.found && c.Distance >= s.best) {
				continue
			}
			s.best, s.found, s.ended = c.Distance, true, !p.alive(&e, &f)
			s.hit = hitOf(w, &v, k, c)
		}
	}
	return s.result()
}

// Slots is how many entities the tables have room for.
func Slots(h *History) int { return len(h.lives.slots) }

// Forget makes every tick one that nobody has asked for.
func Forget(h *History) {
	for i := range h.ring {
		h.ring[i].bounded.Store(false)
		h.ring[i].own.serial.Store(0)
		h.ring[i].next.serial.Store(0)
	}
}

// Indexed says whether a view has a broad phase of its own.
func Indexed(p Past) bool { return p.a.index(p.b) != nil }

// Tested is how many bounding spheres a ray is held against, of groups and of
// entities.
func Tested(p Past, r Ray) int {
	l, _ := r.line()
	s := sweep{p: &p, line: l, filter: &Filter{}, best: l.max}
	x := p.a.index(p.b)
	if len(x.groups) == 0 {
		return len(x.items)
	}
	n := len(x.groups)
	for _, g := range x.groups {
		if s.reaches(Vec{g.X, g.Y, g.Z}, g.R) {
			n += int(g.hi - g.lo)
		}
	}
	return n
}
