package simtest_test

import (
	"flag"
	"math/rand"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type secret struct {
	N int32 `net:"min=0,max=1000,owner"`
}

type local struct{ N int32 }

// planted is a game with room for a fault.
type planted struct {
	pos    ecs.Component[position]
	secret ecs.Component[secret]
	local  ecs.Component[local]
	cmd    ecs.Component[move]
	player ecs.Prefab
	all    *ecs.Query

	count int
}

func (g *planted) end(fault func(g *planted, p *foretick.Protocol)) simtest.Player {
	p := foretick.NewProtocol("planted", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.secret)
	p.LocalComponent(&g.local)
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.pos, &g.secret, &g.cmd, &g.local)
	p.OnJoin(func(f *foretick.Frame, player foretick.PlayerID) {
		e := f.Spawn(&g.player, player)
		g.secret.Get(f.World, e).N = int32(player) * 100
		g.local.Get(f.World, e).N = int32(player) * 100
	})
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * 5 * f.DT
			pos[i].Y += cmd[i].Y * 5 * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	g.all = ecs.NewQuery(p.Types(), ecs.With(&g.secret))
	if fault != nil {
		fault(g, p)
	}
	return simtest.Player{Protocol: p, Sample: foretick.Sample(&g.cmd, func(v foretick.View) move {
		return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/9%3) - 1}
	})}
}

// nudge declares a shared system that adds what by says to each position.
func nudge(p *foretick.Protocol, g *planted, by func(f *foretick.Frame, rows ecs.Rows, i int) float32, access ...ecs.Access) {
	p.Shared("planted", func(f *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X += by(f, rows, i)
		}
	}, append(access, ecs.Write(&g.pos), ecs.After("move"))...)
}

func TestSyncTestFindsPlantedFaults(t *testing.T) {
	table := map[int]float32{1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0.5}
	for name, c := range map[string]struct {
		plant func(g *planted, p *foretick.Protocol)
		want  []string // in one of the faults, or in the protocol's error
	}{
		"the order of a map": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 {
				for _, v := range table {
					return v
				}
				return 0
			})
		}, []string{"position.X", "planted"}},
		"a clock": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return float32(time.Now().UnixNano()%1000) / 1000 })
		}, []string{"position.X", "planted"}},
		"global chance": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { return rand.Float32() })
		}, []string{"position.X", "planted"}},
		"a counter in the system": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(*foretick.Frame, ecs.Rows, int) float32 { g.count++; return float32(g.count%7) / 10 })
		}, []string{"position.X", "planted"}},
		"a cache in a closure": {func(g *planted, p *foretick.Protocol) {
			last := float32(0)
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				was := last
				last = g.pos.Slice(rows)[i].Y // of the tick before, unless that ran longer ago
				return was / 10
			})
		}, []string{"position.X", "planted"}},
		"another player's private field": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				sum := float32(0)
				for _, others := range g.all.All(f.World) {
					for _, s := range g.secret.Slice(others) {
						sum += float32(s.N)
					}
				}
				return sum / 10000
			}, ecs.ReadOther(&g.secret))
		}, []string{"planted", "secret", "whose N a client does not receive"}},
		"another player's private field, undeclared": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				defer f.World.Guard(f.World.Guard(false)) // debug builds find it sooner
				sum := float32(0)
				for _, others := range g.all.All(f.World) {
					for _, s := range g.secret.Slice(others) {
						sum += float32(s.N)
					}
				}
				return sum / 10000
			})
		}, []string{"position.X"}},
		"a component that does not travel": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 { return float32(g.local.Slice(rows)[i].N) / 1000 }, ecs.Read(&g.local))
		}, []string{"planted", "local", "a client does not have"}},
		"a row's index": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				return float32(rows.Entity(i).Index()%1009) / 1000
			})
		}, []string{"position.X"}},
		"a pointer's value": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(_ *foretick.Frame, rows ecs.Rows, i int) float32 {
				return float32(uintptr(unsafe.Pointer(&g.pos.Slice(rows)[i]))>>6%97) / 100
			})
		}, []string{"position.X"}},
		"a render system that writes": {func(g *planted, p *foretick.Protocol) {
			p.Render("painter", func(_ *foretick.Frame, rows ecs.Rows) {
				for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
					pos[i].Y += 0.5
				}
			}, ecs.Write(&g.pos))
		}, []string{"position", "painter", "render"}},
		"a structural change in the order of iteration": {func(g *planted, p *foretick.Protocol) {
			var spare ecs.Prefab
			require.NoError(t, p.Types().RegisterPrefab(&spare, "spare", &g.pos))
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick%16 == 0 && f.IsServer() {
					f.World.Spawn(&spare, rows.Owner())
					return 0.25
				}
				return 0
			}, ecs.With(&g.cmd), ecs.Create(&g.pos))
		}, []string{"position.X"}},
		"an entity spawned past the frame": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick%16 == 0 {
					f.World.Spawn(&g.player, rows.Owner())
				}
				return 0
			}, ecs.Create(&g.pos, &g.secret, &g.cmd, &g.local))
		}, []string{`system "planted": World.Spawn of prefab "player"`, "Frame.Spawn"}},
		"an entity destroyed past the frame": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, i int) float32 {
				if f.Tick == 60 {
					f.World.Destroy(rows.Entity(i))
				}
				return 0
			}, ecs.Structural())
		}, []string{`system "planted": World.Destroy of`, "Frame.Destroy"}},
		"what a player saw": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, rows ecs.Rows, _ int) float32 {
				return f.Rewind(rows.Owner()).Behind()
			})
		}, []string{`shared system "planted" asks what a player saw`, "OnServer"}},
		"a division by nothing": {func(g *planted, p *foretick.Protocol) {
			nudge(p, g, func(f *foretick.Frame, _ ecs.Rows, _ int) float32 {
				zero := float32(f.Tick / 1_000_000)
				return zero / zero
			})
		}, []string{"position.X", "not a number"}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { // what a debug build, or the library, refuses at once
				if p := recover(); p != nil {
					for _, w := range c.want {
						require.ErrorContains(t, p.(error), w)
					}
				}
			}()
			faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).end(c.plant) }, simtest.SyncConfig{})
			text := strings.Join(faults, "\n")
			if err != nil {
				text = err.Error()
			}
			for _, w := range c.want {
				require.Contains(t, text, w)
			}
		})
	}
}

