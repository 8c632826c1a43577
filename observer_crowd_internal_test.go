package foretick

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

// gathering is a match of players and observers among things that move.
func gathering(t *testing.T, players, observers, rate int) *exhibition {
	x := newExhibition(t, 0, ServerConfig{
		Observe: granted(Grant{}), MaxObservers: 128, MaxClients: 128, Random: rand.NewChaCha8([32]byte{1}), MaxWaitingPerAddress: -1,
	})
	for i := range 60 {
		x.game.spawn(x.srv.Frame(), &x.game.item, ecs.Nobody, float32(i), 0)
	}
	for range players {
		c, g := x.comes(ClientConfig{SnapshotRate: rate})
		c.cfg.Sample = Sample(&g.move, func(v View) obsMove { return obsMove{X: float32(v.Tick/16%2)*2 - 1} })
	}
	x.run(time.Second / 2)
	for range observers {
		x.comes(ClientConfig{Observe: true, SnapshotRate: rate})
	}
	return x
}

// 100 observers at 10 Hz change no byte of what players are sent, and the server's Step
// allocates nothing for them.
func TestObserversChangeNothingForPlayers(t *testing.T) {
	const players = 4
	var sent [2][][]byte
	for i, observers := range []int{0, 100} {
		x := gathering(t, players, 0, 0)
		x.net.Trace(func(_ time.Duration, from, to int, b []byte) {
			if from == x.listen.ID() && to <= players {
				sent[i] = append(sent[i], append([]byte{byte(to)}, b...))
			}
		})
		for range observers {
			x.comes(ClientConfig{Observe: true, SnapshotRate: 10})
		}
		x.run(6 * time.Second)
		require.Len(t, x.srv.sessions.observers, observers)
		if observers == 0 {
			continue
		}
		for _, o := range x.clients[players:] {
			require.Equal(t, Playing, o.View().State)
			require.InDelta(t, 60, o.Stats().Snapshots, 8)
		}
		x.net.Trace(nil)
		var memory runtime.MemStats
		var mallocs, ticks uint64
		for range 240 {
			x.net.Run(x.net.Now() + time.Second/60)
			runtime.ReadMemStats(&memory)
			before, tick := memory.Mallocs, x.srv.Tick()
			x.srv.Step(x.now())
			runtime.ReadMemStats(&memory)
			mallocs, ticks = mallocs+memory.Mallocs-before, ticks+uint64(x.srv.Tick()-tick)
			for _, c := range x.clients {
				c.Step(x.now())
			}
		}
		t.Logf("%d allocations in %d ticks", mallocs, ticks)
		if !debugBuild { // which allocates for its checks
			require.Less(t, float64(mallocs)/float64(ticks), 0.2)
		}
	}
	require.Greater(t, len(sent[0]), 500)
	require.Equal(t, sent[0], sent[1])
}
