package observe

import (
	"iter"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Entity is an entity of the server as the observer last received it. It is valid until
// the next Step. The zero Entity has no fields.
type Entity struct {
	registry *schema.Registry
	labels   schema.Labels
	ghost    *snapshot.Ghost
	state    snapshot.State
}

// Field is one value of an entity.
type Field struct {
	// Component is the name of the component's Go type without its package. Name is the
	// path of the field within it, such as "Pos.X" or "Slots[2]".
	Component, Name string
	// Value is a bool, an int64, a uint64, a float64, a string, a rotation of four numbers,
	// or the [schema.WireID] of a reference: see [schema.Schema.Value].
	Value any
	// Label is how the game wants the field shown. It is zero if the game has none, and until
	// the server has sent it: see [Observer.Labels].
	Label schema.Label
}

// String returns the value with its unit. An integer is replaced by its name if the game named
// the values.
func (f Field) String() string { return f.Label.Text(f.Value) }

// Entities lists the entities that the observer sees in the newest snapshot, in no
// particular order. It returns nil before the first snapshot. It allocates.
func (o *Observer) Entities() []Entity {
	if o.recv == nil {
		return nil
	}
	var all []Entity
	for _, g := range o.recv.Ghosts() {
		if g.Gone == 0 {
			all = append(all, Entity{o.recv.Registry(), o.labels, g, g.Newest()})
		}
	}
	return all
}

// Entity returns an entity by its number. It returns false if the observer does not see it.
func (o *Observer) Entity(id schema.WireID) (Entity, bool) {
	if o.recv == nil {
		return Entity{}, false
	}
	g := o.recv.Find(id)
	if g == nil || g.Gone != 0 {
		return Entity{}, false
	}
	return Entity{o.recv.Registry(), o.labels, g, g.Newest()}, true
}

// ID returns the number that the connection gave the entity. References in fields hold it.
func (e Entity) ID() schema.WireID { return e.ghost.Wire }

// Prefab returns the name of the entity's prefab.
func (e Entity) Prefab() string { return e.registry.PrefabName(e.ghost.Prefab) }

// Owner returns the player who owns the entity, 0 for nobody.
func (e Entity) Owner() uint16 { return e.ghost.Owner }

// Tick returns the tick that the entity's values are known for.
func (e Entity) Tick() Tick { return e.state.Tick }

// Fields iterates over the fields that the observer receives, in the order of declaration.
// Reading a value allocates.
func (e Entity) Fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		if e.registry == nil {
			return
		}
		for c := range e.registry.Components() {
			words, s := e.state.Component(c), e.registry.Schema(c)
			if words == nil {
				continue
			}
			for i, f := range s.Fields() {
				if !e.receives(f) || !s.Has(i, words) {
					continue
				}
				if !yield(Field{s.Name(), f.Name, s.Value(i, words, e.state.Grid(c)), e.labels.Of(s.Name(), f.Name)}) {
					return
				}
			}
		}
	}
}

// Value returns a field's value by the names of component and field, such as "Place" and
// "Pos.X". It returns false if the entity has no such field, or the observer does not
// receive it.
func (e Entity) Value(component, field string) (any, bool) {
	for f := range e.Fields() {
		if f.Component == component && f.Name == field {
			return f.Value, true
		}
	}
	return nil, false
}

// receives reports whether the observer belongs to a field's audience.
func (e Entity) receives(f schema.Field) bool {
	return f.Audience == 0 || f.Audience&e.state.Audience != 0
}
