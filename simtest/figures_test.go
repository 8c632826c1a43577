package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// TestFiguresAreWhatTheNetworkDid: the statistics of a connection on both ends equal what the
// simulated network did to it.
func TestFiguresAreWhatTheNetworkDid(t *testing.T) {
	calm := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	m := newLong(t, 30, calm)
	m.Run(10 * time.Second)
	clock := func() (least, sum stats.Client) { // statistics over a second
		least = m.client.Stats()
		for range 60 {
			m.Run(m.Net.Now() + time.Second/60)
			s := m.client.Stats()
			least.Clock.SnapshotBuffer = min(least.Clock.SnapshotBuffer, s.Clock.SnapshotBuffer)
			least.Clock.InputBuffer = min(least.Clock.InputBuffer, s.Clock.InputBuffer)
			sum.Clock.SnapshotBuffer += s.Clock.SnapshotBuffer / 60
			sum.Clock.InputBuffer += s.Clock.InputBuffer / 60
			sum.Clock.TimeScale += s.Clock.TimeScale / 60
			sum.Clock.RenderTimeScale += s.Clock.RenderTimeScale / 60
		}
		return least, sum
	}
	_, mean := clock()
	s := m.client.Stats().Clock
	require.InDelta(t, 0.1, s.Lead.Seconds()-s.InputBufferTarget.Seconds(), 0.03, "the round trip, and the buffer")
	require.InDelta(t, s.InputBufferTarget.Seconds(), mean.Clock.InputBuffer.Seconds(), 0.02)
	require.InDelta(t, s.SnapshotBufferTarget.Seconds(), mean.Clock.SnapshotBuffer.Seconds(), 0.01)
	require.InDelta(t, 1, mean.Clock.TimeScale, 0.01)
	require.Zero(t, s.InputDelay)
	player, _ := m.server.PlayerStats(m.server.Player(m.client.View().Player))
	require.Positive(t, player.InputBuffer)
	require.InDelta(t, (s.Lead + s.SnapshotBufferTarget).Seconds(), player.RenderDelay.Seconds(), 0.01)

	// The path up becomes longer: the buffer at the server empties, and the client's time runs faster.
	m.Link(m.client, sim.Link{Latency: 130 * time.Millisecond}, calm)
	least, mean := clock()
	require.Negative(t, least.Clock.InputBuffer)
	require.Greater(t, mean.Clock.TimeScale, 1.03)
	m.Run(m.Net.Now() + 10*time.Second)
	require.InDelta(t, s.Lead.Seconds()+0.08, m.client.Stats().Clock.Lead.Seconds(), 0.04)
	m.Link(m.client, calm, calm)
	m.Run(m.Net.Now() + 20*time.Second)

	// Snapshots are held back: the buffer at the client empties, and the render time slows down.
	m.FreezeServer(true)
	least, mean = clock()
	require.Zero(t, least.Clock.SnapshotBuffer)
	require.Less(t, mean.Clock.SnapshotBuffer, s.SnapshotBufferTarget/2)
	m.FreezeServer(false)
	m.Run(m.Net.Now() + 10*time.Second)

	// Losses, in both directions.
	up, down := m.Net.Paths(m.end)
	losses := func() [4]uint64 {
		p, _ := m.server.PlayerStats(m.server.Player(m.client.View().Player))
		return [4]uint64{up.Stats().Lost, down.Stats().Lost, p.PacketsLostIn, m.client.Stats().Connection.LostIn}
	}
	before := losses()
	require.Equal(t, [2]uint64{}, [2]uint64(before[2:]), "nothing was lost yet")
	lossy := calm
	lossy.Loss = 0.1
	m.Link(m.client, lossy, lossy)
	m.Run(m.Net.Now() + 20*time.Second)
	m.Link(m.client, calm, calm)
	m.Run(m.Net.Now() + 5*time.Second)
	after := losses()
	t.Log(before, after, m.client.Stats().Clock)
	require.Greater(t, after[0]-before[0], uint64(30))
	require.Equal(t, after[0]-before[0], after[2])
	require.Equal(t, after[1]-before[1], after[3])
	player, _ = m.server.PlayerStats(m.server.Player(m.client.View().Player))
	require.GreaterOrEqual(t, player.PacketsLost, after[3])
	require.Contains(t, m.client.Stats().String(), "snapshot buffer")
	require.Contains(t, m.client.Stats().String(), "lost in")
	require.Contains(t, player.String(), "input buffer")

	// A round trip longer than the history: the client adds input delay for the part that prediction
	// cannot cover.
	far := sim.Link{Latency: 750 * time.Millisecond}
	m.Link(m.client, far, far)
	m.Run(m.Net.Now() + 15*time.Second)
	require.InDelta(t, m.client.View().InputDelay.Seconds(), m.client.Stats().Clock.InputDelay.Seconds(), 1e-6)
	require.Greater(t, m.client.Stats().Clock.InputDelay, 400*time.Millisecond)
}
