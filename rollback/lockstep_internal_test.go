package rollback

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport/sim"
)

// TestLockstepWaits: in lockstep no tick runs before the inputs of all players are there. While those of one are
// missing, because nothing gets through, the other's world stands still. Then it goes on with the inputs that came, and
// none was replaced. If the
// relay settled a tick as soon as its clock reached it (settling.isDue), the match would go on without them.
func TestLockstepWaits(t *testing.T) {
	b := newBout(t, 8, relay.Config{Players: 2, Wait: time.Second})
	link := sim.Link{Latency: 20 * time.Millisecond}
	other := b.join(0, link, Config{Window: Lockstep}, nil)
	slow := b.join(0, link, Config{Window: Lockstep}, nil)
	b.run(3 * time.Second)
	before := [2]Stats{other.peer.Stats(), slow.peer.Stats()}
	for range 4 {
		b.net.Blackhole(slow.end, b.net.Now(), b.net.Now()+400*time.Millisecond)
		b.run(200 * time.Millisecond) // what it sent before still arrives, and runs
		stood := other.peer.View()
		require.True(t, stood.Waiting)
		b.run(200 * time.Millisecond)
		require.Equal(t, stood.Tick, other.peer.View().Tick, "the world stands still")
		require.True(t, other.peer.View().Waiting)
		for range 3 * 60 {
			b.run(time.Second / 60)
			for _, c := range b.corners {
				v := c.peer.View()
				require.Equal(t, v.Settled, v.Tick, "nothing runs ahead")
			}
		}
		require.Greater(t, other.peer.View().Tick, stood.Tick+60)
	}
	b.compare()
	for i, c := range b.corners {
		s := c.peer.Stats()
		require.Zero(t, s.Reruns+s.Rollbacks)
		require.Greater(t, s.Ticks-before[i].Ticks, uint64(400))
		require.Greater(t, c.pressed, 60)
		require.Positive(t, c.hits())
	}
	require.Equal(t, before[0].StandIns, other.peer.Stats().StandIns, "no input of the quick one was replaced")
	require.Equal(t, before[1].StandIns, slow.peer.Stats().StandIns, "nor of the slow one, which came late")
	require.Equal(t, uint64(4), other.peer.Stats().Stalls-before[0].Stalls)
}
