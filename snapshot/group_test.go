package snapshot_test

import (
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// fresh counts the boxes of a range that the newest snapshot brought.
func (c *crowd) fresh(from, to int) (n int) {
	for _, g := range c.recv.Ghosts() {
		if i := int(g.Wire) - 1; i >= from && i < to && g.Newest().Tick == c.tick {
			n++
		}
	}
	return n
}

// TestGroupsArriveWhole: of a group that changed, a snapshot holds all or nothing;
// none starves, and single entities go on between them.
func TestGroupsArriveWhole(t *testing.T) {
	const size, boxes, grouped = 5, 240, 200
	c := newCrowd(t, boxes, 0, snapshot.SenderConfig{})
	c.group = func(i int) uint32 {
		if i < grouped {
			return uint32(i/size + 1)
		}
		return 0
	}
	last := [boxes]schema.Tick{}
	whole, none, single := 0, 0, 0
	for range 400 { // from the first snapshot on: spawns are in groups too
		for i := range c.boxes {
			c.move(i)
		}
		c.step(230, 3)
		for g := 0; g < grouped; g += size {
			switch n := c.fresh(g, g+size); n {
			case size:
				whole++
				last[g] = c.tick
			case 0:
				none++
			default:
				t.Fatalf("tick %d: %d of the %d of a group", c.tick, n, size)
			}
		}
		single += c.fresh(grouped, boxes)
	}
	require.Greater(t, whole, 500)
	require.Greater(t, none, whole, "the room is tight")
	require.Greater(t, single, 100)
	for g := 0; g < grouped; g += size {
		require.Greater(t, last[g], c.tick-60, "group %d", g)
	}
	require.Zero(t, c.sender.Counters().GroupsSplit)
	for i := range c.boxes { // only what changed must fit
		if i%size == 0 || i >= grouped {
			c.move(i)
		}
	}
	c.step(1100, 3)
	c.step(1100, 3)
}

// TestGroupTooBig: a group that no snapshot holds comes in parts, and is counted.
func TestGroupTooBig(t *testing.T) {
	c := newCrowd(t, 300, 0, snapshot.SenderConfig{})
	c.group = func(i int) uint32 {
		if i < 250 {
			return 7
		}
		return 0
	}
	for range 40 {
		c.step(300, 2)
	}
	require.Len(t, c.recv.Ghosts(), 300)
	require.NotZero(t, c.sender.Counters().GroupsSplit)
}

// TestOwnBeyondTheBudget: what the viewer owns, and the groups of it, are whole in
// every snapshot however little the budget; the others have what is left of it.
func TestOwnBeyondTheBudget(t *testing.T) {
	c := newCrowd(t, 200, 7, snapshot.SenderConfig{})
	c.owner = func(i int) uint16 {
		if i%20 == 19 {
			return 7
		}
		return 3
	}
	c.group = func(i int) uint32 {
		if i == 19 || i == 20 || i == 21 { // somebody else rides what he owns
			return 1
		}
		return 0
	}
	for range 20 {
		c.step(1100, 2)
	}
	c.budget = 34
	others := 0
	for range 60 {
		for i := range c.boxes {
			c.move(i)
		}
		c.step(1100, 2)
		_, all, own := c.recv.Complete(c.tick)
		require.False(t, all)
		require.True(t, own)
		for i := 19; i < 200; i += 20 {
			require.Equal(t, 1, c.fresh(i, i+1))
		}
		require.Equal(t, 3, c.fresh(19, 22), "with its group")
		others += c.fresh(0, 200) - 12
		require.Less(t, len(c.buf), 120, "but no more than that")
	}
	require.Zero(t, others)
	require.Zero(t, c.sender.Counters().OwnPostponed)
	c.budget = 220
	for range 60 {
		for i := range c.boxes {
			c.move(i)
		}
		c.step(1100, 2)
		require.LessOrEqual(t, len(c.buf), 220)
		others += c.fresh(0, 200) - 12
	}
	require.Greater(t, others, 600)
}
