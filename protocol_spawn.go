package foretick

import (
	"reflect"
	"slices"

	"github.com/foretick/foretick/ecs"
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
		p.faultf("Spawns(%q): a ClientOnly entity gets no input: take %s out of the prefab, or leave SpawnConfig.ClientOnly false", k.Name(), typeName(p.compiled.Command.Handle.Type()))
	default:
		p.compiled.Spawning, p.compiled.handlers.spawns[i] = true, &c
		if p.compiled.Prefabs[i].Spawn = layout.SpawnMatched; c.ClientOnly {
			p.compiled.Prefabs[i].Spawn, p.compiled.ClientOnly = layout.SpawnedForClient, true
		}
	}
}

// registerSpawns registers the three behind all of the game's components, if there
// is a prefab that they travel with.
func (p *Protocol) registerSpawns() {
	register := func(has func(*layout.Prefab) bool, t reflect.Type, name string) int {
		for i := range p.compiled.Prefabs {
			if !has(&p.compiled.Prefabs[i]) {
				continue
			}
			s, err := schema.Compile(t, schema.Options{Name: name})
			p.fault(err)
			at, err := p.compiled.Registry.Component(s)
			p.fault(err)
			return at
		}
		return -1
	}
	p.compiled.Origins.Matched = register((*layout.Prefab).Matched, reflect.TypeFor[originComponent](), originName)
	p.compiled.Origins.ClientOnly = register((*layout.Prefab).ClientOnly, reflect.TypeFor[localComponent](), localName)
	p.compiled.Origins.Interpolated = register(func(k *layout.Prefab) bool { return k.Interpolated }, reflect.TypeFor[interpolatedComponent](), interpolatedName)
}
