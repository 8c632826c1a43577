package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// crowd is a game of 120 singletons and 250 systems: two for each singleton, which change it,
// and ten that move the players and let them shoot. The last ten singletons are predicted.
// The components come after the singletons, so that none of theirs has a low id.
type crowd struct {
	pos     ecs.Component[footing]
	facing  ecs.Component[outlook]
	fuse    ecs.Component[burning]
	health  ecs.Component[vigour]
	cmd     ecs.Component[lunge]
	body    ecs.Prefab
	dart    ecs.Prefab
	hits    int // hits, on a server
	facings int // facings that a shot found
	singles []ecs.Handle
	values  []func(w *ecs.World) *int32
}

// outlook is where a player looks, vigour counts the hits on it, and burning is how many ticks a
// dart has left.
type (
	outlook struct{ Left bool }
	burning struct{ Left uint8 }
	vigour  struct {
		V uint16
	}
)

// pile is a type of its own for each pair of digits.
type pile[A, B any] struct{ V int32 }

type (
	d0 struct{}
	d1 struct{}
	d2 struct{}
	d3 struct{}
	d4 struct{}
	d5 struct{}
	d6 struct{}
	d7 struct{}
	d8 struct{}
	d9 struct{}
)

func (g *crowd) declare() {
	piles[d0](g)
	piles[d1](g)
	piles[d2](g)
	piles[d3](g)
	piles[d4](g)
	piles[d5](g)
	piles[d6](g)
	piles[d7](g)
	piles[d8](g)
	piles[d9](g)
	piles[pile[d0, d0]](g)
	piles[pile[d1, d1]](g)
}

func piles[A any](g *crowd) {
	one[A, d0](g)
	one[A, d1](g)
	one[A, d2](g)
	one[A, d3](g)
	one[A, d4](g)
	one[A, d5](g)
	one[A, d6](g)
	one[A, d7](g)
	one[A, d8](g)
	one[A, d9](g)
}

func one[A, B any](g *crowd) {
	s := new(ecs.Singleton[pile[A, B]])
	g.singles = append(g.singles, s)
	g.values = append(g.values, func(w *ecs.World) *int32 { return &s.Get(w).V })
}

func (g *crowd) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("crowd", 1)
	p.Command(&g.cmd)
	g.declare()
	for i, s := range g.singles {
		declare := func(name string, run func(*foretick.Frame, ecs.Rows), access ...ecs.Access) {
			p.Server(name, func(f *foretick.ServerFrame, rows ecs.Rows) { run(f.Frame, rows) }, access...)
		}
		if i < len(g.singles)-10 {
			p.Singleton(s)
		} else {
			p.Singleton(s, foretick.Predicted())
			declare = p.Shared
		}
		for n := range 2 {
			declare(fmt.Sprint("count ", i, " ", n), func(f *foretick.Frame, _ ecs.Rows) {
				if int(f.Tick)%(2*len(g.singles)) == 2*i+n {
					*g.values[i](f.World) += int32(n + 1)
				}
			}, ecs.Once(), ecs.Write(s))
		}
	}
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.facing, foretick.Predicted())
	p.Component(&g.fuse, foretick.Predicted())
	p.Component(&g.health)
	p.Prefab(&g.body, "runner", &g.pos, &g.facing, &g.health, &g.cmd)
	p.Prefab(&g.dart, "dart", &g.fuse)
	p.Spawns(&g.dart, foretick.SpawnConfig{})
	foretick.Hitbox(p, &g.pos, func(at *footing) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, R: 3} })
	foretick.TrackHistory(p, &g.facing)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.pos.Get(f.World, f.Spawn(&g.body, player)).X = 10 * float32(player)
	})
	for n := range 6 {
		p.Shared(fmt.Sprint("run ", n), func(f *foretick.Frame, rows ecs.Rows) {
			pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
			for i := range pos {
				pos[i].X = min(max(pos[i].X+cmd[i].Move*0.6*f.DT, -90), 90)
			}
		}, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.Partial())
	}
	p.Shared("look", func(_ *foretick.Frame, rows ecs.Rows) {
		facing, cmd := g.facing.Slice(rows), g.cmd.Slice(rows)
		for i := range cmd {
			facing[i].Left = cmd[i].Move < 0
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.facing))
	p.Shared("throw", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := range g.cmd.Slice(rows) {
			if c.Fire {
				g.fuse.Get(f.World, f.SpawnBy(rows.Entity(i), &g.dart)).Left = 20
			}
		}
	}, ecs.Read(&g.cmd), ecs.Create(&g.fuse), ecs.Before("burn"))
	p.Shared("burn", func(f *foretick.Frame, rows ecs.Rows) {
		fuse := g.fuse.Slice(rows)
		for i, e := range rows.Entities() {
			if fuse[i].Left--; fuse[i].Left == 0 {
				f.Destroy(e)
			}
		}
	}, ecs.Write(&g.fuse), ecs.Structural())
	p.Server("shoot", g.shoot, ecs.Read(&g.cmd, &g.pos), ecs.Write(&g.health))
	return p
}

