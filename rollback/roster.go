package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
)

// roster lets players join and leave within the ticks that say so. Every peer calls the same hooks in the same
// order.
type roster struct {
	p     *compiled
	world *ecs.World
}

// change removes the players that leave in the frame's tick, and adds those that join.
func (r *roster) change(f *foretick.Frame, changes []settled.RosterChange) {
	for _, c := range changes {
		if !c.Joined {
			for _, fn := range r.p.Handlers.Leaves {
				fn(f, c.Player)
			}
			ecs.Engine(r.world).Manager().ReleaseOwner(c.Player)
		}
	}
	for _, c := range changes {
		if c.Joined {
			for _, fn := range r.p.Handlers.Joins {
				fn(f, c.Player)
			}
		}
	}
}
