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
)

// In a game without hitboxes every shot would miss silently. Instead the first
// query reports that, on either end, for any caller. Queries that need no hitbox
// work.
func TestHitViewWithoutHitboxesIsToldAtOnce(t *testing.T) {
	queries := map[string]func(s foretick.HitView){
		"raycast":    func(s foretick.HitView) { s.Raycast(lagcomp.Ray2D(0, 0, 0, 9)) },
		"spherecast": func(s foretick.HitView) { s.SphereCast(lagcomp.Ray2D(0, 0, 0, 9), 1) },
		"nearest":    func(s foretick.HitView) { s.Nearest(lagcomp.Vec{}, 9) },
		"overlap":    func(s foretick.HitView) { s.Overlap(lagcomp.Sphere{R: 9}, nil) },
		"validate":   func(s foretick.HitView) { s.CheckHit(1, lagcomp.Ray2D(0, 0, 0, 9)) },
		"fly":        func(s foretick.HitView) { s.Advance(&lagcomp.Projectile{}, 1) },
		"catch up":   func(s foretick.HitView) { s.CatchUp(&lagcomp.Projectile{}) },
		"explain":    func(s foretick.HitView) { s.Explain(lagcomp.Ray2D(0, 0, 0, 9), 1) },
	}
	ask := func(s foretick.HitView) (told int) {
		for name, q := range queries {
			func() {
				defer func() {
					fault, ok := recover().(foretick.UsageError)
					require.True(t, ok, name)
					require.ErrorContains(t, fault, "with Hitbox or Hitboxes")
					told++
				}()
				q(s)
			}()
		}
		return told
	}
	asked := [2]int{}
	play := func(end int, g *mill, more ...func(*foretick.Protocol)) *foretick.Protocol {
		var fire foretick.Event[uint32]
		return g.protocol(append(more, func(p *foretick.Protocol) {
			p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) { fire.Raise(f, rows.Entity(0), f.Tick) }, ecs.Read(&g.cmd))
			judge := func(f *foretick.Frame, by foretick.PlayerID) {
				asked[end] += ask(f.Rewind(by)) + ask(f.RewindBehind(by, 2)) + ask(f.Rewind(99)) // a player that does not exist
				asked[end] += ask(f.Rewind(by))
				_, ok := f.Rewind(by).Hitbox(1, 0)
				require.False(t, ok)
				_, ok = foretick.ComponentAt(f.Rewind(by), &g.eng, 1)
				require.False(t, ok)
			}
			fire.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ uint32) { judge(f.Frame, by.Player) })
			fire.OnPredicted(p, func(f *foretick.Frame, by foretick.By, _ uint32) { judge(f, by.Player) })
		})...)
	}
	m := simtest.New(3)
	_, err := m.Serve(server.Config{Protocol: play(0, &mill{})})
	require.NoError(t, err)
	g := &mill{}
	sample := client.Sample(&g.cmd, func(client.View) lever { return lever{} })
	_, err = m.Join(client.Config{Protocol: play(1, g), Sample: sample}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(time.Second)
	for end, n := range asked {
		require.NotZero(t, n, end)
		require.Zero(t, n%(4*len(queries)), "each of them, each time")
	}
}
