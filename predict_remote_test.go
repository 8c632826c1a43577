package foretick_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"runtime"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

type float struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01"`
}

type hold struct {
	Full  bool
	Coins uint16 `net:"owner"`
}

type boats struct {
	float   ecs.Component[float]
	coarse  ecs.Component[place]
	hold    ecs.Component[hold]
	health  ecs.Component[health]
	cmd     ecs.Component[pad]
	other   ecs.Component[hit]
	boat    ecs.Prefab
	buoy    ecs.Prefab
	shell   ecs.Prefab
	bullet  ecs.Prefab
	nowhere ecs.Prefab
}

// remotePredicted declares a correct game that predicts remote players. spoil changes the declarations.
func remotePredicted(spoil func(g *boats, p *foretick.Protocol), opts ...func(g *boats, c *foretick.RemoteConfig)) *foretick.Protocol {
	g := &boats{}
	p := foretick.NewProtocol("boats", 1)
	p.Component(&g.float, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.coarse, foretick.Predicted())
	p.Component(&g.hold, foretick.Predicted())
	p.Component(&g.health)
	p.Command(&g.cmd)
	p.Prefab(&g.boat, "boat", &g.float, &g.hold, &g.health, &g.cmd)
	p.Prefab(&g.buoy, "buoy", &g.coarse)
	p.Prefab(&g.shell, "shell", &g.float)
	p.Prefab(&g.bullet, "bullet", &g.float)
	p.Spawns(&g.bullet, foretick.SpawnConfig{ClientOnly: true})
	p.Shared("move", nothing, ecs.Read(&g.cmd), ecs.Write(&g.float))
	p.Shared("drift", nothing, ecs.Write(&g.coarse))
	if spoil != nil {
		spoil(g, p)
	}
	var cfg foretick.RemoteConfig
	for _, o := range opts {
		o(g, &cfg)
	}
	foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *pad) {}, cfg)
	return p
}

