package server

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
)

// gathering makes a match of players among things that move.
func gathering(t *testing.T, players int, reach float32) *exhibition {
	x := newExhibition(t, reach, Config{
		Observe: granted(Public()), MaxObservers: 128, MaxClients: 128, Random: rand.NewChaCha8([32]byte{1}), MaxWaitingPerAddress: -1,
	})
	for i := range 60 {
		x.game.spawn(x.srv.Frame(), &x.game.item, ecs.Nobody, float32(i), 0)
	}
	x.sample = func(v client.View) obsMove { return obsMove{X: float32(v.Tick/16%2)*2 - 1} }
	for range players {
		x.comes(client.Config{})
	}
	x.run(time.Second / 2)
	return x
}

// 100 observers at 10 Hz change no byte of the players' packets, and the server's Step allocates
// nothing for the observers, both with a whole world for everybody and with eyes.
func TestObserversChangeNothingForPlayers(t *testing.T) {
	costtest.Ratio(t)
	t.Run("everything", func(t *testing.T) { observersChangeNothing(t, 0, false) })
	t.Run("near", func(t *testing.T) { observersChangeNothing(t, 120, false) })
	t.Run("come and go", func(t *testing.T) { observersChangeNothing(t, 20, true) })
}

// observersChangeNothing plays a match. If grows is true, entities come near and leave, and the memory
// for near entities grows as long as their number does.
func observersChangeNothing(t *testing.T, reach float32, grows bool) {
	const players = 4
	var sent [2][][]byte
	for i, observers := range []int{0, costtest.Count(30, 100)} {
		x := gathering(t, players, reach)
		x.net.Trace(func(_ time.Duration, from, to int, b []byte) {
			if from == x.listen.ID() && to <= players {
				sent[i] = append(sent[i], append([]byte{byte(to)}, b...))
			}
		})
		for range observers {
			c, _ := x.comes(client.Config{Observe: &client.Observe{}, SnapshotRate: 10})
			c.SetEye(float32(len(x.clients)%4)*10, 0, 0)
		}
		x.run(4 * time.Second)
		require.Len(t, x.srv.sessions.observers, observers)
		if observers == 0 {
			continue
		}
		for _, o := range x.clients[players:] {
			require.Equal(t, client.Playing, o.View().State)
			require.InDelta(t, 40, o.Stats().Snapshots, 6)
		}
		if grows {
			continue
		}
		x.net.Trace(nil)
		var memory runtime.MemStats
		var mallocs, ticks uint64
		for range 160 {
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
		if !game.DebugBuild { // debug builds allocate for their checks
			require.Less(t, float64(mallocs)/float64(ticks), 0.2)
		}
	}
	require.Greater(t, len(sent[0]), 400)
	require.Equal(t, sent[0], sent[1])
}
