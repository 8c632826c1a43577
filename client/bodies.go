package client

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// bodies makes and destroys the local entities of ghosts.
type bodies struct {
	*base
	ghosts    *ghosts
	scenes    *scenes
	parents   *game.Hierarchy
	predictor *prediction.Predictor
	locals    *locals

	retired []retired // handles that are freed once no save has them
}

// predicted lists the entities that are predicted here.
type predicted struct {
	*base
	ghosts   *ghosts
	spawning *spawning
	bodies   *bodies

	list []ecs.Entity // what entities returned last
}

// retired is the handle of an entity that was destroyed in a tick and cannot come back.
type retired struct {
	e    ecs.Entity
	tick foretick.Tick
}

// entities lists the entities that are predicted here: first those that the server has, then those that
// it has not confirmed yet. Some may not exist in the current tick. The list is valid until the next
// call.
func (pr *predicted) entities() []ecs.Entity {
	pr.list = pr.list[:0]
	for _, g := range pr.ghosts.ours {
		if g.Data != 0 {
			pr.list = append(pr.list, ecs.Entity(g.Data))
		}
	}
	if pr.hooks.syncTest > 0 { // an entity that has died exists again in the ticks that the test runs again
		for _, r := range pr.bodies.retired {
			pr.list = append(pr.list, r.e)
		}
	}
	if pr.spawning.waiting.Len() == 0 {
		return pr.list
	}
	pr.spawning.waiting.Open(func(_ foretick.Tick, s spawned) bool {
		pr.list = append(pr.list, s.e)
		return true
	})
	return pr.list
}

// birth makes the local entity of a ghost.
func (bs *bodies) birth(g *snapshot.Ghost) {
	k := &bs.p.Prefabs[g.Prefab]
	e := ecs.Engine(bs.world).Manager().Spawn(k.ECS, bs.ghosts.partOf(g))
	*bs.p.Identity.Get(bs.world, e) = game.NetworkID{Net: uint32(g.Wire), Prefab: uint16(k.Own)}
	g.Data = uint64(e)
	bs.scenes.noteAppeared(g)
	bs.ghosts.noteBorn()
}

// embody gives a ghost that is predicted here an entity: a new one, or the one that prediction had
// destroyed, under its old handle. For the latter it returns true.
func (bs *bodies) embody(g *snapshot.Ghost) (restored bool) {
	e, owner := ecs.Entity(g.Data), bs.ghosts.partOf(g)
	if e != 0 && bs.world.Alive(e) {
		return false
	}
	k := bs.p.Prefabs[g.Prefab].ECS // not nil: an alien ghost is not predicted here
	if restored = e != 0 && ecs.Engine(bs.world).Manager().Place(e, k, owner) == nil; !restored {
		e = ecs.Engine(bs.world).Reserve(ecs.RangeServer, owner)
		if ecs.Engine(bs.world).Manager().Place(e, k, owner) != nil {
			e = ecs.Engine(bs.world).Manager().Spawn(k, owner)
		}
		g.Data = uint64(e)
		bs.scenes.noteAppeared(g)
	}
	id := game.NetworkID{Net: uint32(g.Wire), Prefab: uint16(bs.p.Prefabs[g.Prefab].Own), Origin: bs.ghosts.originOf(g)}
	if id.Origin != 0 {
		id.Maker = uint16(bs.view.Player)
	}
	*bs.p.Identity.Get(bs.world, e) = id
	bs.ghosts.noteBorn()
	return restored
}

// bury destroys an entity that no correction can bring back. Its handle is used again once no save has
// it.
func (bs *bodies) bury(e ecs.Entity) {
	bs.parents.ReleaseChildren(e, func(ecs.Entity) bool { return true })
	ecs.Engine(bs.world).Manager().Destroy(e)
	bs.retired = append(bs.retired, retired{e, bs.predictor.Tick()})
}

// exhume frees the handles that no save has any more.
func (bs *bodies) exhume() {
	n := 0
	for n < len(bs.retired) && int32(bs.predictor.Tick()-bs.retired[n].tick) > int32(bs.cfg.History) {
		ecs.Engine(bs.world).Unreserve(bs.retired[n].e)
		bs.locals.forgetLocal(bs.retired[n].e)
		n++
	}
	bs.retired = bs.retired[:copy(bs.retired, bs.retired[n:])]
}

// itemName returns the name of a component, or of the prefab if the item is an entity itself.
func (pr *predicted) itemName(it recordItem) string {
	if it.comp != itself {
		return pr.p.Components[it.comp].Name
	}
	kind := -1
	for _, g := range pr.ghosts.ours {
		if ecs.Entity(g.Data) == it.e {
			kind = pr.p.Prefabs[g.Prefab].Own
		}
	}
	pr.spawning.waiting.Open(func(_ foretick.Tick, s spawned) bool {
		if s.e == it.e {
			kind = s.kind
		}
		return true
	})
	if kind >= 0 {
		return pr.build.Prefabs[kind].ECS.Name()
	}
	if k := pr.ownPrefab(pr.p.Identity.Find(pr.world, it.e)); k != nil {
		return k.ECS.Name()
	}
	return "(entity)"
}

// eachComponent visits the predicted components of all entities that are predicted here.
func (pr *predicted) eachComponent(visit func(e ecs.Entity, comp *layout.Component, at unsafe.Pointer)) {
	for _, e := range pr.entities() {
		for i := range pr.p.Components {
			comp := &pr.p.Components[i]
			if at := ecs.Engine(pr.world).Pointer(e, comp.ID); at != nil && comp.Predicted {
				visit(e, comp, at)
			}
		}
	}
}

func (pr *predicted) appendBytes(dst []byte) []byte {
	var words []int32
	pr.eachComponent(func(_ ecs.Entity, comp *layout.Component, at unsafe.Pointer) {
		dst = comp.AppendBytes(dst, at, &words)
	})
	return dst
}

// whose returns the component in which two copies of the predicted state differ, and its entity.
func (pr *predicted) whose(a, b []byte) (entity ecs.Entity, name string) {
	off := 0
	pr.eachComponent(func(e ecs.Entity, comp *layout.Component, _ unsafe.Pointer) {
		end := off + comp.ByteSize()
		if name == "" && end <= len(a) && end <= len(b) && !bytes.Equal(a[off:end], b[off:end]) {
			entity, name = e, comp.Name
		}
		off = end
	})
	return entity, name
}

// predictedSum returns a digest of what this client predicts, for debug builds. Singletons are left
// out.
func (pr *predicted) predictedSum() uint32 {
	var sum uint32
	for _, g := range pr.ghosts.ours {
		if id := pr.p.Identity.Find(pr.world, ecs.Entity(g.Data)); id != nil {
			sum += pr.p.EntityHash(pr.world, ecs.Entity(g.Data), id.Net, nil)
		}
	}
	return sum
}

// spawnsLike reports whether a predicted spawn of a ghost's prefab is not confirmed yet.
func (pr *predicted) spawnsLike(g *snapshot.Ghost) (any bool) {
	pr.spawning.waiting.Open(func(_ foretick.Tick, s spawned) bool {
		any = any || s.kind == g.Prefab
		return !any
	})
	return any
}
