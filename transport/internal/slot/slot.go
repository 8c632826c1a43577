// Package slot stores an endpoint's peers by PeerID: small slots, reused with a new generation.
package slot

import "github.com/foretick/foretick/transport"

type row[T any] struct {
	v          T
	generation uint32
	used       bool
}

// Table holds a value for each peer. The zero value is empty.
type Table[T any] struct {
	rows []row[T]
	free []int
	n    int
}

// Len returns the number of peers.
func (t *Table[T]) Len() int { return t.n }

// Slots returns an upper bound of the slots in use, for At.
func (t *Table[T]) Slots() int { return len(t.rows) }

// Add stores v under a new id. A slot that has used up its generations is never reused.
func (t *Table[T]) Add(v T) transport.PeerID {
	var s int
	if k := len(t.free); k > 0 {
		s = t.free[k-1]
		t.free = t.free[:k-1]
	} else {
		s = len(t.rows)
		t.rows = append(t.rows, row[T]{})
	}
	r := &t.rows[s]
	r.v, r.used = v, true
	r.generation++
	t.n++
	return transport.MakePeerID(s, r.generation)
}

// Get returns the value of p.
func (t *Table[T]) Get(p transport.PeerID) (v T, ok bool) {
	s := p.Slot()
	if s < 0 || s >= len(t.rows) { // an invalid id is negative where int has 32 bits
		return v, false
	}
	if r := &t.rows[s]; r.used && r.generation == p.Generation() {
		return r.v, true
	}
	return v, false
}

// At returns the value in a slot below Slots.
func (t *Table[T]) At(slot int) (v T, ok bool) { return t.rows[slot].v, t.rows[slot].used }

// Remove removes p and reports whether it was present.
func (t *Table[T]) Remove(p transport.PeerID) bool {
	if _, ok := t.Get(p); !ok {
		return false
	}
	s := p.Slot()
	r := &t.rows[s]
	var none T
	r.v, r.used = none, false
	t.n--
	if r.generation != ^uint32(0) {
		t.free = append(t.free, s)
	}
	return true
}
