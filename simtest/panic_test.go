package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

type flash struct{ N uint8 }

// flawed returns an end of a game whose handler of flashes panics.
func flawed() simtest.Player {
	g := &planted{}
	flashes := &foretick.Event[flash]{}
	return g.End(func(_ *planted, p *foretick.Protocol) {
		p.Shared("flash", func(f *foretick.Frame, rows ecs.Rows) {
			if f.Tick == 60 {
				flashes.Raise(f, rows.Entity(0), flash{1})
			}
		}, ecs.Read(&g.Cmd))
		flashes.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, v flash) {
			panic("a fault of the game's")
		})
	})
}

// A server drops the player whose handler panics, and logs that. Since nobody reads the
// log in a test, the match reports the panic, with its location.
func TestPanicsAreTold(t *testing.T) {
	told := func(s string) {
		for _, want := range []string{"in event flash of player ", "a fault of the game's", "panic_test.go"} {
			require.Contains(t, s, want)
		}
	}
	plan := simtest.Plan{New: flawed, Clients: 2, Play: 5 * time.Second, Links: []sim.Link{sim.LAN}}
	_, err := plan.Run(1)
	require.Error(t, err)
	told(err.Error())
	var fault *simtest.Fault
	require.ErrorAs(t, err, &fault)
	require.Nil(t, fault.Checker)
	require.EqualValues(t, 60, fault.Tick)

	faults, err := simtest.FindDesyncs(flawed, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Len(t, faults, 1)
	told(faults[0])
	require.Regexp(t, `game's\n.*flawed`, faults[0], "the stack begins where it happened")

	fuzz := campaign.PacketFuzzer{New: flawed}
	for life := uint64(0); err == nil && life < 20; life++ {
		_, err = fuzz.Live(life)
	}
	require.Error(t, err)
	told(err.Error())

	heard := 0
	plan.Server = func(cfg *server.Config) { cfg.OnPanic = func(server.Panic) { heard++ } }
	_, err = plan.Run(1)
	require.ErrorContains(t, err, "was dropped", "who listens himself decides himself")
	require.Positive(t, heard)
}

// Player.Begin creates the initial contents of the world, in each process of the server.
func TestBeginFurnishes(t *testing.T) {
	began, most := 0, 0
	furnished := func() simtest.Player {
		g := &planted{}
		p := g.End(nil)
		p.Begin = func(s *server.Server) {
			require.Zero(t, s.Tick())
			began++
			for range 5 {
				s.Frame().Spawn(&g.Player, ecs.Nobody)
			}
		}
		bodies := p.Protocol.Query(ecs.With(&g.Pos))
		p.Protocol.Render("count", func(f *foretick.Frame, _ ecs.Rows) { most = max(most, bodies.Count(f.World)) }, ecs.Once())
		return p
	}
	_, err := simtest.Plan{New: furnished, Clients: 2, Play: 10 * time.Second, ServerKills: 4 * time.Second, Links: []sim.Link{sim.LAN},
		Checkers: func() []simtest.Checker { return []simtest.Checker{&simtest.Agreement{}} }}.Run(1)
	require.NoError(t, err)
	require.Greater(t, began, 1)
	require.Equal(t, 7, most)
	faults, err := simtest.FindDesyncs(furnished, simtest.SyncConfig{})
	require.NoError(t, err)
	require.Empty(t, faults)
}
