package ecs

import "errors"

// Managed leaves the entities that have the component to a library: the World's own
// methods that spawn and destroy panic with [UsageError] for them, and name the
// fix and the running system (not in a [Schedule.ExecutePlayer] without a [Hook], which
// keeps no note of it). The library calls those of [World.Manager].
func Managed(fix string) TypeOption {
	return func(d *typeData) error {
		if fix == "" {
			return errors.New("Managed needs a fix: say what to call instead")
		}
		d.keeper = fix
		return nil
	}
}

// keptBy is the first managed component of a set; nil without one.
func (t *Types) keptBy(m Mask) *typeData {
	for _, d := range t.slots[1:] {
		if d.keeper != "" && m.Has(d.id) {
			return d
		}
	}
	return nil
}

// Manager spawns and destroys entities with a [Managed] component, and any other.
// Its methods do what the World's of the same names do.
type Manager struct{ w *World }

// Manager is for the library that registered a [Managed] component.
func (w *World) Manager() Manager { return Manager{w} }

// Spawn is [World.Spawn].
func (m Manager) Spawn(k *Prefab, owner Owner) Entity { return m.SpawnIn(RangeServer, k, owner) }

// SpawnIn is [World.SpawnIn].
func (m Manager) SpawnIn(r Range, k *Prefab, owner Owner) Entity {
	m.w.checkPrefab(k)
	return m.w.spawn(r, k, owner)
}

// Place is [World.Place].
func (m Manager) Place(e Entity, k *Prefab, owner Owner) error {
	m.w.checkPrefab(k)
	return m.w.placeAt(e, k, owner)
}

// Destroy is [World.Destroy].
func (m Manager) Destroy(e Entity) bool { return m.w.find(e) != 0 && m.w.remit(e) }

// ReleaseOwner is [World.ReleaseOwner].
func (m Manager) ReleaseOwner(o Owner) {
	p := m.w.findPart(o)
	if p == nil {
		return
	}
	m.w.Lock()
	for _, t := range p.tables {
		for _, e := range t.ids[:t.n] {
			m.Destroy(e)
		}
	}
	m.w.Unlock()
}

// namer names the systems of a schedule by 1 + their place.
type namer interface{ systemAt(place int32) string }

func (s *Schedule[C]) systemAt(place int32) string { return s.systems[place-1].name }

// runner names the system that runs, for the beginning of an error.
func (w *World) runner() string {
	if w.running == 0 || w.schedule == nil {
		return ""
	}
	return "system \"" + w.schedule.systemAt(w.running) + "\": "
}

func (w *World) refuseSpawn(k *prefabData) {
	misuse("%sWorld.Spawn of prefab %q: %s", w.runner(), k.name, k.kept.keeper)
}

func (w *World) refuseDestroy(e Entity, d *typeData) {
	misuse("%sWorld.Destroy of %v: %s", w.runner(), e, d.keeper)
}
