package foretick

import (
	"errors"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
)

// appearance is a hook for entities that come to a client's screen, or leave it.
type appearance struct {
	watch    *ecs.Watch
	prefab   *ecs.Prefab // nil: any
	vanished bool
	fn       func(*Frame, ecs.Entity)
}

// OfPrefab matches the entities of one prefab, in [Protocol.OnAppear] and
// [Protocol.OnVanish] only: [ecs.NewQuery] and [ecs.NewWatch] panic with it. Give them a
// component that only the prefab has.
func OfPrefab(k *ecs.Prefab) ecs.Term { return prefabTerm{ecs.With(), k} }

type prefabTerm struct {
	ecs.Term
	prefab *ecs.Prefab
}

// OnAppear calls fn on a client in the first frame that shows an entity which the terms
// match, before the render systems of that frame: to add a sound or a model. Terms name
// components ([ecs.With], [ecs.Without]), or a prefab with [OfPrefab]. An entity appears
// as well when it gains the last component that a term asks for. Without terms every
// replicated entity matches.
//
// fn is called once for each appearance, even if its ticks are replayed. An entity that the
// client predicts appears in the frame after its input, and not again when the server
// confirms it. The components have the values of the frame. fn may write values of
// components declared with [Protocol.LocalComponent], and must not write others.
//
// Servers do not call it: they poll an [ecs.Watch] in a system.
func (p *Protocol) OnAppear(fn func(f *Frame, e ecs.Entity), terms ...ecs.Term) {
	p.appears("OnAppear", false, fn, terms)
}

// OnVanish calls fn on a client in the first frame that no longer shows an entity for which
// [Protocol.OnAppear] with these terms would have been called. The entity was destroyed or
// hidden from the player, it lost a component, or it belonged to the level before. It may
// be gone from the world: e is for the game's own records. A predicted entity that the
// server never made vanishes too, and one whose end was predicted wrongly appears again.
func (p *Protocol) OnVanish(fn func(f *Frame, e ecs.Entity), terms ...ecs.Term) {
	p.appears("OnVanish", true, fn, terms)
}

func (p *Protocol) appears(call string, vanished bool, fn func(*Frame, ecs.Entity), terms []ecs.Term) {
	if !p.able(call, fn != nil) {
		return
	}
	a := appearance{fn: fn, vanished: vanished}
	all := []ecs.Term{ecs.With(&p.compiled.identity)}
	for _, term := range terms {
		switch of, ok := term.(prefabTerm); {
		case guard.Missing(term):
			p.faultf("%s is given a nil term: leave it out", call)
			return
		case ok && (of.prefab == nil || p.compiled.PrefabOf(of.prefab) < 0):
			p.faultf("%s is given a prefab that is not declared: call Prefab first", call)
			return
		case ok && a.prefab != nil:
			p.faultf("%s is given two prefabs, and an entity has one: call it for each", call)
			return
		case ok:
			a.prefab = of.prefab
		default:
			all = append(all, term)
		}
	}
	var err error
	if a.watch, err = p.watch(all); err != nil {
		p.faultf("%s: %w", call, err)
		return
	}
	p.compiled.handlers.appearances = append(p.compiled.handlers.appearances, a)
}

// watch makes a watch, and returns what is wrong with its terms.
func (p *Protocol) watch(terms []ecs.Term) (w *ecs.Watch, err error) {
	defer func() {
		if v := recover(); v != nil {
			misused, ok := v.(error)
			if !ok {
				panic(v)
			}
			var usage ecs.UsageError
			if !errors.As(misused, &usage) {
				panic(v)
			}
			err = misused
		}
	}()
	return ecs.NewWatch(p.compiled.Types, terms...), nil
}
