package main

import (
	"math"
	"slices"
)

// Place is a ship's position in millimetres: integers with a range that no struct tag could
// express.
type Place struct{ X, Y int64 }

// Course is a ship's motion: the heading in 1/65536 of a turn, the speed in millimetres a
// tick.
type Course struct {
	Heading uint16
	Speed   int16
}

func (p *Place) sail(c Course) {
	sin, cos := math.Sincos(float64(c.Heading) * (2 * math.Pi / 65536))
	p.X += int64(float64(c.Speed) * cos)
	p.Y += int64(float64(c.Speed) * sin)
}

// Column stores one component: dense, in ascending order of ids. So a copy is two memory
// copies, and both ends visit entities in the same order. The zero value is empty.
type Column[T comparable] struct {
	ids []uint32
	all []T
}

// Len returns the number of entities with the component.
func (c *Column[T]) Len() int { return len(c.ids) }

// IDs returns the entities with the component, ascending. The caller may keep the slice.
func (c *Column[T]) IDs() []uint32 { return slices.Clone(c.ids) }

// Get returns an entity's component, valid until the column changes, or nil.
func (c *Column[T]) Get(id uint32) *T {
	if i, ok := slices.BinarySearch(c.ids, id); ok {
		return &c.all[i]
	}
	return nil
}

// Set gives an entity the component.
func (c *Column[T]) Set(id uint32, v T) {
	i, ok := slices.BinarySearch(c.ids, id)
	if ok {
		c.all[i] = v
		return
	}
	c.ids, c.all = slices.Insert(c.ids, i, id), slices.Insert(c.all, i, v)
}

// Remove removes the component from an entity.
func (c *Column[T]) Remove(id uint32) {
	if i, ok := slices.BinarySearch(c.ids, id); ok {
		c.ids, c.all = slices.Delete(c.ids, i, i+1), slices.Delete(c.all, i, i+1)
	}
}

// Copy makes c equal to d, reusing c's memory.
func (c *Column[T]) Copy(d *Column[T]) {
	c.ids, c.all = append(c.ids[:0], d.ids...), append(c.all[:0], d.all...)
}

// Equal reports whether two columns are equal.
func (c *Column[T]) Equal(d *Column[T]) bool {
	return slices.Equal(c.ids, d.ids) && slices.Equal(c.all, d.all)
}

// World is the state of one tick.
type World struct {
	Places  Column[Place]
	Courses Column[Course]
	Names   Column[string]
}

// Remove removes all components of an entity, and so the entity.
func (w *World) Remove(id uint32) {
	w.Places.Remove(id)
	w.Courses.Remove(id)
	w.Names.Remove(id)
}

// Copy makes w equal to v.
func (w *World) Copy(v *World) {
	w.Places.Copy(&v.Places)
	w.Courses.Copy(&v.Courses)
	w.Names.Copy(&v.Names)
}

// Equal reports whether two worlds are equal.
func (w *World) Equal(v *World) bool {
	return w != nil && v != nil && w.Places.Equal(&v.Places) && w.Courses.Equal(&v.Courses) && w.Names.Equal(&v.Names)
}