func TestPredictRemoteFaults(t *testing.T) {
	require.NoError(t, remotePredicted(nil).Err())
	along := func(k func(g *boats) *ecs.Prefab) func(*boats, *foretick.RemoteConfig) {
		return func(g *boats, c *foretick.RemoteConfig) { c.Also = append(c.Also, k(g)) }
	}
	except := func(names ...string) func(*boats, *foretick.RemoteConfig) {
		return func(_ *boats, c *foretick.RemoteConfig) { c.Skip = append(c.Skip, names...) }
	}
	trade := func(g *boats, p *foretick.Protocol) { p.Shared("trade", nothing, ecs.Write(&g.hold)) }
	for name, c := range map[string]struct {
		spoil func(g *boats, p *foretick.Protocol)
		opts  []func(*boats, *foretick.RemoteConfig)
		want  []string // empty: it is no fault
	}{
		"coarser for others": {
			nil, []func(*boats, *foretick.RemoteConfig){along(func(g *boats) *ecs.Prefab { return &g.buoy })},
			[]string{"others are told place.X in steps of 0.01", "0.000625", "declare place with Component(…, Predicted(), FullPrecision())"},
		},
		"along":              {nil, []func(*boats, *foretick.RemoteConfig){along(func(g *boats) *ecs.Prefab { return &g.shell })}, nil},
		"along nothing":      {nil, []func(*boats, *foretick.RemoteConfig){along(func(g *boats) *ecs.Prefab { return &g.nowhere })}, []string{"RemoteConfig.Also", "not declared with Protocol.Prefab"}},
		"along what is kept": {nil, []func(*boats, *foretick.RemoteConfig){along(func(g *boats) *ecs.Prefab { return &g.bullet })}, []string{"RemoteConfig.Also", "bullet", "ClientOnly"}},
		"a system reads what others do not receive": {
			trade, nil, []string{`shared system "trade" reads hold.Coins, which other players do not receive`, `name it in RemoteConfig.Skip`},
		},
		"and is left out": {trade, []func(*boats, *foretick.RemoteConfig){except("trade")}, nil},
		"no such system":  {trade, []func(*boats, *foretick.RemoteConfig){except("trade", "drfit")}, []string{`RemoteConfig.Skip names "drfit", which is no shared system`}},
		"a system of the server's": {
			func(g *boats, p *foretick.Protocol) { p.Server("tide", nothing, ecs.Write(&g.float)) },
			[]func(*boats, *foretick.RemoteConfig){except("tide")}, []string{`RemoteConfig.Skip names "tide"`},
		},
		"a system that fits nothing predicted": {
			func(g *boats, p *foretick.Protocol) {
				p.Prefab(&g.nowhere, "dock", &g.hold, &g.coarse)
				p.Shared("moor", nothing, ecs.Read(&g.hold), ecs.Write(&g.coarse))
			}, nil, nil,
		},
		"twice": {
			func(g *boats, p *foretick.Protocol) {
				foretick.PredictRemote(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *pad) {}, foretick.RemoteConfig{})
			}, nil, []string{"PredictRemote was declared twice"},
		},
		"without a function": {
			func(g *boats, p *foretick.Protocol) { foretick.PredictRemote(p, &g.cmd, nil, foretick.RemoteConfig{}) }, nil, []string{"PredictRemote has no function"},
		},
		"of no command": {
			func(g *boats, p *foretick.Protocol) {
				foretick.PredictRemote(p, &g.other, func(*foretick.Frame, ecs.Entity, int, *hit) {}, foretick.RemoteConfig{})
			}, nil, []string{"PredictRemote of hit, which is not the protocol's command"},
		},
		"exact, and not predicted": {
			func(g *boats, p *foretick.Protocol) { p.Component(&g.other, foretick.FullPrecision()) }, nil,
			[]string{"component hit is FullPrecision and not Predicted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := remotePredicted(c.spoil, c.opts...).Err()
			if len(c.want) == 0 {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, w := range c.want {
				require.Contains(t, err.Error(), w)
			}
		})
	}
}

// Both ends must predict the same prefabs: so the hash covers them, and the schema has them.
func TestRemotePredictionTravels(t *testing.T) {
	along := func(g *boats, c *foretick.RemoteConfig) { c.Also = append(c.Also, &g.shell) }
	one, other := remotePredicted(nil), remotePredicted(nil, along)
	require.NoError(t, one.Err())
	require.NoError(t, other.Err())
	require.NotEqual(t, one.Hash(), other.Hash())
	for p, kinds := range map[*foretick.Protocol][]string{one: {"boat"}, other: {"boat", "shell"}} {
		s, err := schema.ReadProtocol(p.Schema(nil))
		require.NoError(t, err)
		require.True(t, s.PredictsRemote)
		require.Equal(t, kinds, s.RemotePredicted)
		require.Equal(t, p.Hash(), s.Hash())
		require.Equal(t, p.Describe(), s.Describe())
	}
	plain := declare(nil)
	require.NoError(t, plain.Err())
	s, err := schema.ReadProtocol(plain.Schema(nil))
	require.NoError(t, err)
	require.False(t, s.PredictsRemote)
}

// ecs.Common and ecs.ClientOnly name parts of clients' worlds. A game spawns nothing for them.
func TestSpawnForAPartIsRefused(t *testing.T) {
	g := &boats{}
	p := foretick.NewProtocol("boats", 1)
	p.Component(&g.float, foretick.Predicted())
	p.Prefab(&g.buoy, "buoy", &g.float)
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(t, err)
	for _, o := range []foretick.PlayerID{ecs.Common, ecs.ClientOnly} {
		require.PanicsWithError(t, `foretick: Spawn of prefab "buoy" for a part of clients' worlds: spawn it for ecs.Nobody; shared systems that write it through WriteOther make it a shared physics object`, func() {
			srv.Frame().Spawn(&g.buoy, o)
		})
	}
	require.NotEqual(t, ecs.None, srv.Frame().Spawn(&g.buoy, ecs.Nobody))
}

