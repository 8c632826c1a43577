package calendar_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/internal/calendar"
	"github.com/foretick/foretick/transport/internal/heap"
)

// both is a calendar and the heap that is its oracle: simple, slower, and tested against a sorted slice.
type both struct {
	t      require.TestingT
	queue  *calendar.Queue[int]
	oracle heap.Heap[int]
	pushed int
}

func newBoth(t require.TestingT) *both { return &both{t: t, queue: calendar.New[int]()} }

func (b *both) push(at time.Duration) {
	b.pushed++
	place := b.queue.Push(at)
	if *place != 0 {
		b.t.Errorf("the place of a new value holds %d", *place)
		b.t.FailNow()
	}
	*place = b.pushed
	b.oracle.Push(at, b.pushed)
}

// pop takes one value that is due by limit from each and compares the two. It reports whether there was
// one.
func (b *both) pop(limit time.Duration) bool {
	want, due := b.oracle.Next()
	next, any := b.queue.Next()
	if next != want || any != due || b.queue.Len() != b.oracle.Len() {
		b.t.Errorf("next is %v %v of %d, want %v %v of %d", next, any, b.queue.Len(), want, due, b.oracle.Len())
		b.t.FailNow()
	}
	var v int
	at, ok := b.queue.Pop(limit, &v)
	if ok != (due && want <= limit) {
		b.t.Errorf("popped %v by %v; the next was due %v %v", ok, limit, want, due)
		b.t.FailNow()
	}
	if !ok {
		return false
	}
	if wantAt, wantV := b.oracle.Pop(); at != wantAt || v != wantV {
		b.t.Errorf("popped %d of %v, want %d of %v", v, at, wantV, wantAt)
		b.t.FailNow()
	}
	return true
}

// The calendar behaves like the heap for every sequence of calls: ties, many values in a bucket, values due in the
// past, now, within the calendar's year and beyond it, and limits that skip years.
func TestQueueAgreesWithAHeap(t *testing.T) {
	deltas := rapid.OneOf(
		rapid.Int64Range(0, 20),
		rapid.Int64Range(0, int64(3*time.Millisecond)),
		rapid.Int64Range(0, int64(400*time.Millisecond)),
		rapid.Int64Range(int64(500*time.Millisecond), int64(600*time.Millisecond)), // the year's end is at 537 ms
		rapid.Int64Range(0, int64(20*time.Second)),
		rapid.Int64Range(-int64(10*time.Millisecond), 0),
		rapid.Just(int64(1)<<62),
	)
	rapid.Check(t, func(t *rapid.T) {
		b := newBoth(t)
		now := time.Duration(0)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				for range rapid.IntRange(1, 4).Draw(t, "bunch") {
					b.push(now + time.Duration(deltas.Draw(t, "in")))
				}
			case 2:
				b.pop(now)
			case 3:
				now += time.Duration(max(0, min(deltas.Draw(t, "pass"), int64(time.Hour))))
				for b.pop(now) {
				}
			}
		}
		for b.pop(1 << 62) {
		}
	})
}

// A million events as in a simulation: each event that is popped pushes another one.
func TestQueueAgreesWithAHeapForLong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := newBoth(t)
	for range 200 {
		b.push(time.Duration(r.Int64N(int64(time.Second))))
	}
	now := time.Duration(0)
	for b.pushed < 1_000_000 {
		now += time.Duration(r.Int64N(int64(40 * time.Millisecond)))
		for b.pop(now) {
			switch after := now + time.Duration(r.Int64N(int64(100*time.Millisecond))); r.IntN(10) {
			case 0:
				b.push(now + 5*time.Second)
			case 1:
				b.push(now)
			case 2:
				b.push(after.Truncate(10 * time.Millisecond)) // ties
			default:
				b.push(after)
			}
		}
	}
	require.Equal(t, 200, b.queue.Len())
}

// A popped value is released, and its node is reused.
func TestQueueDoesNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	q := calendar.New[*int]()
	for i := range 100 {
		q.Push(time.Duration(i*7919%1500) * time.Millisecond)
	}
	now := time.Duration(0)
	var v *int
	value := 1
	turn := func() {
		for at, ok := q.Pop(now, &v); ok; at, ok = q.Pop(now, &v) {
			*q.Push(at + 700*time.Millisecond) = &value
		}
		now += 33 * time.Millisecond
	}
	for range 1000 {
		turn()
	}
	assert.Zero(t, testing.AllocsPerRun(1000, turn))
	assert.Equal(t, 100, q.Len())
}
