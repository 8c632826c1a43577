package foretick_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
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
	boat    ecs.Kind
	buoy    ecs.Kind
	shell   ecs.Kind
	bullet  ecs.Kind
	nowhere ecs.Kind
}

// foreseen declares a sound game that foresees, spoilt by a test before or after it does.
func foreseen(spoil func(g *boats, p *foretick.Protocol), opts ...func(g *boats) foretick.ForeseeOption) *foretick.Protocol {
	g := &boats{}
	p := foretick.NewProtocol("boats", 1)
	p.Component(&g.float, foretick.Predicted, foretick.Exact)
	p.Component(&g.coarse, foretick.Predicted)
	p.Component(&g.hold, foretick.Predicted)
	p.Component(&g.health)
	p.Command(&g.cmd)
	p.Kind(&g.boat, "boat", &g.float, &g.hold, &g.health, &g.cmd)
	p.Kind(&g.buoy, "buoy", &g.coarse)
	p.Kind(&g.shell, "shell", &g.float)
	p.Kind(&g.bullet, "bullet", &g.float)
	p.Spawns(&g.bullet, foretick.SpawnConfig{Policy: foretick.Local})
	p.Shared("move", nothing, ecs.Read(&g.cmd), ecs.Write(&g.float))
	p.Shared("drift", nothing, ecs.Write(&g.coarse))
	if spoil != nil {
		spoil(g, p)
	}
	var all []foretick.ForeseeOption
	for _, o := range opts {
		all = append(all, o(g))
	}
	foretick.Foresee(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *pad) {}, all...)
	return p
}

func TestForeseeFaults(t *testing.T) {
	require.NoError(t, foreseen(nil).Err())
	along := func(k func(g *boats) *ecs.Kind) func(g *boats) foretick.ForeseeOption {
		return func(g *boats) foretick.ForeseeOption { return foretick.Along(k(g)) }
	}
	except := func(names ...string) func(g *boats) foretick.ForeseeOption {
		return func(*boats) foretick.ForeseeOption { return foretick.Except(names...) }
	}
	trade := func(g *boats, p *foretick.Protocol) { p.Shared("trade", nothing, ecs.Write(&g.hold)) }
	for name, c := range map[string]struct {
		spoil func(g *boats, p *foretick.Protocol)
		opts  []func(g *boats) foretick.ForeseeOption
		want  []string // none: it is no fault
	}{
		"coarser for others": {
			nil, []func(g *boats) foretick.ForeseeOption{along(func(g *boats) *ecs.Kind { return &g.buoy })},
			[]string{"others are told place.X in steps of 0.01", "0.000625", "declare place with Component(…, Predicted, Exact)"},
		},
		"along":              {nil, []func(g *boats) foretick.ForeseeOption{along(func(g *boats) *ecs.Kind { return &g.shell })}, nil},
		"along nothing":      {nil, []func(g *boats) foretick.ForeseeOption{along(func(g *boats) *ecs.Kind { return &g.nowhere })}, []string{"Along", "not declared with Protocol.Kind"}},
		"along what is kept": {nil, []func(g *boats) foretick.ForeseeOption{along(func(g *boats) *ecs.Kind { return &g.bullet })}, []string{"Along", "bullet", "Local"}},
		"a system reads what others do not receive": {
			trade, nil, []string{`shared system "trade" reads hold.Coins, which other players do not receive`, `Except("trade")`},
		},
		"and is left out": {trade, []func(g *boats) foretick.ForeseeOption{except("trade")}, nil},
		"no such system":  {trade, []func(g *boats) foretick.ForeseeOption{except("trade", "drfit")}, []string{`Except names "drfit", which is no shared system`}},
		"a system of the server's": {
			func(g *boats, p *foretick.Protocol) { p.Server("tide", nothing, ecs.Write(&g.float)) },
			[]func(g *boats) foretick.ForeseeOption{except("tide")}, []string{`Except names "tide"`},
		},
		"a system that fits nothing foreseen": {
			func(g *boats, p *foretick.Protocol) {
				p.Shared("moor", nothing, ecs.Read(&g.hold), ecs.Write(&g.coarse))
			}, nil, nil,
		},
		"twice": {
			func(g *boats, p *foretick.Protocol) {
				foretick.Foresee(p, &g.cmd, func(*foretick.Frame, ecs.Entity, int, *pad) {})
			}, nil, []string{"Foresee was declared twice"},
		},
		"without a function": {
			func(g *boats, p *foretick.Protocol) { foretick.Foresee(p, &g.cmd, nil) }, nil, []string{"Foresee has no function"},
		},
		"of no command": {
			func(g *boats, p *foretick.Protocol) {
				foretick.Foresee(p, &g.other, func(*foretick.Frame, ecs.Entity, int, *hit) {})
			}, nil, []string{"Foresee of hit, which is not the protocol's command"},
		},
		"exact, and not predicted": {
			func(g *boats, p *foretick.Protocol) { p.Component(&g.other, foretick.Exact) }, nil,
			[]string{"component hit is Exact and not Predicted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := foreseen(c.spoil, c.opts...).Err()
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

// Both ends must foresee the same: the hash covers it, and the schema says it.
func TestForesightTravels(t *testing.T) {
	along := func(g *boats) foretick.ForeseeOption { return foretick.Along(&g.shell) }
	one, other := foreseen(nil), foreseen(nil, along)
	require.NoError(t, one.Err())
	require.NoError(t, other.Err())
	require.NotEqual(t, one.Hash(), other.Hash())
	for p, kinds := range map[*foretick.Protocol][]string{one: {"boat"}, other: {"boat", "shell"}} {
		s, err := foretick.ReadSchema(p.Schema(nil))
		require.NoError(t, err)
		require.True(t, s.Foresees)
		require.Equal(t, kinds, s.Foreseen)
		require.Equal(t, p.Hash(), s.Hash())
		require.Equal(t, p.Describe(), s.Describe())
	}
	plain := declare(nil)
	require.NoError(t, plain.Err())
	s, err := foretick.ReadSchema(plain.Schema(nil))
	require.NoError(t, err)
	require.False(t, s.Foresees)
}

// The names of parts of clients' worlds are nobody's.
func TestSpawnForAPartIsRefused(t *testing.T) {
	g := &boats{}
	p := foretick.NewProtocol("boats", 1)
	p.Component(&g.float, foretick.Predicted)
	p.Kind(&g.buoy, "buoy", &g.float)
	srv, err := foretick.NewServer(foretick.ServerConfig{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(t, err)
	for _, o := range []ecs.Owner{ecs.Island, ecs.Fleeting} {
		require.PanicsWithError(t, `foretick: Spawn of kind "buoy" for a part of clients' worlds: spawn it for ecs.Nobody; it is of the island where shared systems write it by WriteOther`, func() {
			srv.Frame().Spawn(&g.buoy, o)
		})
	}
	require.NotEqual(t, ecs.None, srv.Frame().Spawn(&g.buoy, ecs.Nobody))
}
