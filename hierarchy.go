package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// parentName is the component that says whose child an entity is.
const parentName = "foretick.Parent"

// parentLink travels with every entity of a game with a hierarchy.
type parentLink struct{ Of ecs.Entity }

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
	case p.compiled.hierarchy:
		p.faultf("Hierarchy was declared twice: leave one call out")
	case len(p.compiled.Prefabs)+len(p.unmade) > 0:
		p.faultf("Hierarchy after Prefab: call it before the first prefab is declared")
	default:
		p.compiled.hierarchy = true
		p.Component(&p.compiled.parent, func(c *layout.Component) { c.Name = parentName })
	}
}

// hierarchy copies parents between the world and the components that travel. It does
// nothing in a game without Protocol.Hierarchy.
type hierarchy struct {
	p     *compiled
	world *ecs.World
	query *ecs.Query // nil without
	moves []childMove
}

// childMove is a child that gets another parent.
type childMove struct{ child, parent ecs.Entity }

func newHierarchy(p *compiled, w *ecs.World) hierarchy {
	h := hierarchy{p: p, world: w}
	if p.hierarchy {
		h.query = ecs.NewQuery(p.Types, ecs.With(&p.parent))
	}
	return h
}

// noteParents writes the parents of the server's world into the components.
func (h *hierarchy) noteParents() {
	if h.query == nil {
		return
	}
	for _, rows := range h.query.All(h.world) {
		links := h.p.parent.Slice(rows)
		for i, e := range rows.Entities() {
			links[i].Of = h.world.Parent(e)
		}
	}
}

// applyParents gives a client's entities the parents that the server named, as far as they are
// here. Entities that the server has not confirmed yet keep theirs.
func (h *hierarchy) applyParents() {
	if h.query == nil {
		return
	}
	h.moves = h.moves[:0]
	for _, rows := range h.query.All(h.world) {
		if rows.Owner() == ecs.ClientOnly {
			continue
		}
		links, ids := h.p.parent.Slice(rows), h.p.identity.Slice(rows)
		for i, e := range rows.Entities() {
			to := links[i].Of
			if !h.world.Alive(to) {
				to = ecs.None
			}
			if ids[i].Net != 0 && h.world.Parent(e) != to {
				h.moves = append(h.moves, childMove{e, to})
			}
		}
	}
	for _, m := range h.moves {
		_ = h.world.SetParent(m.child, m.parent) // a cycle is of two times, and the next frame's mend it
	}
}

// releaseChildren keeps the replicated children of an entity that a client is about to destroy:
// the server alone removes them. keep is asked for each.
func (h *hierarchy) releaseChildren(e ecs.Entity, keep func(child ecs.Entity) bool) {
	if h.query == nil {
		return
	}
	from := len(h.moves)
	for _, child := range h.world.Children(e) {
		if id := h.p.identity.Find(h.world, child); id != nil && id.Net != 0 && h.world.Owner(child) != ecs.ClientOnly {
			h.moves = append(h.moves, childMove{child, ecs.None})
		}
	}
	for i := from; i < len(h.moves); i++ {
		if child := h.moves[i].child; keep(child) {
			_ = h.world.SetParent(child, ecs.None)
		} else {
			h.releaseChildren(child, keep)
		}
	}
	h.moves = h.moves[:from]
}
