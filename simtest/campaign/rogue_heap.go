package campaign

import (
	"fmt"
	"runtime"
)

// heapSpare is what the heap may grow by after the warm-up of a life, in bytes. Pools and
// tables keep the most that they ever needed at once, which rises ever more slowly.
const heapSpare = 512 << 10

// flat checks that the heap does not grow any more after the warm-up, which is the first
// batches of a life.
func (d *rogueMatch) flat(batch, warmUp int) error {
	if d.cfg.Shared {
		return nil
	}
	runtime.GC()
	runtime.GC() // empties every sync.Pool
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	d.counts.Heap = max(d.counts.Heap, s.HeapAlloc)
	if d.cfg.OnHeap != nil {
		d.cfg.OnHeap(batch, s.HeapAlloc)
	}
	if batch < warmUp {
		d.heap = max(d.heap, s.HeapAlloc)
		return nil
	}
	if d.heap > 0 && s.HeapAlloc > d.heap+heapSpare {
		return fmt.Errorf("leak: batch %d: the heap grew from %d bytes at most, in the batches before %d, to %d", batch, d.heap, warmUp, s.HeapAlloc)
	}
	return nil
}
