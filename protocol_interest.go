package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/snapshot"
)

// Interest sends each player only the entities near to those that it owns. It applies to entities that
// have the component c, with the distances of cfg. If not all of them fit into a snapshot, the nearest
// come first. Entities without the component are sent to every player, and a player's own entities
// always are. A player without an entity that has a position receives no entity with a position.
//
// at returns the position. A game on a plane leaves z at 0. One component of a protocol
// holds the positions: add it to every prefab that should be sent by distance. See
// [Protocol.Relevant] for exceptions.
func Interest[T any](p *Protocol, c *ecs.Component[T], cfg snapshot.AreaConfig, at func(*T) (x, y, z float32)) {
	if !p.able("Interest", at != nil) {
		return
	}
	i := p.replicated("Interest", c)
	if i < 0 {
		return
	}
	if p.compiled.Interest != nil {
		p.faultf("Interest was declared twice, by %s and %s: one component has the place of everything; let all prefabs carry it that are to matter by distance", p.compiled.Components[p.compiled.Interest.Component].Name, p.compiled.Components[i].Name)
		return
	}
	if _, err := snapshot.NewArea(cfg); err != nil {
		p.addFault(err)
		return
	}
	p.compiled.Interest = &game.Interest{Component: i, Area: cfg, At: func(at2 unsafe.Pointer) (x, y, z float32) { return at((*T)(at2)) }}
}

// Relevant calls fn for each entity of the prefabs, each player and each tick. fn decides
// whether the entity is sent, whatever its distance. Examples are a flag that every player
// follows, or a ghost that only some may see. Name at least one prefab. It needs
// [Interest]. For an observer, player is the one whose view it was granted, or
// [ecs.Nobody]. For Nobody, send only entities that anybody may know of.
// Observers with one view and one eye share a call.
func (p *Protocol) Relevant(fn func(f *Frame, player PlayerID, e ecs.Entity) snapshot.Relevance, prefabs ...*ecs.Prefab) {
	if p.late("Relevant") {
		return
	}
	if fn == nil || len(prefabs) == 0 {
		p.faultf("Relevant needs a function and the prefabs that it is asked of")
		return
	}
	for _, k := range prefabs {
		p.relevant = append(p.relevant, relevantHook{k, fn})
	}
}

type relevantHook struct {
	prefab *ecs.Prefab
	fn     func(*Frame, PlayerID, ecs.Entity) snapshot.Relevance
}

// checkInterest resolves the prefabs of the Relevant hooks, once all prefabs are declared.
func (p *Protocol) checkInterest() {
	if len(p.relevant) > 0 && p.compiled.Interest == nil {
		p.faultf("Relevant needs Interest: declare what is near first")
	}
	for _, h := range p.relevant {
		i := p.compiled.PrefabOf(h.prefab)
		if i < 0 {
			p.faultf("Relevant is given a prefab that is not declared with Protocol.Prefab")
			continue
		}
		p.compiled.Handlers.Relevant[i] = h.fn
	}
}
