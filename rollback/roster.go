package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// roster lets players join and leave within the ticks that say so. Every peer calls the same hooks in the same
// order.
type roster struct {
	p     *compiled
	world *ecs.World
}

// change removes the players that leave in the frame's tick, and adds those that join.
func (r *roster) change(f *foretick.Frame, changes []rosterChange) {
	for _, c := range changes {
		if !c.joined {
			for _, fn := range r.p.Handlers.Leaves {
				fn(f, c.player)
			}
			ecs.Engine(r.world).Manager().ReleaseOwner(c.player)
		}
	}
	for _, c := range changes {
		if c.joined {
			for _, fn := range r.p.Handlers.Joins {
				fn(f, c.player)
			}
		}
	}
}
