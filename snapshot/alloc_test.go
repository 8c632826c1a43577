package snapshot_test

import (
	"runtime"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestNoAllocation: a tick of 200 moving entities, from Put to Sample, allocates
// nothing once histories have grown, whether the receiver counts bytes or not.
func TestNoAllocation(t *testing.T) {
	costtest.Allocations(t)
	for _, counts := range []bool{false, true} {
		tickWithoutAllocation(t, counts)
	}
}

func tickWithoutAllocation(t *testing.T, counts bool) {
	c := newCrowd(t, 200, 7, snapshot.SenderConfig{})
	if counts {
		c.recv.SetProfile(snapshot.NewProfile(c.recv.Registry()))
	}
	c.owner = func(i int) uint16 { return uint16(i % 9) }
	i := 0
	tick := func() {
		for j := range c.boxes {
			if (i+j)%3 != 0 {
				c.move(j)
			}
		}
		i++
		c.step(500+i%3*300, 3)
		for _, g := range c.recv.Ghosts() {
			g.At(c.tick - 2)
			a, b, _, ok := g.Sample(c.tick-4, 0.5)
			if ok && (a.Component(0) == nil || b.Component(0) == nil) {
				panic("no component")
			}
		}
		c.recv.Hash(c.tick)
		c.sender.Hash()
	}
	for range 300 {
		tick()
	}
	require.Zero(t, testing.AllocsPerRun(100, tick))
}

// TestChurnDoesNotAllocate: entities that come and go, as projectiles do, take
// memory from those before them.
func TestChurnDoesNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	c := newCrowd(t, 20, 0, snapshot.SenderConfig{})
	next := snapshot.NetID(1000)
	alive := make([]snapshot.NetID, 0, 64)
	tick := func() {
		c.tick++
		alive = append(alive, next)
		next++
		if len(alive) > 12 {
			alive = append(alive[:0], alive[1:]...)
		}
		c.src.Begin(c.tick)
		for i, id := range alive {
			c.move(i)
			c.ps[0] = ptr(&c.boxes[i])
			c.src.Put(id, 0, 0, schema.MaskOf(0), c.ps, nil)
		}
		c.src.End()
		rec := &c.sent[c.tick%16]
		c.buf = c.sender.Append(c.buf[:0], 1000, rec)
		if _, err := c.recv.Read(c.buf); err != nil {
			panic(err)
		}
		c.sender.Delivered(rec)
		for _, ch := range c.recv.Changes() {
			if ch.What == snapshot.Removed {
				c.recv.Release(ch.Ghost)
			}
		}
	}
	for range 1000 {
		tick()
	}
	require.Less(t, testing.AllocsPerRun(200, tick), 0.5) // maps may grow in place now and then
	require.LessOrEqual(t, len(c.recv.Ghosts()), 13)
}

// TestReadIsBounded: hostile snapshots make the receiver allocate no more than
// 64 KiB and twice their length each.
func TestReadIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	for name, p := range hostile(t) {
		r, _ := registry(t)
		recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
		runtime.ReadMemStats(&before)
		_, _ = recv.Read(p)
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<10+2*len(p)), name)
	}
}
