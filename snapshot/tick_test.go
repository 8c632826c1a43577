package snapshot_test

import (
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestTicks: long and short forms of ticks, over jumps, and up to 2³²−1.
func TestTicks(t *testing.T) {
	c := newCrowd(t, 3, 0, snapshot.SenderConfig{})
	at := func(tick schema.Tick) {
		c.tick = tick - 1
		c.move(1)
		c.put()
		require.Equal(t, tick, c.tick)
		var rec snapshot.Sent
		got, err := c.recv.Read(c.sender.Append(nil, 500, &rec))
		require.NoError(t, err)
		require.Equal(t, tick, got)
		c.sender.Delivered(&rec)
	}
	for _, tick := range []schema.Tick{1, 2, 9, 8000, 16000, 24100, 32766, 32767, 32768, 32769, 40000, 100_000, 100_001, 1 << 24, 1<<24 + 1, 1 << 30, 1 << 31, 3 << 30, 1<<32 - 2, 1<<32 - 1} {
		at(tick)
	}
	newest, ok := c.recv.Newest()
	require.True(t, ok)
	require.Equal(t, schema.Tick(1<<32-1), newest)
	require.Len(t, c.recv.Ghosts(), 3, "the same ones all the time")
}