// shoot makes a player that fires hit the players that it sees nearby.
func (g *crowd) shoot(f *foretick.ServerFrame, rows ecs.Rows) {
	pos, cmd, health := g.pos.Slice(rows), g.cmd.Slice(rows), g.health.Slice(rows)
	for i := range cmd {
		if !cmd[i].Fire {
			continue
		}
		seen := f.Rewind(rows.Owner())
		hit, ok := seen.Nearest(lagcomp.Vec{X: pos[i].X}, 50)
		if !ok {
			continue
		}
		g.hits++
		health[i].V++
		if _, ok := foretick.ComponentAt(seen, &g.facing, hit.Entity); ok {
			g.facings++
		}
	}
}

// A game of 120 singletons and 250 systems plays like any other. With late inputs, partial ticks
// and 5 % loss every value arrives, and only different inputs cause corrections.
func TestManySingletonsAndSystems(t *testing.T) {
	var wrong []prediction.Misprediction
	m, g := simtest.New(1), &crowd{}
	p := g.protocol()
	require.NoError(t, p.Err())
	require.Len(t, g.singles, 120)
	srv, err := m.Serve(server.Config{Protocol: p, Late: server.Late{Window: 200 * time.Millisecond}})
	require.NoError(t, err)
	m.Watch(&simtest.Agreement{}, &simtest.Delivery{})
	link := sim.LTE
	link.Loss = 0.05
	var games []*crowd
	var clients []*client.Client
	for n := range 3 {
		cg := &crowd{}
		c, err := m.Join(client.Config{Protocol: cg.protocol(), PartialTicks: true,
			Sample:          client.Sample(&cg.cmd, func(v client.View) lunge { return wave(n*5, v) }),
			OnMisprediction: func(w prediction.Misprediction) { wrong = append(wrong, w) },
		}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients, games = append(clients, c), append(games, cg)
	}
	m.Run(time.Duration(costtest.Count(15, 35)) * time.Second)
	require.NoError(t, m.Err())
	for n, c := range clients {
		require.Equal(t, client.Playing, c.View().State)
		for i := range g.values {
			want := *g.values[i](srv.World())
			require.Positive(t, want)
			require.InDelta(t, want, *games[n].values[i](c.View().World), 3, "singleton %d", i)
		}
	}
	require.Positive(t, srv.Stats().InputsRerun)
	require.Positive(t, g.hits)
	require.Equal(t, g.hits, g.facings)
	causes := map[string]int{}
	for _, w := range wrong {
		causes[w.Cause.String()]++
	}
	t.Logf("%d inputs ran late, corrections %v", srv.Stats().InputsRerun, causes)
	require.Zero(t, causes["code"], "%v", wrong)
	require.NotEmpty(t, wrong)
}
