package prediction

// History keeps one value per tick for the newest ticks, in memory allocated
// once. The zero value is not usable; use NewHistory.
type History[T any] struct {
	values []T
	ticks  []Tick
	valid  []bool
}

// NewHistory returns a history of size ticks; a size below 1 counts as 1.
func NewHistory[T any](size int) *History[T] {
	size = max(size, 1)
	return &History[T]{values: make([]T, size), ticks: make([]Tick, size), valid: make([]bool, size)}
}

// Put claims the slot of tick t and returns it. The slot still holds an old
// value, which the caller overwrites. The value of size ticks earlier is
// dropped.
func (h *History[T]) Put(t Tick) *T {
	i := int(t % Tick(len(h.values)))
	h.ticks[i], h.valid[i] = t, true
	return &h.values[i]
}

// Find returns tick t's value, or nil when it was never put or has been
// dropped.
func (h *History[T]) Find(t Tick) *T {
	i := int(t % Tick(len(h.values)))
	if !h.valid[i] || h.ticks[i] != t {
		return nil
	}
	return &h.values[i]
}

// Clear drops every tick.
func (h *History[T]) Clear() { clear(h.valid) }
