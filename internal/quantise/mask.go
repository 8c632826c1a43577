package quantise

import "math/bits"

// MaskBits is the number of components that a Mask has bits for.
const MaskBits = 256

// Mask is a set of components, by their ids. Its zero value is empty. Compare masks with
// Equal.
//
// Nearly all games have up to 64 components. Their masks are one word. The ids from 64 on are
// behind a pointer, which copies of a mask share. So a mask is two words long in any game, and
// stays in registers.
type Mask struct {
	_    [0]func() // The field keeps == from compiling, which would compare pointers.
	low  uint64
	high *highBits // high is nil if there are no ids from 64 on. What it points to never changes.
}

// highBits are the bits of ids from 64 on.
type highBits [MaskBits/64 - 1]uint64

// MaskHigh are the components of a Mask whose ids are 64 or more.
type MaskHigh = *highBits

// JoinMask is the inverse of Mask.Split.
func JoinMask(low uint64, high MaskHigh) Mask { return Mask{low: low, high: high} }

// Split returns the components below 64, a bit for each id, and the others. Where there are
// many masks, it saves the memory for the others in games that have none.
func (m Mask) Split() (low uint64, high MaskHigh) { return m.low, m.high }

// MaskBuilder is a set of components that may change, a bit for each id.
type MaskBuilder [MaskBits / 64]uint64

// Has reports whether a component was added.
func (b *MaskBuilder) Has(c int) bool { return b[c>>6]>>(c&63)&1 != 0 }

// Set adds a component.
func (b *MaskBuilder) Set(c int) { b[c>>6] |= 1 << (c & 63) }

// Flip adds a component, or removes it if it is in the set.
func (b *MaskBuilder) Flip(c int) { b[c>>6] ^= 1 << (c & 63) }

// Mask returns the set. It allocates memory for ids from 64 on.
func (b *MaskBuilder) Mask() Mask {
	m := Mask{low: b[0]}
	if b[1]|b[2]|b[3] != 0 {
		m.high = &highBits{b[1], b[2], b[3]}
	}
	return m
}

// MaskLike returns the set as Mask does. If like is the same set, MaskLike returns it, which does not allocate.
func (b *MaskBuilder) MaskLike(like Mask) Mask {
	for k, w := range b {
		if w != like.Part(k) {
			return b.Mask()
		}
	}
	return like
}

// MaskOf returns the set of some components. It panics if an id is not 0 to 255.
func MaskOf(comps ...int) Mask {
	var b MaskBuilder
	for _, c := range comps {
		b.Set(c)
	}
	return b.Mask()
}

// Builder returns a copy of the set to change.
func (m Mask) Builder() (b MaskBuilder) {
	for k := range b {
		b[k] = m.Part(k)
	}
	return b
}

// Equal reports whether two sets have the same components.
func (m Mask) Equal(o Mask) bool {
	return m.low == o.low && (m.high == o.high || m.high.equal(o.high))
}

//go:noinline
func (h *highBits) equal(o *highBits) bool { return h != nil && o != nil && *h == *o }

// Wide reports whether the set has a component whose id is 64 or more.
func (m Mask) Wide() bool { return m.high != nil }

// Parts returns how many words the set has: one, or four with ids from 64 on. This loop
// visits the components of a set in the order of their ids c, and costs as little as one over
// a word:
//
//	for k := range mask.Parts() {
//		for m := mask.Part(k); m != 0; m &= m - 1 {
//			c := k<<6 + bits.TrailingZeros64(m)
//		}
//	}
func (m Mask) Parts() int {
	if m.high != nil {
		return MaskBits / 64
	}
	return 1
}

// Part returns a word of the set. Bit i of part k is component 64k + i.
func (m Mask) Part(k int) uint64 {
	switch {
	case k == 0:
		return m.low
	case m.high == nil:
		return 0
	}
	return m.high[k-1]
}

// Has reports whether a component is in the set.
func (m Mask) Has(c int) bool { return uint(c) < MaskBits && m.Part(c>>6)>>(c&63)&1 != 0 }

// With returns the set and one more component.
func (m Mask) With(c int) Mask {
	b := m.Builder()
	b.Set(c)
	return b.Mask()
}

// Len returns the number of components in the set.
func (m Mask) Len() int {
	n := bits.OnesCount64(m.low)
	for k := 1; k < m.Parts(); k++ {
		n += bits.OnesCount64(m.Part(k))
	}
	return n
}

// End returns the id after the set's last component, 0 if the set is empty.
func (m Mask) End() (end int) {
	for k := range m.Parts() {
		if w := m.Part(k); w != 0 {
			end = k<<6 + bits.Len64(w)
		}
	}
	return end
}

// Next returns the first component of the set from an id on, −1 if there is none. A loop
// over the set is for c := m.Next(0); c >= 0; c = m.Next(c + 1).
func (m Mask) Next(c int) int {
	for k := c >> 6; k < m.Parts(); k++ {
		if w := m.Part(k) >> (c & 63); w != 0 {
			return c + bits.TrailingZeros64(w)
		}
		c = (k + 1) << 6
	}
	return -1
}

// meets reports whether a component is in both sets.
func (m Mask) meets(o *Mask) bool {
	return m.low&o.low != 0 || m.high != nil && o.high != nil && m.high.meets(o.high)
}

//go:noinline
func (h *highBits) meets(o *highBits) bool { return h[0]&o[0]|h[1]&o[1]|h[2]&o[2] != 0 }

// without returns the components of m that are not in o.
func (m Mask) without(o *Mask) Mask {
	if m.low &^= o.low; m.high != nil && o.high != nil && m.high.meets(o.high) {
		b := m.Builder()
		for k := range b {
			b[k] &^= o.Part(k)
		}
		return b.Mask()
	}
	return m
}
