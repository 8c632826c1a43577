package snapshot_test

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// vast is a component of which few bits can say very much.
type vast struct {
	N    uint32
	List []int32 `net:"max=1000"`
}

// vastReceiver reads what a sender says of many vast entities, each of which changes a
// little in each tick, and asserts what each snapshot costs. held are read 100 ticks
// late.
func vastReceiver(t *testing.T, entities, ticks int, late bool) *snapshot.Receiver {
	r := schema.NewRegistry()
	_, err := r.Component(compile[vast](t, schema.Options{}))
	require.NoError(t, err)
	_, err = r.Prefab("vast", []int{0}, nil)
	require.NoError(t, err)
	src := snapshot.NewSource(r, snapshot.SourceConfig{})
	s := src.NewSender(1, snapshot.SenderConfig{})
	recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
	var v vast
	v.List = make([]int32, 1000)
	var waiting [][]byte
	bytes, refused, memory := 0, 0, uint64(0)
	read := func(p []byte) error {
		took, least, err := cost(func() error { _, err := recv.Read(p); return err })
		memory += took
		require.LessOrEqual(t, took, uint64(readMemory+2*len(p)), "of %d bytes", len(p))
		if runtime.GOARCH != "wasm" { // wasm is slow, and one try on a busy machine is slower
			require.LessOrEqual(t, least, 10*readTime*time.Duration(1+len(p)/1200), "of %d bytes", len(p))
		}
		bytes += len(p)
		return err
	}
	for tick := schema.Tick(1); tick <= schema.Tick(ticks); tick++ {
		src.Begin(tick)
		v.N = tick
		for id := range entities {
			src.Put(snapshot.NetID(id+1), 0, 0, schema.MaskOf(0), []unsafe.Pointer{unsafe.Pointer(&v)}, nil)
		}
		src.End()
		var sent snapshot.Sent
		p := s.Append(nil, 1200, &sent)
		if late && tick > 120 && tick%3 == 0 {
			waiting = append(waiting, p)
			if len(waiting) > 30 {
				_ = read(waiting[0])
				waiting = waiting[1:]
			}
			continue
		}
		if read(p) == nil {
			s.Delivered(&sent)
		} else {
			refused++
		}
	}
	t.Logf("%d snapshots of %d bytes at the mean took %d bytes of memory at the mean; %d were refused, %d applied", ticks, bytes/ticks, int(memory)/ticks, refused, recv.Counters().Snapshots)
	require.NotZero(t, recv.Counters().Snapshots)
	return recv
}

// cost is what a function allocates, and how long it takes.
func cost(fn func() error) (memory uint64, took time.Duration, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	err = fn()
	took = time.Since(begun)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took, err
}

// TestVastIsBounded: the cost of a snapshot for its receiver is bounded by its bytes, even if they name
// hundreds of thousands of values. An honest sender's snapshot arrives.
func TestVastIsBounded(t *testing.T) {
	costtest.Memory(t)
	recv := vastReceiver(t, 150, 400, false)
	require.Len(t, recv.Ghosts(), 150)
	require.Greater(t, recv.Counters().Snapshots, uint64(100))
	vastReceiver(t, 150, 500, true)
}

// TestManyMoveAtOnce: hundreds of entities that begin to move in one tick arrive, in
// snapshots as long as datagrams are, and longer.
func TestManyMoveAtOnce(t *testing.T) {
	costtest.Ratio(t)
	for _, room := range []int{1200, 12000} {
		c := newCrowd(t, 900, 0, snapshot.SenderConfig{})
		refused := 0
		for n := range 400 {
			for i := range c.boxes {
				if n > 100 {
					c.move(i)
				}
			}
			c.put()
			sent := &c.sent[c.tick%16]
			c.buf = c.sender.Append(c.buf[:0], room, sent)
			if _, err := c.recv.Read(c.buf); err != nil {
				refused++
				sent.Reset()
			}
			if c.tick > 6 {
				c.sender.Delivered(&c.sent[(c.tick-6)%16])
			}
		}
		t.Logf("in %d bytes: %d refused, %d records", room, refused, c.recv.Counters().Records)
		require.Len(t, c.recv.Ghosts(), 900)
		require.Zero(t, c.recv.Counters().Baseline)
		require.Less(t, refused, room/150)
	}
}

// TestRecordsAreBounded: a snapshot holds no more records than a reader takes; what is
// left comes with the next.
func TestRecordsAreBounded(t *testing.T) {
	const n = 5000
	c := newCrowd(t, n, 0, snapshot.SenderConfig{Spawns: 1500})
	c.recv = snapshot.NewReceiver(c.recv.Registry(), snapshot.ReceiverConfig{Spawns: 1500})
	most := uint64(0)
	for range 60 {
		for i := range c.boxes {
			if c.tick < 40 {
				c.boxes[i].X = float32(c.tick % 50)
			}
		}
		before := c.recv.Counters().Records
		c.step(1<<16, 1)
		most = max(most, c.recv.Counters().Records-before)
	}
	require.Len(t, c.recv.Ghosts(), n)
	require.EqualValues(t, 4096-128, most)
	_, all, _ := c.recv.Complete(c.tick)
	require.True(t, all)
}
