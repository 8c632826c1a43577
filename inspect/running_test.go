package inspect_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// A server may run while it is added, and while its systems are listed.
func TestAddServerWhileItRuns(t *testing.T) {
	p := foretick.NewProtocol("busy", 1)
	p.SetTickRate(128)
	p.Server("sleep", func(*foretick.ServerFrame, ecs.Rows) { time.Sleep(100 * time.Microsecond) }, ecs.Once())
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = srv.Run(ctx) })
	var now foretick.Tick
	for end := time.Now().Add(10 * time.Second); now < 64; {
		require.True(t, time.Now().Before(end))
		in := inspect.New(inspect.Config{})
		require.NoError(t, in.AddServer("match", srv))
		systems, err := in.Systems("match")
		require.NoError(t, err)
		require.Equal(t, "sleep", systems[0].Name)
		now = foretick.Tick(systems[0].Count)
	}
	stop()
	running.Wait()
}
