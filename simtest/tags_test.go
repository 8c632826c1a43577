package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
)

// tagged counts the runs of systems by their name.
type tagged struct {
	game
	ran map[string]int
	dt  float32
}

func (g *tagged) protocol() *foretick.Protocol {
	p := g.game.protocol()
	g.ran = map[string]int{}
	count := func(name string) func(*foretick.Frame, ecs.Rows) {
		return func(f *foretick.Frame, _ ecs.Rows) { g.ran[name]++; g.dt = f.DT }
	}
	p.Server("battle", func(f *foretick.ServerFrame, rows ecs.Rows) { count("battle")(f.Frame, rows) }, ecs.Once(), ecs.Tags("battle"))
	p.Server("always", func(f *foretick.ServerFrame, rows ecs.Rows) { count("always")(f.Frame, rows) }, ecs.Once())
	p.Shared("sound", count("sound"), ecs.Once(), ecs.Tags(foretick.TagClient))
	p.Render("plain", count("plain"), ecs.Once())
	p.Render("overlay", count("overlay"), ecs.Once(), ecs.Tags("overlay"))
	p.Render("top view", count("top view"), ecs.Once(), ecs.Tags(foretick.TagServer))
	return p
}

// TestTagsOfTheGamesOwn: systems with the game's own tags run on ends whose configuration names
// these tags. A server whose configuration names the render tag runs render systems.
func TestTagsOfTheGamesOwn(t *testing.T) {
	for _, on := range []bool{false, true} {
		m := simtest.New(1)
		truth, cl := &tagged{}, &tagged{}
		sc, cc := server.Config{Protocol: truth.protocol()}, client.Config{Protocol: cl.protocol()}
		cc.Sample = client.Sample(&cl.cmd, func(client.View) move { return move{} })
		if on {
			sc.Tags, cc.Tags = []string{"battle", "overlay", foretick.TagRender}, []string{"overlay"}
		}
		srv, err := m.Serve(sc)
		require.NoError(t, err)
		_, err = m.Join(cc, simtest.Seat{})
		require.NoError(t, err)
		m.Run(2 * time.Second)
		require.Equal(t, on, truth.ran["battle"] > 0)
		require.Positive(t, truth.ran["always"])
		require.Zero(t, truth.ran["sound"])
		require.Positive(t, cl.ran["sound"])
		require.Zero(t, truth.ran["plain"], "not before Draw")
		require.Positive(t, cl.ran["plain"])
		require.Equal(t, on, cl.ran["overlay"] > 0)
		require.Zero(t, cl.ran["battle"]+cl.ran["always"]+cl.ran["top view"])
		times := map[string]uint64{}
		var now stats.Server
		srv.Figures(&now)
		for _, s := range now.Systems {
			times[s.Name] = s.Runs
		}
		require.Equal(t, on, times["battle"] > 0)
		if !on {
			require.Panics(t, func() { srv.Draw(time.Second) })
			continue
		}
		ticks := truth.ran["always"]
		srv.Draw(20 * time.Millisecond)
		require.Equal(t, []int{1, 1, 1}, []int{truth.ran["plain"], truth.ran["overlay"], truth.ran["top view"]})
		require.InDelta(t, 0.02, truth.dt, 1e-6)
		m.Run(m.Net.Now() + time.Second)
		require.Equal(t, 1, truth.ran["plain"])
		require.Greater(t, truth.ran["always"], ticks)
		require.InDelta(t, 1./30, truth.dt, 1e-6)
	}
}

func TestTagFaults(t *testing.T) {
	for _, c := range []struct{ tag, want string }{
		{"battel", `server.Config.Tags has "battel", and no system has that tag`},
		{foretick.TagClient, `server.Config.Tags has "client", which this package gives each end`},
	} {
		_, err := simtest.New(1).Serve(server.Config{Protocol: (&tagged{}).protocol(), Tags: []string{c.tag}})
		require.ErrorContains(t, err, c.want)
	}
	_, err := client.New(client.Config{Protocol: (&tagged{}).protocol(), Tags: []string{"hud"}})
	require.ErrorContains(t, err, `client.Config.Tags has "hud", and no system has that tag`)
	g := &weather{}
	_, err = client.New(client.Config{Protocol: g.protocol(), Tags: []string{"deep winter"}})
	require.ErrorContains(t, err, `client.Config.Tags has "deep winter", a tag of shared system "blizzard", which both ends run alike: put it into server.Config.Tags`)
}
