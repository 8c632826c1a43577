package lagcomp

// Raycast returns the first hitbox that a ray meets in the past; false is a miss. Of
// hitboxes met at the same distance it returns the one recorded first.
func (p Past) Raycast(r Ray, f Filter) (Hit, bool) { return p.SphereCast(r, 0, f) }

// SphereCast moves a ball of some radius along the ray and returns the first hitbox that
// it touches. Use it for a thick ray or a projectile. Hit.Distance is the distance that
// the ball's centre moved. A negative radius counts as zero; one that is not finite hits
// nothing.
func (p Past) SphereCast(r Ray, radius float32, f Filter) (Hit, bool) {
	l, ok := r.line()
	if !ok || p.h == nil || !finite(radius) {
		return Hit{}, false
	}
	s := sweep{p: &p, line: l, radius: nonNegative(radius), filter: &f, best: l.max}
	if x := p.a.index(p.b); x != nil {
		s.through(x)
		return s.result()
	}
	for i := range p.a.who {
		if e := p.entityAt(i); s.near(&e) {
			s.testEntity(&e)
		}
	}
	return s.result()
}

// Overlap appends to out one hit for each entity that a ball touches, in the order of
// recording: the hitbox nearest to the ball's centre. Use it for explosions, melee and
// capture points. A nil out allocates; pass one with room to avoid that. A radius of 0
// finds hitboxes that contain the centre, a negative one nothing.
func (p Past) Overlap(s Sphere, f Filter, out []Hit) []Hit {
	if !(s.R >= 0) || !(Vec{s.X, s.Y, s.Z}).finite() {
		return out
	}
	p.visitAround(Vec{s.X, s.Y, s.Z}, s.R, &f, func(h Hit) { out = append(out, h) })
	return out
}

// Nearest returns the hitbox nearest to a point, no further away than max. Of those at the
// same distance it returns the one recorded first. A max of 0 finds a hitbox that contains
// the point, a negative one nothing, an infinite one the nearest of all.
func (p Past) Nearest(at Vec, max float32, f Filter) (Hit, bool) {
	if !(max >= 0) || !at.finite() {
		return Hit{}, false
	}
	var best Hit
	var found bool
	p.visitAround(at, max, &f, func(h Hit) {
		if !found || h.Distance < best.Distance {
			best, found = h, true
		}
	})
	return best, found
}

// Validate checks one claimed target. It reports whether the ray meets the target before
// anything else that the filter allows. It is cheaper than Raycast where most claims are
// false.
func (p Past) Validate(target ID, r Ray, f Filter) (Hit, bool) {
	l, ok := r.line()
	if !ok || p.h == nil {
		return Hit{}, false
	}
	e, ok := p.lookup(target)
	if !ok {
		return Hit{}, false
	}
	s := sweep{p: &p, line: l, filter: &f, best: l.max}
	if s.near(&e) {
		s.testEntity(&e)
	}
	hit, ok := s.result()
	if !ok {
		return Hit{}, false
	}
	r.Range = hit.Distance
	if r.Range == 0 {
		return hit, true
	}
	if first, ok := p.Raycast(r, f); !ok || first.ID != target {
		return Hit{}, false
	}
	return hit, true
}

// sweep is one ray or ball on its way through a view.
type sweep struct {
	p      *Past
	line   line
	radius float32
	filter *Filter
	best   float32 // best is the distance beyond which nothing matters.
	hit    Hit
	place  int // place is that of the entity hit, in the order of recording.
	found  bool
	ended  bool // ended is true if the entity that was hit no longer has that life.
}

// through tests the entities that the broad phase does not reject.
func (s *sweep) through(x *index) {
	if len(x.groups) == 0 {
		s.items(x.items)
		return
	}
	for i := range x.groups {
		if g := &x.groups[i]; s.reaches(Vec{g.X, g.Y, g.Z}, g.R) {
			s.items(x.items[g.lo:g.hi])
		}
	}
}

func (s *sweep) items(items []swept) {
	for i := range items {
		it := &items[i]
		if !s.reaches(Vec{it.X, it.Y, it.Z}, it.R) {
			continue
		}
		e := entity{af: s.p.a, bf: s.p.a, i: int(it.i), j: int(it.i)}
		if it.j >= 0 && s.p.f != 0 {
			e.bf, e.j, e.f = s.p.b, int(it.j), s.p.f
		}
		if s.near(&e) {
			s.testEntity(&e)
		}
	}
}