var syncTicks = flag.Int("sync.ticks", 3000, "ticks that a sound game rehearses without an alarm; 1000000 before a release")

// A sound game raises no alarm, however long it plays.
func TestSyncTestIsSilentOnASoundGame(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player { return (&planted{}).end(nil) }, simtest.SyncConfig{Ticks: *syncTicks})
	t.Logf("%d ticks, each of them rehearsed, and no alarm", *syncTicks)
}

// The server's effects on a player are no fault of the game's code.
func TestSyncTestIsSilentOnServerEffects(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player { return simtest.Player{Protocol: newCannon().protocol()} }, simtest.SyncConfig{Ticks: 3000})
}

// With LateInputs the server runs ticks again, too. State in Go variables that only its branch
// of a shared system has is found there alone, and named.
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
			g.count++
			return float32(g.count%7) / 10
		}),
		"a value of the tick before, by player": onServer(func(g *planted, _ *foretick.Frame, rows ecs.Rows, i int) float32 {
			was := last[rows.Owner()]
			last[rows.Owner()] = g.pos.Slice(rows)[i].Y
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
			faults, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).end(plant) }, simtest.SyncConfig{LateInputs: 200 * time.Millisecond})
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
	_, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).end(nil) }, simtest.SyncConfig{LateInputs: time.Second})
	require.ErrorContains(t, err, "LateInputs")
	m := simtest.New(1)
	srv, err := m.Serve(foretick.ServerConfig{Protocol: (&planted{}).end(nil).Protocol})
	require.NoError(t, err)
	require.ErrorContains(t, simtest.SyncTestServer(srv, 1, nil), "set ServerConfig.LateInputs")
	srv, err = m.Serve(foretick.ServerConfig{Protocol: (&planted{}).end(nil).Protocol, LateInputs: 200 * time.Millisecond})
	require.NoError(t, err)
	require.ErrorContains(t, simtest.SyncTestServer(srv, 7, nil), "use up to 6")
}

// Sound games raise no alarm there: one with shots and effects of the server, one with
// predicted spawns, and the same on paths where inputs do come late.
func TestSyncTestOnTheServerIsSilent(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player { return (&planted{}).end(nil) }, simtest.SyncConfig{Ticks: 1000, LateInputs: 200 * time.Millisecond})
	simtest.SyncTest(t, func() simtest.Player { return simtest.Player{Protocol: newCannon().protocol()} }, simtest.SyncConfig{Ticks: 1000, LateInputs: 200 * time.Millisecond})

	var traces [][32]byte
	for _, back := range []int{0, 6} {
		g := &fencers{still: true}
		m := simtest.New(3)
		srv, err := m.Serve(foretick.ServerConfig{Protocol: g.protocol(), LateInputs: 200 * time.Millisecond})
		require.NoError(t, err)
		require.NoError(t, simtest.SyncTestServer(srv, back, func(d simtest.Desync) { require.Fail(t, d.String()) }))
		for n := range 3 {
			c := &fencers{}
			_, err := m.Join(foretick.ClientConfig{Protocol: c.protocol(), Sample: foretick.Sample(&c.cmd, func(v foretick.View) lunge { return wave(n, v) })}, simtest.Seat{Up: sim.LTE, Down: sim.LTE})
			require.NoError(t, err)
		}
		m.Run(60 * time.Second)
		require.Greater(t, srv.Stats().InputsRerun, uint64(10))
		traces = append(traces, m.Trace())
	}
	require.Equal(t, traces[0], traces[1], "the test changes nothing in the match")
}

// A match that tests nothing does not pass.
func TestSyncTestNeedsSomethingToTest(t *testing.T) {
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		return simtest.Player{Protocol: foretick.NewProtocol("empty", 1)}
	}, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Contains(t, strings.Join(faults, "\n"), "nothing was tested")
}
