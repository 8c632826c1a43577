package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/snapshot"
)

// others draws the entities that are not predicted here.
type others struct {
	*base
	ghosts *ghosts
	bodies *bodies
	scenes *scenes
	saves  *saves
	tester *syncTester
}

// drawOthers places every entity that is not predicted here at the render time.
func (ot *others) drawOthers(t foretick.Tick, fraction float32) {
	for _, g := range ot.ghosts.receiver.Ghosts() {
		if ot.ghosts.ahead(g) {
			continue
		}
		if g.Gone != 0 && int32(t-g.Gone) >= 0 {
			if g.Data != 0 {
				ot.bodies.bury(ecs.Entity(g.Data))
				ot.tester.othersCame()
				ot.scenes.noteUndrawn(g)
				g.Data = 0
			}
			ot.ghosts.released = append(ot.ghosts.released, g)
			continue
		}
		if int32(t-g.Born) < 0 || ot.ghosts.alien(g) {
			continue
		}
		if len(ot.ghosts.moved) > 0 && g.Data != 0 && !ot.world.Alive(ecs.Entity(g.Data)) && ot.ghosts.movesLater(g) {
			continue
		}
		if g.Data == 0 {
			ot.bodies.birth(g)
			ot.tester.othersCame()
		}
		ot.drawGhost(g, t, fraction)
	}
	if ot.ghosts.releaseGone() {
		ot.saves.gather()
	}
}

func (ot *others) drawGhost(g *snapshot.Ghost, t foretick.Tick, fraction float32) {
	gf, ok := ot.ghosts.statesAround(g, t, fraction)
	if !ok {
		return
	}
	if gf.fraction == 0 && ot.p.Extrapolates && ot.drawBeyond(g, t, fraction) {
		return
	}
	for i := range ot.p.Components {
		comp := &ot.p.Components[i]
		if comp.Unknown {
			continue
		}
		if gf.from.Component(i) == nil {
			if ecs.Engine(ot.world).Pointer(ecs.Entity(g.Data), comp.ID) != nil {
				ot.ghosts.takeAway(ecs.Entity(g.Data), comp.ID)
			}
			continue
		}
		at := ot.ghosts.pointer(g, i)
		ot.ghosts.withdraw(g, gf.from, i, at)
		comp.Schema.Interpolate(gf.from.Audience, gf.knots(i), gf.from.Grid(i), wireRefs{ot.ghosts}, at)
	}
}

// drawBeyond extrapolates a ghost after its newest state, as far as its fields' tags allow. It returns
// false if the ghost has to be drawn from its known states.
func (ot *others) drawBeyond(g *snapshot.Ghost, t foretick.Tick, fraction float32) bool {
	a, b, span, beyond, ok := g.Beyond(t, fraction)
	if !ok || ot.ghosts.jumped(g, a, b) {
		return false
	}
	for i := range ot.p.Components {
		comp := &ot.p.Components[i]
		if comp.Unknown {
			continue
		}
		wa, wb := a.Component(i), b.Component(i)
		switch {
		case wb == nil:
			if ecs.Engine(ot.world).Pointer(ecs.Entity(g.Data), comp.ID) != nil {
				ot.ghosts.takeAway(ecs.Entity(g.Data), comp.ID)
			}
		case wa == nil || !comp.Schema.Extrapolates():
			ot.ghosts.writeComponent(g, b, i)
		default:
			at := ot.ghosts.pointer(g, i)
			ot.ghosts.withdraw(g, b, i, at)
			comp.Schema.Extrapolate(b.Audience, wa, wb, span, beyond, b.Grid(i), wireRefs{ot.ghosts}, at)
		}
	}
	return true
}

// missed handles entities of remote players that the game destroyed between two frames, for example
// together with a parent. The next frame makes them again. Entities that are predicted here come back
// with the save that is loaded after drawing.
func (ot *others) missed() {
	if ot.ghosts.receiver == nil {
		return
	}
	for _, g := range ot.ghosts.receiver.Ghosts() {
		if e := ecs.Entity(g.Data); e != 0 && !ot.world.Alive(e) && !ot.ghosts.ahead(g) && !ot.ghosts.movesLater(g) {
			ot.bodies.bury(e)
			g.Data = 0
			ot.tester.othersCame()
		}
	}
}
