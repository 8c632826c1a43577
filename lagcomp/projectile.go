package lagcomp

// Projectile is a shot slow enough to be seen flying. It is a ball of Radius (0: a point)
// that moves with Velocity, in units a second, under Gravity, in units a second squared.
// The zero Projectile is a point that rests at the origin.
//
// A shooter fires it into the world on its screen, which is past. The game chooses how the
// projectile reaches the present:
//
//   - With History.CatchUp it is fired in the past and moved to the present at once, tested
//     on the way. It hits no target that has moved away since, but others first see it
//     after it has flown that far.
//   - With History.Delayed and Past.Fly it is tested for its whole flight against the world
//     as far back as its shooter saw it. Others see it leave the gun, and are hit a little
//     after they moved away.
//
// Either way it hits the targets that it hit on the shooter's screen.
type Projectile struct {
	Position, Velocity, Gravity Vec
	Radius                      float32
}

// Step moves the projectile freely for dt seconds, exactly, its gravity included.
func (p *Projectile) Step(dt float32) {
	p.Position = p.Position.along(p.Velocity, dt).along(p.Gravity, dt*dt/2)
	p.Velocity = p.Velocity.along(p.Gravity, dt)
}

// Fly moves a projectile for dt seconds, in a straight line, through the world of this
// view. When it touches a hitbox it stops there, with its velocity as it was, and Fly
// returns the hit. Hit.Distance is the distance that it flew. A projectile that rests is
// hit by whatever moves onto it, for example a mine.
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

// CatchUp moves a projectile that was fired at a past moment up to tick to, one tick after
// the other. Each tick of flight uses the world of one tick later. CatchUp returns the
// moment that the projectile has reached. Only whole ticks are flown, so that moment is up
// to a tick before to. Continue the flight through History.Delayed with the same delay: the
// projectile then meets exactly the worlds that its shooter's screen showed around it.
//
// The projectile stops at the first hit, whose Distance is the length of the whole way.
// Both moments are clamped to the recorded range, so CatchUp takes no more steps than there
// are ticks in the history.
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

// Behind returns the ticks from the moment to now: the delay that a projectile of this
// shooter keeps. It is zero for a moment that is not past.
func (c Claim) Behind(now Tick) float32 {
	at, _ := moment(c)
	return float32(max(0, float64(now)-at))
}

// Delayed returns the world some ticks before tick now, clamped like At. Use it for a
// projectile that keeps its shooter's delay; see Claim.Behind. A delay that is not positive,
// or NaN, means now.
func (h *History) Delayed(now Tick, behind float32) Past {
	at := float64(now)
	if behind > 0 {
		at = max(0, at-float64(behind))
	}
	c := claimAt(at)
	return h.At(c.Tick, c.Fraction)
}
