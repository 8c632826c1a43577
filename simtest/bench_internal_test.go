//go:build !foretick_debug

package simtest

import (
	"flag"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
)

type benchSpot struct {
	X, Y float32 `net:"min=0,max=60,step=0.01"`
}

type benchSpotWide struct { // benchSpot without the tag's step
	X, Y float32
}

type benchMove struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

// benchGame is a game whose players walk back and forth.
type benchGame struct {
	push     bool // the server pushes the players
	allocate bool // the shared system allocates
	nobody   bool // nobody gets an entity
	dice     bool // the server draws numbers without a seed
	leaves   bool // a client closes its connection
	panics   bool // a handler panics
}

var kept *int

// benchPlayer returns one end of the game with a component of type T.
func benchPlayer[T benchSpot | benchSpotWide](g benchGame, add func(spot *T, x float32)) Player {
	var spot ecs.Component[T]
	var move ecs.Component[benchMove]
	var body ecs.Prefab
	p := foretick.NewProtocol("bench", 1)
	p.Component(&spot, foretick.Predicted())
	p.Command(&move)
	p.Prefab(&body, "body", &spot, &move)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		if g.panics {
			panic("boom")
		}
		if !g.nobody {
			f.Spawn(&body, player)
		}
	})
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		if g.allocate {
			kept = new(int)
		}
		spots := spot.Slice(rows)
		for i, m := range move.Slice(rows) {
			add(&spots[i], m.X/4)
		}
	}, ecs.Read(&move), ecs.Write(&spot))
	p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) {
		spots := spot.Slice(rows)
		for i := range spots {
			switch {
			case g.dice:
				add(&spots[i], rand.Float32())
			case g.push && f.Tick%30 == 0:
				add(&spots[i], 1)
			}
		}
	}, ecs.Write(&spot))
	left := g.leaves
	return Player{
		Protocol: p,
		Sample:   client.Sample(&move, func(v client.View) benchMove { return benchMove{float32(v.Tick/30%2)*2 - 1} }),
		Act: func(c *client.Client) {
			if left {
				left = false
				_ = c.Close()
			}
		},
	}
}

func benchNarrow(g benchGame) func() Player {
	return func() Player {
		return benchPlayer(g, func(s *benchSpot, x float32) { s.X = min(max(s.X+x, 0), 60) })
	}
}

func benchWide(g benchGame) func() Player {
	return func() Player {
		return benchPlayer(g, func(s *benchSpotWide, x float32) { s.X = min(max(s.X+x, 0), 60) })
	}
}

// benchOf measures a game, and returns its metrics without the times.
func benchOf(t *testing.T, newPlayer func() Player) map[string]float64 {
	t.Helper()
	figures, err := BenchConfig{Players: 3, Seconds: 3, Seeds: 2}.measureMatches(newPlayer)
	require.NoError(t, err)
	m := map[string]float64{}
	for _, f := range figures {
		require.NotContains(t, m, f.unit)
		m[f.unit] = f.value
	}
	for _, unit := range []string{"noisy-server-ns/tick", "noisy-client-ns/step"} {
		require.Positive(t, m[unit])
		delete(m, unit)
	}
	return m
}

// The line of a benchmark above its limit is one that tools read as any other's.
func TestBenchResultLine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	line := resultLine("BenchmarkGame/many", 1, []benchFigure{{"up-B/s", 650}, {"down-B/s", 785.4}})
	require.Equal(t, []string{"BenchmarkGame/many-3", "1", "785.4", "down-B/s", "650.0", "up-B/s"}, strings.Fields(line))
	runtime.GOMAXPROCS(1)
	require.Equal(t, "BenchmarkGame", strings.Fields(resultLine("BenchmarkGame", 1, nil))[0])
}

// Two runs report the same, and the bytes of the parts are all bytes that were sent.
func TestBenchRepeats(t *testing.T) {
	costtest.Allocations(t)
	m := benchOf(t, benchNarrow(benchGame{}))
	require.Equal(t, m, benchOf(t, benchNarrow(benchGame{})))
	require.Positive(t, m["up-B/s"])
	require.Positive(t, m["benchSpot-B/s"])
	require.InDelta(t, m["down-B/s"], m["benchSpot-B/s"]+m["snapshots-B/s"]+m["packets-B/s"], 0.01)
	require.Zero(t, m["corrections/min"])
	require.Less(t, m["server-allocs/tick"], 0.5)
}

