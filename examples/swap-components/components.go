package main

import (
	"math"
	"slices"
)

// Place is where a ship is, in millimetres: integers of a range that no struct tag could name.
type Place struct{ X, Y int64 }

// Course is where it goes: the heading in 1/65536 of a turn, the speed in millimetres a tick.
type Course struct {
	Heading uint16
	Speed   int16
}

func (p *Place) sail(c Course) {
	sin, cos := math.Sincos(float64(c.Heading) * (2 * math.Pi / 65536))
	p.X += int64(float64(c.Speed) * cos)
	p.Y += int64(float64(c.Speed) * sin)
}

// Column stores one component: dense, in ascending order of ids, so that a copy is two copies of memory and both ends
// visit entities in the same order. The zero value is empty.
type Column[T comparable] struct {
	ids []uint32
	all []T
}

// Len returns how many entities have the component.
func (c *Column[T]) Len() int { return len(c.ids) }

// IDs returns the entities that have it, ascending; the caller's to keep.
func (c *Column[T]) IDs() []uint32 { return slices.Clone(c.ids) }

// Get returns an entity's component until the column changes, or nil.
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

// Remove takes it away.
func (c *Column[T]) Remove(id uint32) {
	if i, ok := slices.BinarySearch(c.ids, id); ok {
		c.ids, c.all = slices.Delete(c.ids, i, i+1), slices.Delete(c.all, i, i+1)
	}
}

// Copy makes c what d is, in the memory that it has.
func (c *Column[T]) Copy(d *Column[T]) {
	c.ids, c.all = append(c.ids[:0], d.ids...), append(c.all[:0], d.all...)
}

// Equal tells whether two columns hold the same.
func (c *Column[T]) Equal(d *Column[T]) bool {
	return slices.Equal(c.ids, d.ids) && slices.Equal(c.all, d.all)
}

// World is the state of one tick.
type World struct {
	Places  Column[Place]
	Courses Column[Course]
	Names   Column[string]
}

// Remove takes all components of an entity away, and so the entity.
func (w *World) Remove(id uint32) {
	w.Places.Remove(id)
	w.Courses.Remove(id)
	w.Names.Remove(id)
}

// Copy makes w what v is.
func (w *World) Copy(v *World) {
	w.Places.Copy(&v.Places)
	w.Courses.Copy(&v.Courses)
	w.Names.Copy(&v.Names)
}

// Equal tells whether two worlds hold the same.
func (w *World) Equal(v *World) bool {
	return w != nil && v != nil && w.Places.Equal(&v.Places) && w.Courses.Equal(&v.Courses) && w.Names.Equal(&v.Names)
}
