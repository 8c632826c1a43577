package foretick

import (
	"errors"
	"reflect"
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/schema"
)

// Spawns declares that shared systems spawn entities of this prefab, with [Frame.SpawnBy],
// and how a client predicts them. Such a system must declare [ecs.Create] too.
func (p *Protocol) Spawns(k *ecs.Prefab, c SpawnConfig) {
	if !p.givenPrefab("Spawns", k) {
		return
	}
	i := p.compiled.PrefabOf(k)
	switch {
	case slices.Contains(p.unmade, k):
	case i < 0:
		p.faultf("Spawns of a prefab that is not declared: call Prefab first")
	case p.compiled.Prefabs[i].Spawn != layout.NotSpawned:
		p.faultf("Spawns(%q) was called twice", k.Name())
	case c.ClientOnly && p.compiled.Command != nil && k.Mask().Has(p.compiled.Command.ID):
		p.faultf("Spawns(%q): a ClientOnly entity gets no input: take %s out of the prefab, or leave SpawnConfig.ClientOnly false", k.Name(), game.TypeName(p.compiled.Command.Handle.Type()))
	default:
		p.compiled.Spawning = true
		p.compiled.Handlers.Spawns[i] = &game.Spawn[*Frame]{OnPredicted: c.OnPredicted, OnConfirmed: c.OnConfirmed, OnCancelled: c.OnCancelled, OnRestored: c.OnRestored}
		if p.compiled.Prefabs[i].Spawn = layout.SpawnMatched; c.ClientOnly {
			p.compiled.Prefabs[i].Spawn, p.compiled.ClientOnly = layout.SpawnedForClient, true
		}
	}
}

// registerSpawns registers the library's components for spawned and interpolated prefabs after all of
// the game's components. It registers each only if a prefab needs it.
func (p *Protocol) registerSpawns() {
	register := func(has func(*layout.Prefab) bool, t reflect.Type, name string) int {
		for i := range p.compiled.Prefabs {
			if !has(&p.compiled.Prefabs[i]) {
				continue
			}
			s, err := schema.Compile(t, schema.Options{Name: name})
			p.addFault(err)
			at, err := p.compiled.Registry.Component(s)
			p.addFault(err)
			return at
		}
		return -1
	}
	p.compiled.Origins.Matched = register((*layout.Prefab).Matched, reflect.TypeFor[game.OriginComponent](), game.OriginName)
	p.compiled.Origins.ClientOnly = register((*layout.Prefab).ClientOnly, reflect.TypeFor[game.LocalComponent](), game.LocalName)
	p.compiled.Origins.Interpolated = register(func(k *layout.Prefab) bool { return k.Interpolated }, reflect.TypeFor[game.InterpolatedComponent](), game.InterpolatedName)
}

// SpawnConfig sets how a client predicts the entities of a prefab that shared systems
// spawn. The zero value is ready to use: the predicted entity becomes the server's when the
// server's arrives. If the server made none, it is removed. It is rolled back, compared and
// corrected like all predicted state.
//
// The functions are optional. They are called on the client of the entity's owner, and not
// for prefabs that are ClientOnly.
type SpawnConfig struct {
	// ClientOnly makes the client keep its own entity: it is not sent the server's.
	// Rollbacks do not touch it, and a replay of its tick does not spawn another. Use it for
	// bullets that live for a few ticks. On a client its owner is [ecs.ClientOnly].
	ClientOnly bool
	// OnPredicted is called at the end of the tick that spawned an entity: once, however
	// often that tick is replayed.
	OnPredicted func(f *Frame, e ecs.Entity)
	// OnConfirmed is called when the server's entity has taken over, under the same handle. It is also
	// called when prediction had already ended the entity and the server then reports that it spawned
	// and ended the entity too.
	OnConfirmed func(f *Frame, e ecs.Entity)
	// OnCancelled is called for an entity that the server did not make, or that a replay of
	// its tick did not make. The entity is gone already.
	OnCancelled func(f *Frame, e ecs.Entity)
	// OnRestored is called when a correction brings back an entity that prediction had destroyed. The
	// entity has the same handle.
	OnRestored func(f *Frame, e ecs.Entity)
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
	a := game.Appearance[*Frame]{Call: fn, Vanished: vanished}
	all := []ecs.Term{ecs.With(&p.compiled.Identity)}
	for _, term := range terms {
		switch of, ok := term.(prefabTerm); {
		case guard.Missing(term):
			p.faultf("%s is given a nil term: leave it out", call)
			return
		case ok && (of.prefab == nil || p.compiled.PrefabOf(of.prefab) < 0):
			p.faultf("%s is given a prefab that is not declared: call Prefab first", call)
			return
		case ok && a.Prefab != nil:
			p.faultf("%s is given two prefabs, and an entity has one: call it for each", call)
			return
		case ok:
			a.Prefab = of.prefab
		default:
			all = append(all, term)
		}
	}
	var err error
	if a.Watch, err = p.watch(all); err != nil {
		p.faultf("%s: %w", call, err)
		return
	}
	p.compiled.Handlers.Appearances = append(p.compiled.Handlers.Appearances, a)
}

// watch makes a watch, or returns an error that says what is wrong with its terms.
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
