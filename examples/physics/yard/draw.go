package yard

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Length and Width are the size of the yard in metres. Its centre is 0, 0, and up is positive.
const Length, Width = 2 * halfLength, 2 * halfWidth

// Shape is a body as a window draws it.
type Shape struct {
	Body
	W, H  float32           // its size, in metres
	Owner foretick.PlayerID // the driver of a car; ecs.Nobody for a crate
}

// Shapes calls draw with each body of a world.
func (g *Game) Shapes(w *ecs.World, draw func(Shape)) {
	for _, rows := range g.bodies.All(w) {
		k, owner := crate, ecs.Nobody
		if rows.Has(g.Drive.ID()) {
			k, owner = car, rows.Owner()
		}
		for _, b := range g.Body.Slice(rows) {
			draw(Shape{b, float32(shapes[k].w), float32(shapes[k].h), owner})
		}
	}
}
