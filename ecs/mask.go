package ecs

import "math/bits"

// Mask is a set of component types, one bit each. Its zero value is empty.
type Mask [4]uint64

// Has reports whether the type is in the set.
func (m Mask) Has(id ID) bool { return m[id>>6]>>(id&63)&1 != 0 }

// Set adds the type.
func (m *Mask) Set(id ID) { m[id>>6] |= 1 << (id & 63) }

// Clear removes the type.
func (m *Mask) Clear(id ID) { m[id>>6] &^= 1 << (id & 63) }

// Contains reports whether every type of o is in m.
func (m Mask) Contains(o Mask) bool {
	return o[0]&^m[0]|o[1]&^m[1]|o[2]&^m[2]|o[3]&^m[3] == 0
}

// Overlaps reports whether m and o share a type.
func (m Mask) Overlaps(o Mask) bool {
	return o[0]&m[0]|o[1]&m[1]|o[2]&m[2]|o[3]&m[3] != 0
}

// Or returns the union of both sets.
func (m Mask) Or(o Mask) Mask {
	for i := range m {
		m[i] |= o[i]
	}
	return m
}

// Len returns the number of types in the set.
func (m Mask) Len() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// IDs returns the types in the set, ascending.
func (m Mask) IDs() []ID {
	ids := make([]ID, 0, m.Len())
	for i, w := range m {
		for ; w != 0; w &= w - 1 {
			ids = append(ids, ID(i*64+bits.TrailingZeros64(w)))
		}
	}
	return ids
}

// Compare orders masks as 256-bit numbers; it returns −1, 0 or 1. Worlds visit
// their tables in this order, then by owner.
func (m Mask) Compare(o Mask) int {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i] != o[i] {
			if m[i] < o[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}
