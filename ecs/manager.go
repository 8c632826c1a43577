package ecs

import (
	"errors"

	"github.com/foretick/foretick/internal/misuse"
)

// Managed reserves spawning and destroying of entities with the component for a
// library. The World's own spawn and destroy methods panic with [UsageError]
// for such entities. The panic text contains the text fix and names the running
// system, except in a [Schedule.ExecutePlayer] without a [Hook], which does not
// track the system. The library uses the methods of [Control.Manager] instead.
func Managed(fix string) TypeOption {
	return func(d *typeData) error {
		if fix == "" {
			return errors.New("Managed needs a fix: say what to call instead")
		}
		d.keeper = fix
		return nil
	}
}

// keptBy returns the first managed component of a set; nil without one.
func (t *Types) keptBy(m Mask) *typeData {
	for _, d := range t.slots[1:] {
		if d.keeper != "" && m.Has(d.id) {
			return d
		}
	}
	return nil
}

// Manager spawns and destroys any entity, even with a [Managed] component. Its
// methods work like those of [World] and [Control] with the same names.
type Manager struct{ w *World }

// Manager returns the world's Manager, for the library that registered a
// [Managed] component.
func (c *Control) Manager() Manager { return Manager{c.world()} }

// Spawn is [World.Spawn].
func (m Manager) Spawn(k *Prefab, owner Owner) Entity { return m.SpawnIn(RangeServer, k, owner) }

// SpawnIn is [Control.SpawnIn].
func (m Manager) SpawnIn(r Range, k *Prefab, owner Owner) Entity {
	m.w.checkPrefab(k)
	return m.w.spawnEntity(r, k, owner)
}

// Place is [Control.Place].
func (m Manager) Place(e Entity, k *Prefab, owner Owner) error {
	m.w.checkPrefab(k)
	return m.w.placeAt(e, k, owner)
}

// Destroy is [World.Destroy].
func (m Manager) Destroy(e Entity) bool { return m.w.placeOf(e) != 0 && m.w.remit(e) }

// ReleaseOwner is [Control.ReleaseOwner].
func (m Manager) ReleaseOwner(o Owner) {
	p := m.w.findPart(o)
	if p == nil {
		return
	}
	m.w.lock()
	for _, t := range p.tables {
		for _, e := range t.ids[:t.n] {
			m.Destroy(e)
		}
	}
	m.w.unlock()
}

// namer returns the names of a schedule's systems by 1 + their index.
type namer interface{ systemAt(place int32) string }

func (s *Schedule[C]) systemAt(place int32) string { return s.systems[place-1].name }

// runner names the running system, as the start of an error text.
func (w *World) runner() string {
	if w.running == 0 || w.schedule == nil {
		return ""
	}
	return "system \"" + w.schedule.systemAt(w.running) + "\": "
}

func (w *World) refuseSpawn(k *prefabData) {
	misuse.Panicf("ecs: %sWorld.Spawn of prefab %q: %s", w.runner(), k.name, k.kept.keeper)
}

func (w *World) refuseDestroy(e Entity, d *typeData) {
	misuse.Panicf("ecs: %sWorld.Destroy of %v: %s", w.runner(), e, d.keeper)
}
