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
	Handle        ecs.Handle // nil with Unknown
	Name          string
	Size          uintptr
	Schema        *schema.Schema
	Predicted     bool
	Lerped        bool // any field is interpolated
	Curved        bool // any also by the value before the two
	Tolerant      bool // any field has a tolerance
	Unknown       bool // another build's: it is passed over
	FullPrecision bool // every client receives it on the simulation grid
	Varies        bool // it holds strings or slices, and is no plain memory
	ForOthers     bool // runs of shared systems for other players may write it
	Singleton     int  // the singleton whose copy it is; −1: none
	Audience      schema.Audience
	Zero          unsafe.Pointer // a zero value
	Refs          []int          // the words that are references
}

// Interpolate notes how values of a schema are interpolated, and which are references.
func (c *Component) Interpolate(s *schema.Schema) {
	c.Lerped, c.Curved, c.Refs = c.Schema != nil && c.Schema.OwnInterpolation(), false, nil
	for _, f := range s.Fields() {
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

// ByteSize returns the number of those bytes.
func (c *Component) ByteSize() int {
	if c.Varies {
		return 4 * c.Schema.Words()
	}
	return int(c.Size)
}

// localRefs names entities of one world.
type localRefs struct{}

// Net returns a number for an entity.
func (localRefs) Net(e uint64) uint32 { return uint32(e ^ e>>32) }

// Entity is never called.
func (localRefs) Entity(uint32) uint64 { return 0 }

// Local is a component that is never sent.
type Local struct {
	ID   ecs.ID
	Size uintptr
	At   int // among an entity's local components, from its first byte
}
