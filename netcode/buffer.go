package netcode

// SequenceBuffer relates a sequence number to what the packet of that number
// carried, for as many numbers as it has slots. A newer number evicts the older
// one that shares its slot. It is not safe for concurrent use.
type SequenceBuffer[T any] struct {
	owner []uint32 // sequence + 1 of the slot's owner; 0: free
	value []T
	mask  uint32
}

// NewSequenceBuffer makes a buffer of at least size slots: size is rounded up to
// a power of two between 1 and 65536, so that slots stay evenly used across the
// wrap.
func NewSequenceBuffer[T any](size int) *SequenceBuffer[T] {
	n := 1
	for n < size && n < 1<<16 {
		n <<= 1
	}
	return &SequenceBuffer[T]{owner: make([]uint32, n), value: make([]T, n), mask: uint32(n - 1)}
}

// Insert takes s's slot, evicting whatever number held it, and returns the slot
// as its last owner left it, not zeroed: buffers inside T can be reused, and the
// caller overwrites the rest.
func (b *SequenceBuffer[T]) Insert(s Seq) *T {
	i := uint32(s) & b.mask
	b.owner[i] = uint32(s) + 1
	return &b.value[i]
}

// Find returns what was inserted for s, or nil when s is not held.
func (b *SequenceBuffer[T]) Find(s Seq) *T {
	i := uint32(s) & b.mask
	if b.owner[i] != uint32(s)+1 {
		return nil
	}
	return &b.value[i]
}

// Remove forgets s. The slot's value stays for reuse by Insert.
func (b *SequenceBuffer[T]) Remove(s Seq) {
	if i := uint32(s) & b.mask; b.owner[i] == uint32(s)+1 {
		b.owner[i] = 0
	}
}

// Size is the number of slots.
func (b *SequenceBuffer[T]) Size() int { return len(b.value) }
