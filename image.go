package foretick

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/snapshot"
)

// image appends the bytes by which two values of a component are told apart: its
// memory, or, where that holds strings and slices, what they would travel as. words
// is scratch.
func (c *component) image(dst []byte, at unsafe.Pointer, words *[]int32) []byte {
	if !c.varies {
		return append(dst, unsafe.Slice((*byte)(at), c.size)...)
	}
	n := c.schema.Words()
	*words = slices.Grow((*words)[:0], n)[:n]
	c.schema.Quantise(at, snapshot.GridSim, localRefs{}, *words)
	for _, w := range *words {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w))
	}
	return dst
}

// imageSize is how many bytes that is.
func (c *component) imageSize() int {
	if c.varies {
		return 4 * c.schema.Words()
	}
	return int(c.size)
}

// localRefs tells entities of one world apart.
type localRefs struct{}

// Net is a number for an entity.
func (localRefs) Net(e uint64) uint32 { return uint32(e ^ e>>32) }

// Entity is never asked for.
func (localRefs) Entity(uint32) uint64 { return 0 }
