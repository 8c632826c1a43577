package flight

import "sync"

// fullBlock is a block that a goroutine packs while the next one is filled. Its methods are not
// safe for concurrent use.
type fullBlock struct {
	raw    []byte
	packed appender
	wait   sync.WaitGroup
}

// startPacking packs raw in a goroutine, and returns memory for the next block. The block before
// must have been taken.
func (f *fullBlock) startPacking(raw []byte) (next []byte) {
	next, f.raw = f.raw[:0], raw
	f.wait.Add(1)
	go f.packBlock()
	return next
}

func (f *fullBlock) packBlock() {
	defer f.wait.Done()
	f.packed.pack(f.raw)
}

// takeBlock waits for the packed block and returns it, once. It returns an empty slice if there is
// none. The block is valid until the next call of startPacking.
func (f *fullBlock) takeBlock() []byte {
	f.wait.Wait()
	b := f.packed.b
	f.packed.b = f.packed.b[:0]
	return b
}
