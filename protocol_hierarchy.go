package foretick

import (
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
)

// Hierarchy sends the parents of entities: a turret that the server mounts on a vehicle
// with [ecs.World.SetParent] is the vehicle's child on every client that sees both,
// whichever arrives first. Call it before the first Prefab. Each entity has a few bytes
// more in memory, and costs a bit more when a client first sees it.
//
// A client that does not see the parent has the child without one. Only the server sets
// parents: changes that a client makes to those of replicated entities are undone.
// Destroying a parent destroys its children, on both ends. A client that predicts it keeps
// those children that it does not predict until the server removes them.
func (p *Protocol) Hierarchy() {
	switch {
	case p.late("Hierarchy"):
	case p.compiled.HasParents:
		p.faultf("Hierarchy was declared twice: leave one call out")
	case len(p.compiled.Prefabs)+len(p.unmade) > 0:
		p.faultf("Hierarchy after Prefab: call it before the first prefab is declared")
	default:
		p.compiled.HasParents = true
		p.Component(&p.compiled.Parent, ComponentOption{func(c *layout.Component) { c.Name = game.ParentName }})
	}
}
