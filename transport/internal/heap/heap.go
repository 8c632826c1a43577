// Package heap is a queue of values by due time: a four-ary heap without interfaces, first in first out
// among equal times.
package heap

import "time"

type item[T any] struct {
	at  time.Duration
	seq uint64
	v   T
}

// Heap is a queue ordered by time, then by insertion. The zero value is empty.
type Heap[T any] struct {
	items []item[T]
	seq   uint64
}

// Len returns the number of values.
func (h *Heap[T]) Len() int { return len(h.items) }

// Next returns the time of the first value; ok is false when there is none.
func (h *Heap[T]) Next() (at time.Duration, ok bool) {
	if len(h.items) == 0 {
		return 0, false
	}
	return h.items[0].at, true
}

func before[T any](a, b *item[T]) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// Push adds v, due at a time.
func (h *Heap[T]) Push(at time.Duration, v T) {
	h.seq++
	it := item[T]{at, h.seq, v}
	h.items = append(h.items, it)
	s := h.items
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !before(&it, &s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = it
}

// Pop removes the first value and returns it. The heap must not be empty.
func (h *Heap[T]) Pop() (at time.Duration, v T) {
	s := h.items
	top := s[0]
	n := len(s) - 1
	last := s[n]
	s[n] = item[T]{}
	s = s[:n]
	h.items = s
	i := 0 // the hole moves down to a leaf: last came from a leaf and mostly belongs near one
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		kids := s[child:min(child+4, n)]
		least, k := &kids[0], 0
		for c := 1; c < len(kids); c++ {
			if before(&kids[c], least) {
				least, k = &kids[c], c
			}
		}
		s[i] = *least
		i = child + k
	}
	if n > 0 {
		for i > 0 {
			up := (i - 1) / 4
			if !before(&last, &s[up]) {
				break
			}
			s[i] = s[up]
			i = up
		}
		s[i] = last
	}
	return top.at, top.v
}
