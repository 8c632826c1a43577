package rewind

import (
	"math"
	"unsafe"

	"github.com/foretick/foretick/lagcomp"
)

// View is the world at one moment, as a player saw it or as it is. The zero View is
// empty: every query misses.
type View struct {
	// Past is what queries run against, and Filter what they may touch.
	Past   lagcomp.Past
	Filter lagcomp.Filter
	// Claimed is the moment that the player's client said its screen showed. Used is the
	// moment of the view. Reason says why they differ.
	Claimed, Used lagcomp.Claim
	Reason        lagcomp.Reason

	past   *Past
	by     *Shooter // by is the player whose view it is. nil means the present.
	now    Tick     // now is the tick in which the view is made.
	screen bool     // screen is true if the view is no later than what the player's screen showed.
	// mixed is true if snapshots had left entities out, or one between those that the view is drawn from is
	// missing. Each entity is then drawn between its own pair of ticks.
	mixed bool
	whole Keys // whole has the ticks between which entities in the past are drawn.
	// ahead has the ticks between which entities ahead are drawn. Zero means that there are none.
	ahead Keys
}

// Valid reports whether the view is of a recorded past.
func (v *View) Valid() bool { return v.past != nil }

// Present returns the newest complete tick. No player's entities are excluded.
func (p *Past) Present(now Tick) View {
	if !p.recorded {
		return View{}
	}
	at := lagcomp.Claim{Tick: p.newest()}
	return View{Past: p.history.At(at.Tick, 0), Filter: lagcomp.Filter{Life: p.alive}, Claimed: at, Used: at, past: p, now: now, whole: recorded(at)}
}

// Moment returns a tick of the past as the server computed it, at most MaxRewind back. No
// player's entities are excluded.
func (p *Past) Moment(now, t Tick) View {
	v := p.Present(now)
	if v.past == nil || p.cfg.NoRewind {
		return v
	}
	most := int64(p.most.Seconds() * float64(p.game.TickRate))
	back := min(max(int64(int32(now-t)), 1), most)
	v.Used = lagcomp.Claim{Tick: p.clampToHeld(float64(now) - float64(back)).Tick}
	v.Claimed = lagcomp.Claim{Tick: t}
	v.Past, v.whole = p.history.At(v.Used.Tick, 0), recorded(v.Used)
	return v
}

// View returns the world as the player saw it when it gave the command of tick now, within
// the limits of the judge.
func (s *Shooter) View(now Tick) View {
	if !s.past.recorded {
		return View{}
	}
	v := View{Claimed: s.claim, past: s.past, by: s, now: now, screen: true}
	if s.past.cfg.NoRewind {
		v.Used = lagcomp.Claim{Tick: now - 1}
		return v.present()
	}
	verdict := s.allow(now)
	v.Used, v.Reason = verdict.Used, verdict.Reason
	if s.offset != 0 {
		v.ahead = s.aheadAt(s.gave, v.Used)
	}
	v.fillView()
	return v
}

// ViewBehind returns the world some ticks before the present, limited by MaxRewind. Below
// 1, or with NaN, it is the newest complete tick. Entities drawn ahead are where the player
// sees them in this very tick.
func (s *Shooter) ViewBehind(now Tick, ticks float32) View {
	p := s.past
	if !p.recorded {
		return View{}
	}
	v := View{Claimed: s.claim, past: p, by: s, now: now}
	if p.cfg.NoRewind || !(ticks >= 0) {
		ticks = 0
	}
	ticks = min(ticks, float32(p.most.Seconds()*float64(p.game.TickRate)))
	v.Used = p.clampToHeld(float64(now) - float64(ticks))
	if p.cfg.NoRewind {
		return v.present()
	}
	shown := s.claim
	if s.verdict.At == now {
		shown = s.verdict.Used
	}
	v.screen = v.Used.Behind(now) >= shown.Behind(now)
	if s.offset != 0 {
		v.ahead = s.aheadAt(now, v.Used)
	}
	v.fillView()
	return v
}

