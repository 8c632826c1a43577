// Package calendar is a queue ordered by time, then by insertion, for a simulation's events. Near events wait in
// buckets of a quarter of a millisecond (a calendar queue, Brown 1988, one year long), far events in a heap.
package calendar

import (
	"math"
	"math/bits"
	"time"

	"github.com/foretick/foretick/transport/internal/heap"
)

const (
	shift   = 18      // a bucket is 2¹⁸ ns wide: 0.26 ms
	buckets = 1 << 11 // 0.54 s
	never   = math.MaxInt64
)

// node is a value that waits. The nodes of a bucket form a ring: its last node points at its first.
type node[T any] struct {
	v    T
	at   time.Duration
	next int32 // next node in the bucket, or in the free list
}

// Queue is a queue whose clock moves with Pop. New creates it.
type Queue[T any] struct {
	near heap.Heap[int32] // values due in today's bucket, or pushed after it was opened
	far  heap.Heap[int32] // values too far away for a bucket
	n    int              // number of values
	day  int64            // today's bucket; never above that of the last Pop's limit
	next int64            // the first bucket after today that holds a value, here or in far; or never

	nodes []node[T]
	free  int32                // the first unused node, or -1
	last  [buckets]int32       // last node of each bucket that is marked in used
	used  [buckets / 64]uint64 // a bit for each bucket that holds a value
}

// New returns an empty queue.
func New[T any]() *Queue[T] { return &Queue[T]{next: never, free: -1} }

// Len returns the number of values.
func (q *Queue[T]) Len() int { return q.n }

// Push adds a value, due at a time, and returns it for the caller to fill in: it is zero, and stays in place until
// the next call. Values due before the limit of the last Pop are slower.
func (q *Queue[T]) Push(at time.Duration) *T {
	i := q.free
	if i >= 0 {
		q.free = q.nodes[i].next
	} else {
		i = int32(len(q.nodes))
		q.nodes = append(q.nodes, node[T]{})
	}
	e := &q.nodes[i]
	e.at = at
	q.n++
	b := int64(at) >> shift
	if b <= q.day {
		q.near.Push(at, i)
		return &e.v
	}
	q.next = min(q.next, b)
	if b-q.day >= buckets {
		q.far.Push(at, i)
		return &e.v
	}
	slot := b & (buckets - 1)
	if word, bit := &q.used[slot/64], uint64(1)<<(slot%64); *word&bit == 0 {
		*word |= bit
		e.next = i
	} else {
		last := &q.nodes[q.last[slot]]
		e.next, last.next = last.next, i
	}
	q.last[slot] = i
	return &e.v
}

// Pop moves the first value to v if it is due by limit, and returns its time.
func (q *Queue[T]) Pop(limit time.Duration, v *T) (at time.Duration, ok bool) {
	if q.near.Len() == 0 {
		if q.next > int64(limit)>>shift {
			q.day = max(q.day, int64(limit)>>shift)
			return 0, false
		}
		if i := q.openBucket(); i >= 0 {
			if at = q.nodes[i].at; at > limit {
				q.near.Push(at, i)
				return 0, false
			}
			q.takeNode(i, v)
			return at, true
		}
	}
	if at, _ = q.near.Next(); at > limit {
		return 0, false
	}
	_, i := q.near.Pop()
	q.takeNode(i, v)
	return at, true
}

// takeNode moves a node's value to v and frees the node.
func (q *Queue[T]) takeNode(i int32, v *T) {
	e := &q.nodes[i]
	*v = e.v
	var none T
	e.v = none // release references
	e.next, q.free = q.free, i
	q.n--
}

// Next returns the time of the first value; ok is false when there is none.
func (q *Queue[T]) Next() (at time.Duration, ok bool) {
	if at, ok = q.near.Next(); ok || q.next == never {
		return at, ok
	}
	at, ok = q.far.Next()
	if slot := q.next & (buckets - 1); q.next-q.day < buckets && q.used[slot/64]>>(slot%64)&1 != 0 {
		last := q.last[slot]
		for i := q.nodes[last].next; ; i = q.nodes[i].next {
			if e := &q.nodes[i]; !ok || e.at < at {
				at, ok = e.at, true
			}
			if i == last {
				break
			}
		}
	}
	return at, ok
}

// openBucket makes the next used bucket today's, and moves its nodes to near. If there is only one
// node, and near is empty, it returns that node instead; otherwise it returns -1. Values in far are
// moved first: they were pushed earlier, when they were too far away for a bucket.
func (q *Queue[T]) openBucket() (only int32) {
	b := q.next
	q.day, only = b, -1
	at, ok := q.far.Next()
	for ; ok && int64(at)>>shift == b; at, ok = q.far.Next() {
		_, i := q.far.Pop()
		q.near.Push(at, i)
	}
	q.next = never
	if ok {
		q.next = int64(at) >> shift
	}
	slot := b & (buckets - 1)
	if word, bit := &q.used[slot/64], uint64(1)<<(slot%64); *word&bit != 0 {
		*word &^= bit
		last := q.last[slot]
		first := q.nodes[last].next
		if first == last && q.near.Len() == 0 {
			only = first
		} else {
			for i := first; ; i = q.nodes[i].next {
				q.near.Push(q.nodes[i].at, i)
				if i == last {
					break
				}
			}
		}
	}
	q.next = min(q.next, q.after(b))
	return only
}

// after returns the first bucket after b, within a year, that holds a value; or never.
func (q *Queue[T]) after(b int64) int64 {
	from := (b + 1) & (buckets - 1)
	word := q.used[from/64] >> (from % 64) << (from % 64)
	for k := range int64(len(q.used) + 1) {
		w := (from/64 + k) % int64(len(q.used))
		if k > 0 {
			word = q.used[w]
		}
		if word != 0 {
			slot := w*64 + int64(bits.TrailingZeros64(word))
			return b + 1 + (slot-from)&(buckets-1)
		}
	}
	return never
}
