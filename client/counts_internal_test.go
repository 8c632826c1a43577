package client

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
)

// A client with any number of corrections reports all of them, in at most three bytes a second.
func TestCountsTakeThreeBytesASecond(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	h := newHand(t)
	c, s := h.client, h.server
	bytes := 0
	try := func(now time.Duration) {
		was := c.now
		c.now = now
		pk := netcode.NewConn(netcode.Config{}).Begin(now) // it always has room
		before := pk.Room()
		c.counts.writeCounts(&c.link, pk)
		bytes += before - pk.Room()
		_, _ = pk.Finish()
		c.now = was
	}
	for _, from := range []uint64{0, 1 << 7, 1 << 14, 1 << 31} {
		c.counts = causeCounts{}
		c.counts.beginCounts(&c.base)
		for i := range c.stats.ByCause.All() {
			c.stats.ByCause.Count(i, from)
		}
		bytes = 0
		begun := c.now
		for now := begun; now < begun+10*time.Minute; now += time.Second / 4 {
			for i := range c.stats.ByCause.All() {
				c.stats.ByCause.Count(i, rnd.Uint64N(2))
			}
			try(now)
		}
		require.Positive(t, bytes)
		require.LessOrEqual(t, float64(bytes), 3*(10*time.Minute).Seconds(), "after %d of each cause", from)
		t.Logf("after %d of each cause: %.2f bytes a second", from, float64(bytes)/600)
	}

	// Over the client's own connection every count arrives, and then no more are sent.
	c.counts = causeCounts{}
	c.stats.ByCause = prediction.ByCause{}
	c.counts.beginCounts(&c.base)
	c.stats.ByCause.Count(prediction.Untracked, 3)
	c.stats.ByCause.Count(prediction.LateInput, 2)
	h.run(12 * time.Second)
	var told stats.Server
	s.Figures(&told)
	require.EqualValues(t, 3, told.Corrections.Of(prediction.Untracked))
	require.EqualValues(t, 2, told.Corrections.Of(prediction.LateInput))
	require.False(t, c.counts.again)
	h.run(10 * time.Second)
	require.True(t, c.counts.again, "once more, since packets get lost")
	next := c.counts.next
	h.run(time.Minute)
	require.Equal(t, next, c.counts.next, "nothing is new")
	require.Zero(t, s.Stats().Malformed)
}

// TestClientPostingAllocatesNothing: copying the data for other goroutines in every Step allocates
// nothing.
func TestClientPostingAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	h := newHand(t)
	require.NotZero(t, h.client.Stats().Connection.Sent)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		h.client.post()
		_ = h.client.Stats()
	}))
}
