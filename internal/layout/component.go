package layout

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// Component is a replicated component.
type Component struct {
	ID            ecs.ID
	Handle        ecs.Handle // Handle is nil if Unknown is true.
	Name          string
	Size          uintptr
	Schema        *schema.Schema
	Predicted     bool
	Lerped        bool // Lerped is true if any field is interpolated.
	Curved        bool // Curved is true if any field is also interpolated by the value before the two.
	Tolerant      bool // Tolerant is true if any field has a tolerance.
	Unknown       bool // Unknown is true for a component of another build, which is skipped.
	FullPrecision bool // FullPrecision is true if every client receives it on the simulation grid.
	Varies        bool // Varies is true if it holds strings or slices, and so is not plain memory.
	ForOthers     bool // ForOthers is true if runs of shared systems for other players may write it.
	Singleton     int  // Singleton is the singleton whose copy it is. −1 means none.
	Audience      schema.Audience
	Zero          unsafe.Pointer  // Zero points to a zero value.
	Refs          []int           // Refs has the words that are references.
	Masked        schema.Audience // Masked has the audiences that fields name.
}

// Interpolate notes how values of a schema are interpolated, and which are references.
func (c *Component) Interpolate(s *schema.Schema) {
	c.Lerped, c.Curved, c.Refs, c.Masked = c.Schema != nil && c.Schema.OwnInterpolation(), false, nil, 0
	for _, f := range s.Fields() {
		c.Masked |= f.Audience
		if f.Ref {
			c.Refs = append(c.Refs, f.Word)
		}
		c.Lerped = c.Lerped || f.Lerp
		c.Curved = c.Curved || f.Interpolation == schema.Hermite && f.Velocity == ""
	}
}

// HiddenFromOwner returns the name of a field that an entity's owner does not receive by
// being its owner, "" if there is none.
func (c *Component) HiddenFromOwner() string {
	for _, f := range c.Schema.Fields() {
		if f.Audience != 0 && f.Audience&(schema.ToOwner|schema.ToAllies) == 0 {
			return f.Name
		}
	}
	return ""
}

// ByTeam reports whether teams decide who receives a field of a component.
func (c *Component) ByTeam() bool {
	for _, f := range c.Schema.Fields() {
		if f.Audience&(schema.ToAllies|schema.ToEnemies) != 0 {
			return true
		}
	}
	return false
}

// AppendBytes appends bytes that differ for different values of a component: its memory, or
// its wire form if it holds strings or slices. words is scratch.
func (c *Component) AppendBytes(dst []byte, at unsafe.Pointer, words *[]int32) []byte {
	if !c.Varies {
		return append(dst, unsafe.Slice((*byte)(at), c.Size)...)
	}
	n := c.Schema.Words()
	*words = slices.Grow((*words)[:0], n)[:n]
	c.Schema.Quantise(at, schema.GridSim, localRefs{}, *words)
	for _, w := range *words {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w))
	}
	return dst
}

// ByteSize returns the number of bytes that AppendBytes appends.
func (c *Component) ByteSize() int {
	if c.Varies {
		return 4 * c.Schema.Words()
	}
	return int(c.Size)
}

// localRefs is the schema.Refs for values that are compared within one world only.
type localRefs struct{}

// Net returns a number for an entity.
func (localRefs) Net(e uint64) uint32 { return uint32(e ^ e>>32) }

// Entity is never called.
func (localRefs) Entity(uint32) uint64 { return 0 }

// Local is a component that is never sent.
type Local struct {
	ID   ecs.ID
	Size uintptr
	At   int // At is the place among an entity's local components, from its first byte.
}
