package lagcomp

// Projectile is a shot slow enough to be seen flying: a ball of Radius (0: a
// point) that moves with Velocity, in units a second, under Gravity, in units
// a second squared. The zero Projectile is a point that rests at the origin.
//
// A shooter fires it into the world that he sees, which is past. The game
// chooses how it reaches the present. With History.CatchUp it is fired in the
// past and moved to the present at once, tested on the way: nobody is hit who has
// got away since, but others see it for the first time when it has come as far
// already. With History.Delayed and Past.Fly it is tested for its whole flight
// against the world as far back as its shooter saw it: others see it leave the gun,
// and are hit a little after they got away. Either way what is hit is what was hit
// on the shooter's screen.
type Projectile struct {
	Position, Velocity, Gravity Vec
	Radius                      float32
}

// Step moves the projectile freely for dt seconds, exactly, its gravity included.
func (p *Projectile) Step(dt float32) {
	p.Position = p.Position.along(p.Velocity, dt).along(p.Gravity, dt*dt/2)
	p.Velocity = p.Velocity.along(p.Gravity, dt)
}

// Fly moves a projectile for dt seconds, in a straight line, through the world
// of this view. When it touches something it stops there, with its velocity as
// it was, and the hit is answered; Hit.Distance is how far it got. One that rests
// is touched by what comes to it, a mine by who steps on it.
func (p Past) Fly(shot *Projectile, dt float32, f Filter) (Hit, bool) {
	next := *shot
	next.Step(dt)
	ray := RayTo(shot.Position, next.Position)
	hit, ok := p.SphereCast(ray, shot.Radius, f)
	if ray.Range == 0 {
		if hit, ok = p.Nearest(shot.Position, shot.Radius, f); ok {
			hit.Distance = 0
			return hit, true
		}
	}
	if !ok {
		*shot = next
		return Hit{}, false
	}
	if ray.Range > 0 {
		shot.Position = shot.Position.lerp(next.Position, hit.Distance/ray.Range)
	}
	return hit, true
}

// CatchUp moves a projectile that was fired at a past moment up to tick to, one
// tick after the other, each through the world as it was that much later, and
// answers the moment that it has come to. Only whole ticks are flown, so that this
// is up to a tick before to: what flies on through History.Delayed by as much meets
// the worlds that its shooter's screen showed around it, and no others. It stops at
// the first hit, whose Distance is the length of the whole way. Both moments are
// bounded by what is held, so this takes no more steps than there are ticks in the
// history.
func (h *History) CatchUp(shot *Projectile, from Claim, to Tick, f Filter) (at Claim, hit Hit, ok bool) {
	oldest, held := h.Oldest()
	if !held {
		return from, Hit{}, false
	}
	now := float64(min(to, h.newest.tick))
	x, _ := moment(from)
	x = max(x, float64(oldest))
	var way float32
	for x+1 <= now {
		x++
		at = claimAt(x)
		before := shot.Position
		if hit, ok = h.At(at.Tick, at.Fraction).Fly(shot, 1/float32(h.cfg.TickRate), f); ok {
			hit.Distance += way
			return at, hit, true
		}
		way += shot.Position.sub(before).length()
	}
	return claimAt(x), Hit{}, false
}

// Behind answers how many ticks before now the moment lies: the delay that a
// projectile of this shooter keeps. Zero for a moment that is not past.
func (c Claim) Behind(now Tick) float32 {
	at, _ := moment(c)
	return float32(max(0, float64(now)-at))
}

// Delayed answers the world some ticks before tick now, bounded as by At, for a
// projectile that keeps its shooter's delay; see Claim.Behind. A behind that is not
// positive, or not a number, means now.
func (h *History) Delayed(now Tick, behind float32) Past {
	at := float64(now)
	if behind > 0 {
		at = max(0, at-float64(behind))
	}
	c := claimAt(at)
	return h.At(c.Tick, c.Fraction)
}