// regatta is a game of boats that fire. Remote boats are predicted together with what they fire.
type regatta struct {
	at    ecs.Component[flying]
	heard ecs.Component[float] // the last input of the helm
	cmd   ecs.Component[pad]
	boat  ecs.Prefab
	shell ecs.Prefab
}

func (g *regatta) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("regatta", 1)
	p.Component(&g.at, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.heard, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.cmd)
	p.Prefab(&g.boat, "boat", &g.at, &g.heard, &g.cmd)
	p.Prefab(&g.shell, "shell", &g.at)
	p.Spawns(&g.shell, foretick.SpawnConfig{})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.boat, player) })
	p.Shared("row", func(f *foretick.Frame, rows ecs.Rows) {
		at, heard, cmd := g.at.Slice(rows), g.heard.Slice(rows), g.cmd.Slice(rows)
		for i := range at {
			heard[i].X = cmd[i].X
			at[i].X += cmd[i].X * 5 * f.DT
			if cmd[i].Jump {
				*g.at.Get(f.World, f.SpawnBy(rows.Entity(i), &g.shell)) = flying{X: at[i].X, Fuse: 20}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at, &g.heard), ecs.Create(&g.at))
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		at := g.at.Slice(rows)
		for i := range at {
			at[i].X += 3 * f.DT
			if at[i].Fuse--; at[i].Fuse == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Write(&g.at), ecs.Without(&g.cmd), ecs.Structural())
	foretick.PredictRemote(p, &g.cmd, func(f *foretick.Frame, e ecs.Entity, ahead int, cmd *pad) {
		cmd.X = g.heard.Get(f.World, e).X
		cmd.Jump = ahead == 3 // predicts a shell that is never fired
	}, foretick.RemoteConfig{Also: []*ecs.Prefab{&g.shell}})
	return p
}

// Predicting remote players, correcting them and replaying ticks allocates nothing once a match runs
// evenly. Nor does what they spawn.
func TestRemotePredictionAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	n := sim.NewNetwork(3)
	listen := n.Listen()
	var sg regatta
	srv, err := server.New(server.Config{Protocol: sg.protocol(), Transport: listen})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond}
	var clients []*client.Client
	for range 3 {
		g := &regatta{}
		var fired foretick.Tick
		cli, err := client.New(client.Config{Protocol: g.protocol(), Transport: n.Dial(listen, link, link), Sample: client.Sample(&g.cmd, func(v client.View) pad {
			fire := v.Tick%9 == 0 && v.Tick != fired
			fired = v.Tick
			return pad{X: float32((v.Tick/6+uint32(v.Player))%3) - 1, Jump: fire}
		})})
		require.NoError(t, err)
		clients = append(clients, cli)
	}
	epoch := time.Unix(0, 0)
	var memory runtime.MemStats
	var mallocs, steps uint64
	var before stats.Client
	for now := time.Duration(0); now < 40*time.Second; now += time.Second / 60 {
		n.Run(now)
		srv.Step(epoch.Add(now))
		for _, c := range clients[1:] {
			c.Step(epoch.Add(now))
		}
		if now < 25*time.Second {
			clients[0].Step(epoch.Add(now))
			before = clients[0].Stats()
			continue
		}
		steps++
		runtime.ReadMemStats(&memory)
		had := memory.Mallocs
		clients[0].Step(epoch.Add(now))
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - had
	}
	st := clients[0].Stats()
	require.Greater(t, st.RemoteMispredicted-before.RemoteMispredicted, uint64(200))
	require.Greater(t, st.Resimulated-before.Resimulated, uint64(500))
	require.Zero(t, st.Mispredictions, "nobody bears on anybody")
	// The runtime itself may allocate while the counters are read.
	require.Less(t, float64(mallocs)/float64(steps), 0.1)
}
