package server_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// A server whose loop is the game's own gives a clock, to see which systems are slow.
// Under Server.Run it need not.
func ExampleServer_Figures() {
	var game Walk
	var clock time.Duration // a test's clock; otherwise time.Since a start
	p := game.Protocol()
	p.Server("think", func(*foretick.ServerFrame, ecs.Rows) { clock += 2 * time.Millisecond }, ecs.Once())
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: p, Clock: func() time.Duration { return clock }})
	if err != nil {
		panic(err)
	}
	match.Run(time.Second)
	var now stats.Server
	srv.Figures(&now)
	for _, t := range now.Systems {
		fmt.Println(t.Name, t.Runs, t.Total, t.Max)
	}
	// Output:
	// move 30 0s 0s
	// think 30 60ms 2ms
}

// systems returns the times of a server's systems.
func systems(srv *server.Server) []stats.System {
	var now stats.Server
	srv.Figures(&now)
	return now.Systems
}

func TestSystemTimes(t *testing.T) {
	var g Walk
	var at time.Duration
	p := g.Protocol()
	n := time.Duration(0)
	p.Server("grow", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if n++; n == 3 {
			at += 10
		}
		at += n
	}, ecs.Once())
	p.Render("draw", func(*foretick.Frame, ecs.Rows) { at += 100 }, ecs.Once())
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen(), Clock: func() time.Duration { return at }})
	require.NoError(t, err)
	require.Equal(t, []stats.System{{Name: "move"}, {Name: "grow"}}, systems(srv), "what only clients run is left out")
	start := time.Unix(0, 0)
	srv.Step(start)
	for i := range 4 {
		srv.Step(start.Add(time.Duration(i+1) * 34 * time.Millisecond))
	}
	require.Equal(t, foretick.Tick(4), srv.Tick())
	require.Equal(t, []stats.System{{Name: "move", Runs: 4}, {Name: "grow", Runs: 4, Total: 20, Last: 4, Max: 13}}, systems(srv))
	var into stats.Server
	srv.Figures(&into)
	require.Zero(t, testing.AllocsPerRun(10, func() { srv.Figures(&into) }))

	srv, err = server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(t, err)
	srv.Step(start)
	srv.Step(start.Add(time.Second / 10))
	require.Equal(t, []stats.System{{Name: "move", Runs: 3}, {Name: "grow", Runs: 3}}, systems(srv), "no clock: nothing but counts")
}

// TestSystemTimesWhileRunning: Run has its own clock, and other goroutines may read the times while it
// runs.
func TestSystemTimesWhileRunning(t *testing.T) {
	var g Walk
	p := g.Protocol()
	p.Server("sleep", func(*foretick.ServerFrame, ecs.Rows) { time.Sleep(time.Millisecond) }, ecs.Once())
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { require.NoError(t, srv.Run(ctx)) })
	require.Eventually(t, func() bool {
		got := systems(srv)[1]
		return got.Runs > 1 && got.Last >= time.Millisecond && got.Max >= got.Last && got.Total > got.Last
	}, 10*time.Second, time.Millisecond)
	stop()
	wg.Wait()
}
