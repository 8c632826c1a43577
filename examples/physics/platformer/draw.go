package platformer

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// Shape is a rectangle to draw, in tiles. Up is positive.
type Shape struct {
	X, Y, W, H float32           // its centre and its size
	Owner      foretick.PlayerID // the player of a jumper; ecs.Nobody for the level
	Lift       bool              // it is the lift
}

// Shapes calls draw for each solid of the level, the lift and each jumper of a view. The lift is
// drawn where the player's own jumper finds it: its place depends on the tick alone, and between
// two ticks on the view's fraction. The player's own jumper is the last, so that it is drawn over
// the others.
func (g *Game) Shapes(v client.View, draw func(Shape)) {
	before, after := liftAt(v.Tick-1), liftAt(v.Tick)
	for _, s := range g.solids {
		b := s.Bounds()
		w, h := float32(b.Max.X-b.Min.X), float32(b.Max.Y-b.Min.Y)
		if s == g.lift {
			draw(Shape{X: liftX, Y: before + (after-before)*v.Fraction, W: w, H: h, Owner: ecs.Nobody, Lift: true})
			continue
		}
		draw(Shape{X: float32(b.Min.X) + w/2, Y: float32(b.Min.Y) + h/2, W: w, H: h, Owner: ecs.Nobody})
	}
	for _, own := range [...]bool{false, true} {
		for _, rows := range g.bodies.All(v.World) {
			if (rows.Owner() == v.Player) != own {
				continue
			}
			for _, b := range g.Body.Slice(rows) {
				draw(Shape{X: b.X, Y: b.Y, W: Width, H: Height, Owner: rows.Owner()})
			}
		}
	}
}
