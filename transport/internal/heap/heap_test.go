package heap_test

import (
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/internal/heap"
)

// The heap agrees with a stable sort, whatever is pushed and popped in between.
func TestHeapIsAStableQueue(t *testing.T) {
	type entry struct {
		at time.Duration
		v  int
	}
	rapid.Check(t, func(t *rapid.T) {
		var h heap.Heap[int]
		var model []entry
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(model) > 0 && rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				next, ok := h.Next()
				at, v := h.Pop()
				if !ok || next != at || (entry{at, v}) != model[0] {
					t.Fatalf("popped %v %v (next %v), want %v", at, v, next, model[0])
				}
				model = model[1:]
				continue
			}
			e := entry{time.Duration(rapid.IntRange(0, 20).Draw(t, "at")), i}
			h.Push(e.at, e.v)
			k := sort.Search(len(model), func(k int) bool { return model[k].at > e.at })
			model = append(model[:k], append([]entry{e}, model[k:]...)...)
		}
		if h.Len() != len(model) {
			t.Fatalf("%d values, want %d", h.Len(), len(model))
		}
	})
}

func TestHeapDoesNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	var h heap.Heap[int32]
	for i := range 100 {
		h.Push(time.Duration(i*7919%100), int32(i))
	}
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		at, v := h.Pop()
		h.Push(at+50, v)
	}))
}
