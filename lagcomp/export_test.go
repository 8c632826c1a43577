package lagcomp

// BruteRaycast is Raycast without the broad phase: the exact test of every
// volume of every entity that may be hit.
func BruteRaycast(p Past, r Ray, f Filter) (Hit, bool) {
	l, ok := r.line()
	if !ok || p.h == nil {
		return Hit{}, false
	}
	s := sweep{p: &p, line: l, filter: &f, best: l.max}
	for i := range p.a.probes {
		e := p.entity(i)
		w := e.who()
		if !p.eligible(w, &f) {
			continue
		}
		for k := range e.count() {
			var v Volume
			e.volume(k, &v)
			c, ok := v.cast(p.h.cfg.Shapes, &l, l.max, 0)
			if !ok || (s.found && c.Distance >= s.best) {
				continue
			}
			s.best, s.found, s.ended = c.Distance, true, !p.alive(&e, &f)
			s.hit = hitOf(w, &v, k, c)
		}
	}
	return s.result()
}
