package spawntest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// Local components, which only the client's own code uses.
type (
	pulse        struct{ Frames, Mark uint32 } // every body and hook is spawned with it
	scar         struct{ Frame uint32 }        // added when an entity is first drawn
	badgeOfBirth struct{}                      // every body is spawned with it, and loses it
)

// parlour is the anglers' game with local components, and watches in frames and ticks.
type parlour struct {
	anglers
	pulse   ecs.Component[pulse]
	scar    ecs.Component[scar]
	born    ecs.Component[badgeOfBirth]
	appears *ecs.Watch
	hooks   *ecs.Watch
	pulses  *ecs.Query
	entered map[ecs.Entity]int
	left    map[ecs.Entity]int
	added   map[ecs.Entity]int
	frames  uint32
	lives   map[ecs.Entity]life // whether each hook was there in the last frame
	back    int                 // hooks that were gone in a frame, and came back
}

// life is whether a hook was there in the last frame.
type life int

const (
	alive life = iota
	gone
)

func newParlour() *parlour {
	return &parlour{entered: map[ecs.Entity]int{}, left: map[ecs.Entity]int{}, added: map[ecs.Entity]int{}, lives: map[ecs.Entity]life{}}
}

func (g *parlour) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("parlour", 1)
	p.Component(&g.pos, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.rope, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.flight, foretick.Predicted(), foretick.FullPrecision())
	p.LocalComponent(&g.pulse)
	p.LocalComponent(&g.scar)
	p.LocalComponent(&g.born)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.rope, &g.cmd, &g.pulse, &g.born)
	p.Prefab(&g.hook, "hook", &g.flight, &g.pulse)
	p.Spawns(&g.hook, foretick.SpawnConfig{
		OnPredicted: func(f *foretick.Frame, e ecs.Entity) {
			g.pulse.Get(f.World, e).Mark = 77
			g.lives[e] = alive
		},
	})
	g.appears = ecs.NewWatch(p.Types(), ecs.With(&g.pos))
	g.hooks = ecs.NewWatch(p.Types(), ecs.With(&g.flight))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("count", func(f *foretick.Frame, rows ecs.Rows) { // polls a watch in each tick, and again when the tick runs again
		in, _ := g.hooks.PollOwner(f.World, rows.Owner())
		for i, r := 0, g.rope.Slice(rows); i < len(r); i++ {
			r[i].Shot += uint16(len(in)) * 100
		}
	}, ecs.Write(&g.rope), ecs.Before("throw"))
	p.Shared("throw", g.throw, ecs.Read(&g.cmd), ecs.Write(&g.rope, &g.pos), ecs.Create(&g.flight, &g.pulse), ecs.Before("fly"))
	p.Shared("fly", g.fly, ecs.Write(&g.flight), ecs.Structural())
	p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) { // the server ends hooks and moves players, which clients cannot predict
		for i, at := 0, g.flight.Slice(rows); i < len(at); i++ {
			if at[i].Fuse == 3 && f.Rand(uint64(rows.Entity(i)))%3 == 0 {
				at[i].Fuse = 15
			}
		}
	}, ecs.Write(&g.flight), ecs.Before("fly"))
	p.Server("push", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, pos := 0, g.pos.Slice(rows); i < len(pos) && f.Tick%20 == 0; i++ {
			pos[i].Y++
		}
	}, ecs.Write(&g.pos))
	p.Render("ui", g.draw, ecs.Write(&g.pulse), ecs.Create(&g.scar), ecs.ReadOther(&g.born), ecs.Structural())
	g.pulses = p.Query(ecs.With(&g.pulse))
	return p
}

func (g *parlour) draw(f *foretick.Frame, rows ecs.Rows) {
	for i, p := 0, g.pulse.Slice(rows); i < len(p); i++ {
		e := rows.Entity(i)
		p[i].Frames++
		if g.scar.Find(f.World, e) == nil {
			g.scar.Add(f.World, e, scar{Frame: p[i].Frames})
			g.added[e]++
		}
		if g.born.Find(f.World, e) != nil {
			g.born.Remove(f.World, e)
		}
	}
}

// Local components on predicted entities keep their values from frame to frame, through every
// rollback, and when the server restores an entity that prediction had destroyed. A watch reports
// each entity once.
func TestLocalComponentsOutliveRollback(t *testing.T) {
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	m, srv := simtest.New(2), newParlour()
	_, err := m.Serve(server.Config{Protocol: srv.protocol()})
	require.NoError(t, err)
	var games []*parlour
	for range 2 {
		g := newParlour()
		c, err := m.Join(client.Config{Protocol: g.protocol(), OnMisprediction: func(x prediction.Misprediction) {
			require.NotEqual(t, prediction.Code, x.Cause, x)
		}, Sample: client.Sample(&g.cmd, func(v client.View) firing {
			return firing{X: float32(v.Tick/7%3) - 1, Fire: v.Tick%5 == 0}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			g.frames++
			in, out := g.appears.Poll(v.World)
			for _, e := range in {
				g.entered[e]++
			}
			for _, e := range out {
				g.left[e]++
			}
			for e, was := range g.lives {
				p := g.pulse.Find(v.World, e)
				switch {
				case p == nil:
					g.lives[e] = gone
					continue
				case was == gone:
					g.back++
				}
				g.lives[e] = alive
				require.EqualValues(t, 77, p.Mark, "what was noted when it was predicted")
				require.Positive(t, p.Frames)
			}
		}})
		require.NoError(t, err)
		games = append(games, g)
		defer func() {
			require.Greater(t, c.Stats().Mispredictions, uint64(10))
			require.Greater(t, c.Stats().Resimulated, uint64(50))
			require.Greater(t, g.back, 3)
		}()
	}
	m.Run(15 * time.Second)
	for _, g := range games {
		require.Len(t, g.entered, 2, "both bodies")
		for e, n := range g.entered {
			require.Equal(t, 1, n, "%v", e)
			require.Zero(t, g.left[e])
		}
		for e, n := range g.added {
			require.Equal(t, 1, n, "%v", e)
		}
	}
	for i, c := range m.Clients(nil) {
		g, bodies := games[i], 0
		for _, rows := range g.pulses.All(c.View().World) {
			for k, p := range g.pulse.Slice(rows) {
				if g.pos.Find(c.View().World, rows.Entity(k)) == nil {
					continue
				}
				bodies++
				require.Nil(t, g.born.Find(c.View().World, rows.Entity(k)), "and what was taken away stays away")
				require.NotNil(t, g.scar.Find(c.View().World, rows.Entity(k)))
				require.Greater(t, p.Frames, g.frames-40, "counted in every frame since its birth")
			}
		}
		require.Equal(t, 2, bodies)
	}
}
