package lagcomp

// Past is the world as it was at one moment, between two recorded ticks. It is a small value that only reads:
// many may be queried at once. It is valid until the next Begin. The zero Past is an empty world.
type Past struct {
	h    *History
	a, b *frame // a and b are the ticks around the moment. They may be the same tick.
	f    float32
}

// At returns the world at tick t plus the fraction f of the way to the next tick,
// with each entity's hitboxes interpolated. Times outside the recorded range are
// clamped to the oldest or newest tick. A NaN fraction counts as 0.
func (h *History) At(t Tick, f float32) Past {
	if h.newest == nil {
		return Past{}
	}
	f = clamp(f, 0, 1)
	if t >= h.newest.tick {
		return h.view(h.newest, h.newest, 0)
	}
	if f == 1 {
		t, f = t+1, 0
	}
	a, b := h.framesAround(t)
	switch {
	case a == nil:
		return h.view(b, b, 0)
	case a == b || (f == 0 && a.tick == t):
		return h.view(a, a, 0)
	}
	return h.blend(a, b, (float32(t-a.tick)+f)/float32(b.tick-a.tick))
}

// atClaim is At for a claim. A fraction that is not from 0 to 1 counts as 0.
func (h *History) atClaim(c Claim) Past {
	at, _ := moment(c)
	c = claimAt(at)
	return h.At(c.Tick, c.Fraction)
}

// Between returns the world at the fraction f, 0 to 1, of the way from tick a to a
// later tick b. It is for clients that receive fewer snapshots than the server has
// ticks. A tick that is not held is replaced by the nearest one held before it.
func (h *History) Between(a, b Tick, f float32) Past {
	if h.newest == nil {
		return Past{}
	}
	if b <= a {
		return h.At(a, 0)
	}
	return h.blend(h.At(a, 0).a, h.At(b, 0).a, clamp(f, 0, 1))
}

func (h *History) blend(a, b *frame, f float32) Past {
	switch {
	case a == b || f == 0:
		return h.view(a, a, 0)
	case f == 1:
		return h.view(b, b, 0)
	}
	return h.view(a, b, f)
}

// view makes sure that both ticks can be queried.
func (h *History) view(a, b *frame, f float32) Past {
	if n := a.prepare() + b.prepare(); n != 0 {
		h.broken.Add(n)
	}
	return Past{h: h, a: a, b: b, f: f}
}

// framesAround returns the held ticks at or before t and after it; t is older than the newest.
// The first is nil when t is older than all.
func (h *History) framesAround(t Tick) (a, b *frame) {
	if a, b = h.frame(t), h.frame(t+1); a != nil && b != nil {
		return a, b
	}
	a, b = nil, h.newest
	for i := range h.ring {
		f := &h.ring[i]
		switch {
		case !f.held:
		case f.tick <= t && (a == nil || f.tick > a.tick):
			a = f
		case f.tick > t && f.tick < b.tick:
			b = f
		}
	}
	return a, b
}

// Time returns the tick and fraction that the view shows. That is the time given to At, if
// the ticks around it are held.
func (p Past) Time() (t Tick, f float32) {
	if p.h == nil {
		return 0, 0
	}
	x := p.f * float32(p.b.tick-p.a.tick)
	whole := Tick(x)
	return p.a.tick + whole, x - float32(whole)
}

// Len returns the number of entities in the view.
func (p Past) Len() int {
	if p.h == nil {
		return 0
	}
	return len(p.a.who)
}

// Hitbox returns hitbox i of an entity at that time. It returns false when the
// entity was not there or has no such hitbox.
func (p Past) Hitbox(id ID, i int) (Hitbox, bool) {
	e, ok := p.lookup(id)
	if !ok || i < 0 || i >= e.hitboxCount() {
		return Hitbox{}, false
	}
	var v Hitbox
	e.hitbox(i, &v)
	return v, true
}

// Hittable returns hitbox i of an entity at that time. It returns false when the entity was not there, has no
// such hitbox, may not be touched by the filter, or has another life by now.
func (p Past) Hittable(id ID, i int, f Filter) (Hitbox, bool) {
	e, ok := p.lookup(id)
	if !ok || i < 0 || i >= e.hitboxCount() || !p.eligible(e.who(), &f) || !p.alive(&e, &f) {
		return Hitbox{}, false
	}
	var v Hitbox
	e.hitbox(i, &v)
	return v, true
}

// Hitboxes appends all hitboxes of an entity, as they were, to out.
func (p Past) Hitboxes(id ID, out []Hitbox) []Hitbox {
	e, ok := p.lookup(id)
	if !ok {
		return out
	}
	for i := range e.hitboxCount() {
		out = append(out, Hitbox{})
		e.hitbox(i, &out[len(out)-1])
	}
	return out
}

// Bound returns the sphere that the broad phase uses for an entity.
func (p Past) Bound(id ID) (Sphere, bool) {
	e, ok := p.lookup(id)
	if !ok {
		return Sphere{}, false
	}
	return e.bound(), true
}

// entity is one entity of a view: its place in the tick, and in the one to
// blend it with.
type entity struct {
	af, bf *frame
	i, j   int
	f      float32
}

// entityAt returns entity i of the view.
func (p *Past) entityAt(i int) entity {
	e := entity{af: p.a, bf: p.a, i: i, j: i}
	if p.f == 0 {
		return e
	}
	a := &p.a.who[i]
	if j := p.b.placeOf(a.slot); j >= 0 && p.b.who[j].blends(a) {
		e.bf, e.j, e.f = p.b, j, p.f
	}
	return e
}

func (p *Past) lookup(id ID) (entity, bool) {
	if p.h == nil {
		return entity{}, false
	}
	slot := p.h.lives.lookup(id)
	if slot < 0 {
		return entity{}, false
	}
	i := p.a.placeOf(slot)
	if i < 0 || p.a.who[i].id != id {
		return entity{}, false
	}
	return p.entityAt(i), true
}

func (e *entity) who() *who { return &e.af.who[e.i] }

func (e *entity) hitboxCount() int { return int(e.af.who[e.i].count) }

// bound returns the blended bounding sphere. A convex blend of points in two spheres is in the blend of the
// spheres.
func (e *entity) bound() Sphere {
	a, b, f := &e.af.bounds[e.i], &e.bf.bounds[e.j], e.f
	if a.R < 0 || b.R < 0 {
		return Sphere{R: -1}
	}
	return Sphere{a.X + (b.X-a.X)*f, a.Y + (b.Y-a.Y)*f, a.Z + (b.Z-a.Z)*f, a.R + (b.R-a.R)*f}
}

// stored returns hitbox i as recorded in the earlier tick.
func (e *entity) stored(i int) *Hitbox {
	return &e.af.hitboxes[int(e.af.who[e.i].first)+i]
}

// hitbox writes hitbox i, interpolated, to v.
func (e *entity) hitbox(i int, v *Hitbox) {
	a := e.stored(i)
	if e.f == 0 {
		*v = *a
		return
	}
	a.lerp(&e.bf.hitboxes[int(e.bf.who[e.j].first)+i], e.f, v)
}

// alive reports whether the entity still has the life that it has in this view.
func (p *Past) alive(e *entity, f *Filter) bool {
	if f.Life != nil {
		w := e.who()
		return f.Life(w.id, w.life)
	}
	pr := &e.af.who[e.i]
	if p.h.last != nil {
		return p.h.newest.hasRun(pr.slot, pr.run)
	}
	l := &p.h.lives.slots[pr.slot]
	return l.last == p.h.newest.tick && l.run == pr.run
}