// near reports whether an entity's bounding sphere is in reach: the broad phase.
func (s *sweep) near(e *entity) bool {
	b := e.bound()
	if b.R < 0 {
		return false
	}
	return s.reaches(Vec{b.X, b.Y, b.Z}, b.R)
}

// reaches reports whether the sweep may touch a ball. It allows for rounding, so that it never rejects what the
// exact test would accept.
func (s *sweep) reaches(c Vec, r float32) bool {
	oc := c.sub(s.line.o)
	tca := oc.dot(s.line.d)
	slack := r + s.radius
	slack += 2e-6 * (abs(tca) + slack)
	if tca < -slack || tca-slack > s.best {
		return false
	}
	perp := oc.along(s.line.d, -tca)
	return perp.dot(perp) <= slack*slack
}

// testEntity tests the hitboxes of a candidate.
func (s *sweep) testEntity(e *entity) {
	w := e.who()
	if !s.p.eligible(w, s.filter) {
		return
	}
	layers := s.filter.Layers
	for i := range e.hitboxCount() {
		a := e.stored(i)
		if layers != 0 && layers>>(a.Layer&31)&1 == 0 {
			continue
		}
		var v Hitbox
		e.hitbox(i, &v)
		if !s.reaches(v.c, v.r) {
			continue
		}
		c, ok := v.cast(s.p.h.cfg.Shapes, &s.line, s.best, s.radius)
		if !ok || !(c.Distance <= s.best) || (s.found && c.Distance == s.best && e.i >= s.place) {
			continue
		}
		s.best, s.found, s.place = c.Distance, true, e.i
		s.ended = !s.p.alive(e, s.filter)
		s.hit = hitOf(w, &v, i, c)
	}
}

func (s *sweep) result() (Hit, bool) {
	if !s.found || s.ended {
		return Hit{}, false
	}
	return s.hit, true
}

func hitOf(w *who, v *Hitbox, i int, c Contact) Hit {
	return Hit{
		ID: w.id, Owner: w.owner, Life: w.life, Part: v.Part, Index: i,
		Point: c.Point, Normal: c.Normal, Distance: c.Distance,
	}
}

// eligible reports whether the shooter may touch the entity at all.
func (p *Past) eligible(w *who, f *Filter) bool {
	if f.ExcludeOwner != 0 && w.owner == f.ExcludeOwner {
		return false
	}
	if f.Exclude != 0 && w.id == f.Exclude {
		return false
	}
	return f.Visible == nil || f.Visible(w.id)
}

// visitAround visits the nearest hitbox of each living entity within reach of a
// point.
func (p *Past) visitAround(at Vec, reach float32, f *Filter, visit func(Hit)) {
	if p.h == nil {
		return
	}
	for i := range p.a.who {
		e := p.entityAt(i)
		if h, ok := p.closest(&e, at, reach, f); ok {
			visit(h)
		}
	}
}

// closest returns the hitbox of one entity nearest to a point.
func (p *Past) closest(e *entity, at Vec, reach float32, f *Filter) (Hit, bool) {
	b := e.bound()
	if b.R < 0 || !within(at, b, reach) {
		return Hit{}, false
	}
	w := e.who()
	if !p.eligible(w, f) || !p.alive(e, f) {
		return Hit{}, false
	}
	var best Hit
	var found bool
	for i := range e.hitboxCount() {
		a := e.stored(i)
		if f.Layers != 0 && f.Layers>>(a.Layer&31)&1 == 0 {
			continue
		}
		var v Hitbox
		e.hitbox(i, &v)
		c, ok := v.closest(p.h.cfg.Shapes, at)
		if !ok || !(c.Distance <= reach) || (found && !(c.Distance < best.Distance)) {
			continue
		}
		best, found = hitOf(w, &v, i, c), true
	}
	return best, found
}

// within reports whether two balls touch, rounding allowed for.
func within(at Vec, b Sphere, reach float32) bool {
	d := Vec{b.X, b.Y, b.Z}.sub(at)
	r := b.R + reach
	r += 2e-6 * r
	return d.dot(d) <= r*r
}
