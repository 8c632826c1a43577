package main

import (
	"math"
	"slices"
)

// refRadius is the radius of a living body.
const refRadius = 0.5

// target returns the player that a ray hits first among circles, 0 for none. The
// shooter cannot hit itself.
func target(ray []float32, by int, circles []Circle) int {
	who, best := 0, math.Inf(1)
	x, y, dx, dy, reach := float64(ray[0]), float64(ray[1]), float64(ray[2]), float64(ray[3]), float64(ray[4])
	length := math.Hypot(dx, dy)
	dx, dy = dx/length, dy/length
	for _, c := range circles {
		if int(c.P) == by || c.R == 0 {
			continue
		}
		cx, cy, rr := float64(c.X)-x, float64(c.Y)-y, float64(c.R)
		along := cx*dx + cy*dy
		beside := cx*dy - cy*dx
		at := 0.0 // the ray starts inside the circle
		if math.Hypot(cx, cy) > rr {
			h := rr*rr - beside*beside
			if h < 0 {
				continue
			}
			if at = along - math.Sqrt(h); at < 0 || at > reach {
				continue
			}
		}
		if at < best {
			who, best = int(c.P), at
		}
	}
	return who
}

// hundredth rounds to the grid on which bodies are sent to other players, shown and hit.
func hundredth(v float32) float32 { return float32(math.Round(float64(v)*100) / 100) }

// presents compares all verdicts with the present, if there is no lag compensation.
func (r *referee) presents() {
	for _, list := range r.judged {
		for _, f := range list {
			r.present(f)
		}
	}
}

// present compares a verdict with the newest complete tick at that time, if there is no lag
// compensation.
func (r *referee) present(f *Fact) {
	before := r.ticks[f.T-1]
	if !r.match.NoLag || before == nil {
		return
	}
	var circles []Circle
	for _, b := range before.Bodies {
		if !b.Dead {
			circles = append(circles, Circle{b.P, hundredth(b.X), hundredth(b.Y), refRadius})
		}
	}
	r.noLagSeen++
	if target(f.Ray, int(f.P), circles) != int(f.Hit) {
		r.noLagBad++
	}
}

// settle counts the shots.
func (r *referee) settle(out *Report) {
	out.ShotsVoidByReason = map[string]int{"dead": 0, "stunned": 0, "ammo": 0, "cooldown": 0, "target": 0}
	for _, k := range r.shots {
		shot := r.fired[k]
		verdict := r.verdicts[k]
		seen := target(shot.Ray, k.p, shot.Circles)
		out.Shots++
		if seen == 0 {
			if verdict != nil && verdict.Hit != 0 {
				out.ShotsConfirmedUnseen++
			}
			continue
		}
		out.ShotsHitOnScreen++
		if why := r.void(k, seen, uint32(shot.Render[0]), verdict != nil); why != "" {
			out.ShotsVoid++
			out.ShotsVoidByReason[why]++
			continue
		}
		if verdict != nil && int(verdict.Hit) == seen {
			out.ShotsConfirmed++
		}
	}
}

// void returns why a shot could not count, or "". It looks at the shooter's state on the server, and at
// whether the target died since it was seen.
func (r *referee) void(k refKey, seen int, shownAt uint32, judged bool) string {
	if f := r.execs[k]; f != nil {
		gun := f.Body.Gun
		switch {
		case f.Body.Dead:
			return "dead"
		case f.Body.Stun > 0:
			return "stunned"
		case judged:
		case gun.Ammo == 0 || gun.Reload > 1 || gun.Kind != f.Cmd.Weapon && gun.Cooldown > 1:
			return "ammo"
		case gun.Cooldown > 1:
			return "cooldown"
		}
	}
	for _, t := range r.deaths[seen] {
		if t >= shownAt && t <= k.t {
			return "target"
		}
	}
	return ""
}

// tellings counts the reports of hits that victims received. A report of a hit
// without a verdict does not count.
func (r *referee) tellings(out *Report) {
	out.HitsTold, out.HitsHeard = r.toldHurt, len(r.hurts)
	sum := 0.0
	for _, f := range r.hurts {
		const launcher = 2
		k := refKey{int(f.Hurt.By), f.T}
		shot := r.fired[k]
		if f.Hurt.Gun == launcher || !slices.ContainsFunc(r.judged[k], func(v *Fact) bool { return v.Hit == f.P }) {
			continue
		}
		out.HitsRewound++
		sum += float64(f.Hurt.Rewound)
		if shot != nil && target(shot.Ray, k.p, shot.Circles) == int(f.P) && r.toldTrue(f, shot) {
			out.HitsWhereSeen++
		}
	}
	out.RewoundMean = sum / math.Max(float64(out.HitsRewound), 1)
}

// toldTrue reports whether a victim was told the position and time that the
// shooter's screen showed.
func (r *referee) toldTrue(f, shot *Fact) bool {
	const step = 0.011
	back := (float64(f.T) - shot.Render[0] - shot.Render[1]) * 1000 / float64(r.match.Rate)
	if math.Abs(back-float64(f.Hurt.Rewound)) > 2 {
		return false
	}
	for _, c := range shot.Circles {
		if c.P == f.P {
			return math.Abs(float64(c.X-f.Hurt.X)) <= step && math.Abs(float64(c.Y-f.Hurt.Y)) <= step
		}
	}
	return false
}
