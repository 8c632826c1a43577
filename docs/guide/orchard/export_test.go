package orchard

import "github.com/foretick/foretick/ecs"

// Apples returns how many apples lie about in a world.
func (g *Game) Apples(w *ecs.World) int { return g.count(w) }
