package netcode

// SequenceBuffer maps a sequence number to the data of the packet with that
// number. It has a fixed maximum of slots. A newer number evicts the older one
// that shares its slot. It starts empty and doubles as more numbers are held at
// once, so a caller that calls Remove early keeps it small. It is not safe for
// concurrent use.
type SequenceBuffer[T any] struct {
	// owner has, for each slot, 1 + the sequence number in it. 0 means that the slot is free.
	owner []uint32
	value []T
	mask  uint32
	size  int // size is the most slots that the buffer grows to.
}

// leastRing is the number of slots a ring starts with.
const leastRing = 8

// NewSequenceBuffer returns a buffer that grows to at least size slots. It
// rounds size up to a power of two between 1 and 65536, which keeps the slots
// evenly used when numbers wrap.
func NewSequenceBuffer[T any](size int) *SequenceBuffer[T] {
	n := 1
	for n < size && n < 1<<16 {
		n <<= 1
	}
	return &SequenceBuffer[T]{size: n}
}

// Insert takes the slot of s, evicts the number that held it, and returns the
// slot. The value is not zeroed: it is as its last owner left it, so buffers
// inside T can be reused. The caller overwrites the rest.
func (b *SequenceBuffer[T]) Insert(s Seq) *T {
	i := uint32(s) & b.mask
	for int(i) >= len(b.owner) || b.owner[i] != 0 && b.owner[i] != uint32(s)+1 {
		if len(b.owner) == b.size {
			break
		}
		b.growSlots()
		i = uint32(s) & b.mask
	}
	b.owner[i] = uint32(s) + 1
	return &b.value[i]
}

// growSlots doubles the slots. Held numbers and the memory of free slots are kept.
func (b *SequenceBuffer[T]) growSlots() {
	n := min(max(leastRing, 2*len(b.owner)), b.size)
	owner, value := make([]uint32, n), make([]T, n)
	b.mask = uint32(n - 1)
	for i, o := range b.owner {
		to := uint32(i)
		if o != 0 {
			to = (o - 1) & b.mask
		}
		owner[to], value[to] = o, b.value[i]
	}
	b.owner, b.value = owner, value
}

// Find returns the value inserted for s, or nil when s is not held.
func (b *SequenceBuffer[T]) Find(s Seq) *T {
	i := uint32(s) & b.mask
	if int(i) >= len(b.owner) || b.owner[i] != uint32(s)+1 {
		return nil
	}
	return &b.value[i]
}

// Remove drops s. The slot's value stays, for reuse by Insert.
func (b *SequenceBuffer[T]) Remove(s Seq) {
	if i := uint32(s) & b.mask; int(i) < len(b.owner) && b.owner[i] == uint32(s)+1 {
		b.owner[i] = 0
	}
}

// Size returns the number of slots that the buffer can grow to.
func (b *SequenceBuffer[T]) Size() int { return b.size }