// Each planted regression moves its own metrics, and no others.
func TestBenchFindsRegressions(t *testing.T) {
	costtest.Allocations(t)
	base := benchOf(t, benchNarrow(benchGame{}))
	rises := func(now map[string]float64, from float64, units ...string) {
		t.Helper()
		for _, unit := range units {
			require.Greater(t, now[unit], base[unit]+from, unit)
			delete(now, unit)
		}
	}
	wide := benchOf(t, benchWide(benchGame{}))
	wide["benchSpot-B/s"] = wide["benchSpotWide-B/s"]
	delete(wide, "benchSpotWide-B/s")
	rises(wide, base["benchSpot-B/s"]/2, "benchSpot-B/s", "down-B/s")
	require.InDelta(t, base["corrections/min"], wide["corrections/min"], 0)

	push := benchOf(t, benchNarrow(benchGame{push: true}))
	rises(push, 20, "corrections/min", "server_effect-corrections/min")
	for _, unit := range []string{"input-corrections/min", "remote_input-corrections/min", "code-corrections/min"} {
		require.Zero(t, push[unit], unit)
	}

	alloc := benchOf(t, benchNarrow(benchGame{allocate: true}))
	rises(alloc, 0.4, "server-allocs/tick", "client-allocs/step")
	rest := maps.Clone(base)
	delete(rest, "server-allocs/tick")
	delete(rest, "client-allocs/step")
	require.Equal(t, rest, alloc)
}

// benchtime sets how long the benchmarks of a test take, until its end.
func benchtime(t *testing.T, value string) {
	t.Helper()
	before := flag.Lookup("test.benchtime").Value.String()
	require.NoError(t, flag.Set("test.benchtime", value))
	t.Cleanup(func() { require.NoError(t, flag.Set("test.benchtime", before)) })
}

// The matches are played once, however long the benchmark is to take, and ns/op is left out.
func TestBenchPlaysOnce(t *testing.T) {
	for _, length := range []string{"1x", "50x", "50ms"} {
		benchtime(t, length)
		ends := 0
		r := testing.Benchmark(func(b *testing.B) {
			Bench(b, func() Player { ends++; return benchNarrow(benchGame{})() }, BenchConfig{Players: 2, Seconds: 1, Seeds: 1})
		})
		require.Equal(t, (1+2)*(2+1), ends, length)
		require.Positive(t, r.Extra["down-B/s"])
		require.NotContains(t, r.String(), "ns/op")
		require.NotContains(t, strings.Fields(r.String()), "sec/op")
	}
}

func TestBenchLimits(t *testing.T) {
	figures := []benchFigure{{"down-B/s", 2352}, {"corrections/min", 0.38}}
	require.Empty(t, exceeded(figures, nil))
	require.Empty(t, exceeded(figures, map[string]float64{"down-B/s": 2352, "corrections/min": 1}))
	errs := exceeded(figures, map[string]float64{"down-B/s": 1400, "corrections/min": 0, "down": 5})
	require.Len(t, errs, 3)
	require.ErrorContains(t, errs[0], "corrections/min is 0.38, more than its limit 0")
	require.ErrorContains(t, errs[1], `has "down", which is no metric of this game: use down-B/s, corrections/min`)
	require.ErrorContains(t, errs[2], "down-B/s is 2352, more than its limit 1400")

	benchtime(t, "1x")
	failed := true
	testing.Benchmark(func(b *testing.B) {
		defer func() { failed = b.Failed() }()
		Bench(b, benchNarrow(benchGame{}), BenchConfig{Players: 1, Seconds: 1, Seeds: 1, Limits: map[string]float64{"up-B/s": 1}})
	})
	require.True(t, failed)
}

func TestBenchConfigFaults(t *testing.T) {
	_, err := BenchConfig{}.measureMatches(nil)
	require.ErrorContains(t, err, "newPlayer is nil")
	_, err = BenchConfig{}.measureMatches(func() Player { return Player{} })
	require.ErrorContains(t, err, "no Protocol")
	c := BenchConfig{Players: -1, Seconds: 3601, Seeds: -2, Limits: map[string]float64{"down-B/s": -3}}
	c.Link.Loss = 2
	_, err = c.measureMatches(benchNarrow(benchGame{}))
	for _, want := range []string{
		"BenchConfig.Players is -1: use up to 1024, or 0 for 8", "BenchConfig.Seconds is 3601: use up to 3600, or 0 for 20",
		"BenchConfig.Seeds is -2", "BenchConfig.Link: ", `BenchConfig.Limits["down-B/s"] is -3`,
	} {
		require.ErrorContains(t, err, want)
	}
}

// A match that measures nothing is an error that names the seed.
func TestBenchBrokenMatches(t *testing.T) {
	for _, c := range []struct {
		want string
		game benchGame
		full bool
	}{
		{want: "nobody plays", game: benchGame{nobody: true}},
		{want: "does not repeat from its seed", game: benchGame{dice: true}},
		{want: "only 0 of 3 clients stayed", game: benchGame{leaves: true}},
		{want: "boom", game: benchGame{panics: true}},
		{want: "only 2 of 3 clients stayed", full: true},
	} {
		cfg := BenchConfig{Players: 3, Seconds: 1, Seeds: 1}
		if c.full {
			cfg.Server = func(s *server.Config) { s.MaxClients = 2 }
		}
		_, err := cfg.measureMatches(benchNarrow(c.game))
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "seed 1: ")
	}
}

// A component's unit has no spaces, and differs from those of all other metrics.
func TestBenchUnits(t *testing.T) {
	f := []benchFigure{{"down-B/s", 1}, {"component-down-B/s", 2}}
	require.Equal(t, "Pair[int,_string]-B/s", freeUnit(f, "Pair[int, string]"))
	require.Equal(t, "component-component-down-B/s", freeUnit(f, "down"))
}
