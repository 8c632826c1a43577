package flight

import "sync"

// fullBlock is a block that a goroutine packs while the next one is filled. One goroutine
// starts, takes and fills.
type fullBlock struct {
	raw    []byte
	packed appender
	wait   sync.WaitGroup
}

// startPacking packs raw, and returns memory for the next block. The one before must be taken.
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

// takeBlock waits for the block, and returns it once; nil: there is none. It is valid until the
// next start.
func (f *fullBlock) takeBlock() []byte {
	f.wait.Wait()
	b := f.packed.b
	f.packed.b = f.packed.b[:0]
	return b
}