// clampToHeld returns a moment in ticks, moved to the nearest that the history holds.
func (p *Past) clampToHeld(at float64) lagcomp.Claim {
	oldest, _ := p.history.Oldest()
	at = min(max(at, float64(oldest)), float64(p.newest()))
	whole := math.Floor(at)
	return lagcomp.Claim{Tick: Tick(whole), Fraction: float32(at - whole)}
}

// present sets the view to the world as the server had it at the start of the tick Used.
func (v View) present() View {
	v.Past, v.whole = v.past.history.At(v.Used.Tick, 0), recorded(v.Used)
	v.Filter = v.by.filter(v.Used.Tick)
	return v
}

// fillView fills in the world at the moment Used. Each entity is drawn between the two
// snapshots around it that the player's client had and that held its state.
func (v *View) fillView() {
	s, p := v.by, v.past
	k := s.drawnBetween(v)
	v.whole, v.Filter = k, s.filter(k.A)
	v.mixed = s.deliveries.mixed(v.Used.Tick, p.game.TickRate)
	if v.skips() {
		v.mixed, v.Filter = true, s.filter(v.Used.Tick) // some may have come into sight in between
	}
	oldest, _ := p.history.Oldest()
	switch newest := p.newest(); {
	case v.ahead.A != 0:
		if int32(newest-k.A) <= 0 {
			v.whole.A, v.whole.F = newest, 0
		}
		v.whole.B = min(k.B, newest)
	case k.F == 0 && !v.mixed && int32(k.A-oldest) >= 0 || int32(newest-k.B) < 0:
		v.Past, v.mixed = p.history.Between(k.A, k.B, k.F), false
		return
	}
	past, ok := s.drawPast(v)
	if !ok {
		v.Past = p.history.Between(k.A, k.B, k.F)
		return
	}
	v.Past = past
}

// Component writes an entity's component as the view has it. It returns false if the entity
// had none. The component must be in Game.Tracked.
func (v *View) Component(id lagcomp.ID, comp int, dst unsafe.Pointer) bool {
	if _, slides := v.slide(id); !slides && v.ahead.A != 0 && v.by.isAhead(id) {
		return v.by.componentAhead(v.ahead, id, comp, dst)
	}
	from, to, k, shown := v.recordsAround(id)
	if !shown {
		return false
	}
	i := from.indexOf(id, 0)
	if i < 0 || !from.items[i].mask.Has(comp) {
		return false
	}
	var hint, earlier int
	g := &v.past.game
	knots := v.knots(&from.items[i], from, to, k, &hint, &earlier)
	skip(&knots, g.before(from.items[i].mask, comp))
	g.writeShown(comp, knots, from.items[i].grid, dst)
	return true
}

// CatchUp moves a projectile that was fired into the view up to the newest complete tick,
// one tick after the other. Each tick of flight uses the world of one tick later. It stops
// at the first hit, whose Distance is the length of the whole way. Only whole ticks are
// flown. behind is the number of ticks that the projectile is then short of the present.
func (v *View) CatchUp(shot *lagcomp.Projectile) (behind float32, hit lagcomp.Hit, ok bool) {
	if v.by == nil {
		return v.Used.Behind(v.now), hit, false
	}
	f := v.Filter
	way, step, newest := float32(0), *v, v.past.newest()
	if oldest, _ := v.past.history.Oldest(); step.Used.Tick < oldest {
		step.Used = lagcomp.Claim{Tick: oldest}
	}
	for int32(newest-step.Used.Tick) > 1 || newest-step.Used.Tick == 1 && step.Used.Fraction == 0 {
		step.Used.Tick++
		step.screen = false
		step.fillView()
		f.Life = step.Filter.Life
		before := shot.Position
		if hit, ok = step.Past.Fly(shot, 1/float32(v.past.game.TickRate), f); ok {
			hit.Distance += way
			break
		}
		way += lagcomp.RayTo(before, shot.Position).Range
	}
	return step.Used.Behind(v.now), hit, ok
}
