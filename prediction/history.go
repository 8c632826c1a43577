package prediction

// History keeps one value a tick for the newest ticks, in memory allotted
// once. The zero value holds nothing; use NewHistory.
type History[T any] struct {
	values []T
	ticks  []Tick
	valid  []bool
}

// NewHistory holds size ticks; size below 1 counts as 1.
func NewHistory[T any](size int) *History[T] {
	size = max(size, 1)
	return &History[T]{values: make([]T, size), ticks: make([]Tick, size), valid: make([]bool, size)}
}

// Put claims tick t's place and returns it, holding whatever value was there
// before: the caller overwrites it. What was size ticks older is forgotten.
func (h *History[T]) Put(t Tick) *T {
	i := int(t % Tick(len(h.values)))
	h.ticks[i], h.valid[i] = t, true
	return &h.values[i]
}

// Find returns tick t's value, or nil when it was never put or is forgotten.
func (h *History[T]) Find(t Tick) *T {
	i := int(t % Tick(len(h.values)))
	if !h.valid[i] || h.ticks[i] != t {
		return nil
	}
	return &h.values[i]
}

// Clear forgets every tick.
func (h *History[T]) Clear() { clear(h.valid) }
