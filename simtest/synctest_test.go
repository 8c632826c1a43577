package simtest_test

import (
	"flag"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/plantedtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

type secret struct {
	N int32 `net:"min=0,max=1000,owner"`
}

type local struct{ N int32 }

func TestSyncTestFindsPlantedFaults(t *testing.T) {
	costtest.Figures(t)
	for name, c := range plantedtest.Faults() {
		t.Run(name, func(t *testing.T) {
			defer func() { // a debug build or the library may refuse the fault with a panic
				if p := recover(); p != nil {
					for _, w := range c.Want {
						require.ErrorContains(t, p.(error), w)
					}
				}
			}()
			faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(c.Plant) }, simtest.SyncConfig{})
			text := strings.Join(faults, "\n")
			if err != nil {
				text = err.Error()
			}
			for _, w := range c.Want {
				require.Contains(t, text, w)
			}
		})
	}
}

var syncTicks = flag.Int("sync.ticks", costtest.Count(3000, 40000), "ticks that a sound game rehearses without an alarm; 1000000 before a release")

// SyncTest finds no fault in a sound game, however long it plays.
func TestSyncTestIsSilentOnASoundGame(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player { return (&planted{}).End(nil) }, simtest.SyncConfig{Ticks: *syncTicks})
	t.Logf("%d ticks, each of them rehearsed, and no alarm", *syncTicks)
}

// The server's effects on a player are no fault of the game's code.
func TestSyncTestIsSilentOnServerEffects(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player { return simtest.Player{Protocol: newCannon().protocol()} }, simtest.SyncConfig{Ticks: 3000})
}

// With Late the server runs ticks again, too. Only this finds state in Go variables that a
// shared system changes only on the server, and names the system.
func TestSyncTestOnTheServer(t *testing.T) {
	table := map[int]float32{1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0.5}
	onServer := func(fn func(g *planted, f *foretick.Frame, rows ecs.Rows, i int) float32) func(g *planted, p *foretick.Protocol) {
		return func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if !f.IsServer() {
					return 0
				}
				return fn(g, f, rows, i)
			})
		}
	}
	last := map[foretick.PlayerID]float32{}
	for name, plant := range map[string]func(g *planted, p *foretick.Protocol){
		"a counter": onServer(func(g *planted, _ *foretick.Frame, _ ecs.Rows, _ int) float32 {
			g.Count++
			return float32(g.Count%7) / 10
		}),
		"a value of the tick before, by player": onServer(func(g *planted, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			was := last[rows.Owner()]
			last[rows.Owner()] = g.Pos.Slice(rows)[i].Y
			return was / 10
		}),
		"the order of a map": onServer(func(*planted, *foretick.Frame, ecs.Rows, int) float32 {
			for _, v := range table {
				return v
			}
			return 0
		}),
		"a clock": onServer(func(*planted, *foretick.Frame, ecs.Rows, int) float32 {
			return float32(time.Now().UnixNano()%1000) / 1000
		}),
		"global chance": onServer(func(*planted, *foretick.Frame, ecs.Rows, int) float32 { return rand.Float32() }),
		"a cooldown that a first run alone sets": onServer(func(g *planted, f *foretick.Frame, _ ecs.Rows, _ int) float32 {
			if f.Replay {
				return 0
			}
			return 0.25
		}),
	} {
		t.Run(name, func(t *testing.T) {
			faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(plant) }, simtest.SyncConfig{Late: server.Late{Window: 200 * time.Millisecond}})
			require.NoError(t, err)
			found := ""
			for _, f := range faults {
				if strings.HasPrefix(f, "on the server: ") {
					found = f
				}
			}
			require.Contains(t, found, "position.X")
			require.Contains(t, found, "planted", "the system's name")
		})
	}
	_, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(nil) }, simtest.SyncConfig{Late: server.Late{Window: time.Second}})
	require.ErrorContains(t, err, "Late")
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: (&planted{}).End(nil).Protocol})
	require.NoError(t, err)
	require.ErrorContains(t, campaign.SyncTestServer(srv, 1, nil), "set server.Config.Late.Window")
	srv, err = m.Serve(server.Config{Protocol: (&planted{}).End(nil).Protocol, Late: server.Late{Window: 200 * time.Millisecond}})
	require.NoError(t, err)
	require.ErrorContains(t, campaign.SyncTestServer(srv, 7, nil), "use up to 6")
}

// SyncTestServer finds no fault in sound games: one with shots and effects of the server, one with
// predicted spawns, and both on links on which inputs do come late.
func TestSyncTestOnTheServerIsSilent(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player { return (&planted{}).End(nil) }, simtest.SyncConfig{Ticks: 1000, Late: server.Late{Window: 200 * time.Millisecond}})
	simtest.SyncTest(t, func() simtest.Player { return simtest.Player{Protocol: newCannon().protocol()} }, simtest.SyncConfig{Ticks: 1000, Late: server.Late{Window: 200 * time.Millisecond}})

	var traces [][32]byte
	for _, back := range []int{0, 6} {
		g := &fencers{still: true}
		m := simtest.New(3)
		srv, err := m.Serve(server.Config{Protocol: g.protocol(), Late: server.Late{Window: 200 * time.Millisecond}})
		require.NoError(t, err)
		require.NoError(t, campaign.SyncTestServer(srv, back, func(d simtest.Desync) { require.Fail(t, d.String()) }))
		for n := range 3 {
			c := &fencers{}
			_, err := m.Join(client.Config{Protocol: c.protocol(), Sample: client.Sample(&c.cmd, func(v client.View) lunge { return wave(n, v) })}, simtest.Seat{Up: sim.LTE, Down: sim.LTE})
			require.NoError(t, err)
		}
		m.Run(60 * time.Second)
		require.Greater(t, srv.Stats().InputsRerun, uint64(10))
		traces = append(traces, m.Trace())
	}
	require.Equal(t, traces[0], traces[1], "the test changes nothing in the match")
}

// SyncTest fails if a match tests nothing.
func TestSyncTestNeedsSomethingToTest(t *testing.T) {
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		return simtest.Player{Protocol: foretick.NewProtocol("empty", 1)}
	}, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Contains(t, strings.Join(faults, "\n"), "nothing was tested")
}
