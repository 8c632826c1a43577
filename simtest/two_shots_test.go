package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// popups is a game with a target that stands 20 m to one side, and moves to the other side when it
// is hit. Players fire at where they see it.
type popups struct {
	at     ecs.Component[popupAt]
	cmd    ecs.Component[popupCmd]
	target ecs.Prefab
	body   ecs.Prefab
	fired  foretick.Event[popupCmd]
	all    *ecs.Query

	counts bool // a new life is marked with LifeID, and not with Teleport
	judged func(f *foretick.Frame, side float32, hit bool)
}

type (
	popupAt struct {
		X    float32 `net:"min=-50,max=50,step=0.01,lerp"`
		Life uint16
	}
	popupCmd struct {
		X    float32 `net:"min=-50,max=50,step=0.01"`
		Fire bool    `net:"oneshot"`
	}
)

func (g *popups) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("popups", 1)
	p.Component(&g.at)
	p.Command(&g.cmd)
	p.Prefab(&g.target, "target", &g.at)
	p.Prefab(&g.body, "body", &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	foretick.Hitbox(p, &g.at, func(a *popupAt) lagcomp.Sphere { return lagcomp.Sphere{X: a.X, R: 1} })
	if g.counts {
		foretick.LifeID(p, &g.at, func(a *popupAt) uint32 { return uint32(a.Life) })
	}
	g.all = p.Query(ecs.With(&g.at))
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := range g.cmd.Slice(rows) {
			if c.Fire {
				g.fired.Raise(f, rows.Entity(i), c)
			}
		}
	}, ecs.Read(&g.cmd))
	g.fired.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, c popupCmd) {
		hits := f.Rewind(by.Player).Overlap(lagcomp.Sphere{X: c.X, R: 1}, nil)
		g.judged(f.Frame, c.X, len(hits) > 0)
		for _, hit := range hits {
			at := g.at.Get(f.World, hit.Entity)
			at.X, at.Life = -at.X, at.Life+1
			if !g.counts {
				f.Teleport(hit.Entity)
			}
		}
	}, ecs.WriteOther(&g.at))
	return p
}

// place returns where the target is in a world.
func (g *popups) place(w *ecs.World) (x float32) {
	for _, rows := range g.all.All(w) {
		x = g.at.Slice(rows)[0].X
	}
	return x
}

// If two shots are judged in one tick, the second does not hurt the life that began with the hit of
// the first, because its player fired at the life before. That also holds for shots in the tick
// after, and when whole ticks run again.
func TestTwoShotsInATick(t *testing.T) {
	for name, c := range map[string]struct {
		counts bool
		later  int // how many ticks the second player fires after the first
		cfg    server.Config
	}{
		"teleport":             {false, 0, server.Config{}},
		"lives":                {true, 0, server.Config{}},
		"teleport, next tick":  {false, 1, server.Config{}},
		"lives, next tick":     {true, 1, server.Config{}},
		"teleport, late world": {false, 0, server.Config{Late: server.Late{Window: 100 * time.Millisecond, World: true}}},
		"lives, late world":    {true, 0, server.Config{Late: server.Late{Window: 100 * time.Millisecond, World: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			m, g := simtest.New(3), &popups{counts: c.counts}
			kills, again, killed := 0, 0, foretick.Tick(0)
			side := float32(0) // side of the newest hit
			g.judged = func(f *foretick.Frame, x float32, hit bool) {
				if f.Replay || !hit {
					return
				}
				if killed != 0 && f.Tick <= killed+1 {
					again++
				}
				kills++
				killed, side = f.Tick, x
			}
			c.cfg.Protocol = g.protocol()
			srv, err := m.Serve(c.cfg)
			require.NoError(t, err)
			g.at.Get(srv.World(), srv.Frame().Spawn(&g.target, ecs.Nobody)).X = 20
			link := sim.Link{Latency: 40 * time.Millisecond}
			for n := range 2 {
				cg := &popups{counts: c.counts}
				_, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) popupCmd {
					x := float32(20)
					if cg.place(v.World) < 0 {
						x = -20
					}
					return popupCmd{X: x, Fire: v.Tick%20 == foretick.Tick(n*c.later)}
				})}, simtest.Seat{Up: link, Down: link})
				require.NoError(t, err)
			}
			m.Run(30 * time.Second)
			require.NoError(t, m.Err())
			require.Greater(t, kills, 30, "shots hit what their player saw")
			require.Zero(t, again, "of %d kills (the newest at %v)", kills, side)
		})
	}
}
