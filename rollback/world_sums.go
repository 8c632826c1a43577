package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/settled"
)

// worldSums has the sums of settled ticks, one for each second of ticks. A sum covers the whole world as bytes, so that
// equal sums mean that two machines go on alike.
type worldSums struct {
	rate    uint8  // rate is in ticks a second.
	world   []byte // world has the bytes of the newest sum's world.
	newest  settled.Sum
	waiting []settled.Sum // waiting has the sums that were not sent, oldest first.
	taken   uint64
}

// due reports whether a tick is one whose sum is taken.
func (c *worldSums) due(t foretick.Tick) bool { return settled.IsSumTick(t, c.rate) }

// take computes the sum of a tick, in a world that is at its end.
func (c *worldSums) take(w *ecs.World, t foretick.Tick) {
	b, err := ecs.Engine(w).AppendWorld(c.world[:0])
	if err != nil {
		misuse.Panicf("foretick: a world that cannot be written: %v", err) // New refuses such protocols
	}
	c.world = b
	c.newest = settled.Sum{Tick: t, Sum: settled.SumOf(b)}
	c.taken++
	if len(c.waiting) == mostSums {
		c.waiting = append(c.waiting[:0], c.waiting[1:]...)
	}
	c.waiting = append(c.waiting, c.newest)
}

// mostSums is how many sums wait at most to be sent. A peer that is that far behind compares the newest.
const mostSums = 16

// next removes the oldest sum that waits to be sent.
func (c *worldSums) next() (s settled.Sum, ok bool) {
	if len(c.waiting) == 0 {
		return s, false
	}
	s = c.waiting[0]
	c.waiting = append(c.waiting[:0], c.waiting[1:]...)
	return s, true
}
