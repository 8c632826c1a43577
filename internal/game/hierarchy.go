package game

import "github.com/foretick/foretick/ecs"

// ParentName is the name of the component that holds an entity's parent.
const ParentName = "foretick.Parent"

// parentLink is sent with every entity of a game with a hierarchy.
type parentLink struct{ Of ecs.Entity }

// Hierarchy copies parents between the world and the parentLink components, which are sent. It does
// nothing in a game without Protocol.Hierarchy.
type Hierarchy struct {
	p     *Facts
	world *ecs.World
	query *ecs.Query // nil without Protocol.Hierarchy
	moves []childMove
}

// childMove is a child that changes its parent.
type childMove struct{ child, parent ecs.Entity }

// NewHierarchy returns the hierarchy of a world.
func NewHierarchy(p *Facts, w *ecs.World) Hierarchy {
	h := Hierarchy{p: p, world: w}
	if p.HasParents {
		h.query = ecs.NewQuery(p.Types, ecs.With(&p.Parent))
	}
	return h
}

// NoteParents writes the parents of the server's world into the components.
func (h *Hierarchy) NoteParents() {
	if h.query == nil {
		return
	}
	for _, rows := range h.query.All(h.world) {
		links := h.p.Parent.Slice(rows)
		for i, e := range rows.Entities() {
			links[i].Of = h.world.Parent(e)
		}
	}
}

// ApplyParents sets the parents of a client's entities as the server named them. An unknown parent
// means none. Entities that the server has not confirmed keep their parent.
func (h *Hierarchy) ApplyParents() {
	if h.query == nil {
		return
	}
	h.moves = h.moves[:0]
	for _, rows := range h.query.All(h.world) {
		if rows.Owner() == ecs.ClientOnly {
			continue
		}
		links, ids := h.p.Parent.Slice(rows), h.p.Identity.Slice(rows)
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
		_ = h.world.SetParent(m.child, m.parent) // a cycle fails: it mixes two ticks, and the next frame repairs it
	}
}

// ReleaseChildren takes the replicated children of an entity that a client is about to destroy out of
// it, because only the server removes them. keep is called for each child. If it returns false, the
// child's own children are released instead.
func (h *Hierarchy) ReleaseChildren(e ecs.Entity, keep func(child ecs.Entity) bool) {
	if h.query == nil {
		return
	}
	from := len(h.moves)
	for _, child := range h.world.Children(e) {
		if id := h.p.Identity.Find(h.world, child); id != nil && id.Net != 0 && h.world.Owner(child) != ecs.ClientOnly {
			h.moves = append(h.moves, childMove{child, ecs.None})
		}
	}
	for i := from; i < len(h.moves); i++ {
		if child := h.moves[i].child; keep(child) {
			_ = h.world.SetParent(child, ecs.None)
		} else {
			h.ReleaseChildren(child, keep)
		}
	}
	h.moves = h.moves[:from]
}
