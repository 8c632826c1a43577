package foretick_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// BenchmarkServerTick is one tick of a server with 64 clients that all move:
// commands in, systems, snapshots out, every packet over a simulated network.
func BenchmarkServerTick(b *testing.B) {
	m := simtest.New(1)
	var truth Walk
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), MaxClients: 64})
	require.NoError(b, err)
	link := sim.Link{Latency: 20 * time.Millisecond}
	for range 64 {
		var g Walk
		sample := client.Sample(&g.Move, func(v client.View) Move { return Move{X: float32(v.Tick%2)*2 - 1} })
		_, err := m.Join(client.Config{Protocol: g.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
		require.NoError(b, err)
	}
	m.Run(10 * time.Second)
	var in time.Duration
	m.AroundServer = func(step func()) {
		start := time.Now()
		step()
		in += time.Since(start)
	}
	first, bytes := srv.Tick(), srv.Stats().BytesOut
	b.ResetTimer()
	for range b.N {
		m.Run(m.Net.Now() + time.Second/30)
	}
	ticks := float64(srv.Tick() - first)
	b.ReportMetric(float64(in.Microseconds())/ticks, "µs/server-tick")
	b.ReportMetric(float64(srv.Stats().BytesOut-bytes)/ticks/64, "B/client-tick")
}

// BenchmarkManySystems is one tick of a server with 250 systems, half of which both ends run, and
// ten bodies that nobody owns: what runs around a system is most of it.
func BenchmarkManySystems(b *testing.B) {
	type spot struct{ X float32 }
	var pos ecs.Component[spot]
	var body ecs.Prefab
	p := foretick.NewProtocol("many systems", 60)
	p.Component(&pos, foretick.Predicted())
	p.Prefab(&body, "body", &pos)
	for i := range 125 {
		p.Shared(fmt.Sprint("shared ", i), func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&pos))
		p.Server(fmt.Sprint("server ", i), func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&pos))
	}
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(b, err)
	for range 10 {
		srv.Frame().Spawn(&body, ecs.Nobody)
	}
	now := time.Unix(0, 0)
	srv.Step(now)
	b.ReportAllocs()
	_, took := costtest.Cost(func() {
		for b.Loop() {
			now = now.Add(time.Second/60 + 1)
			srv.Step(now)
		}
	})
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "thread-ns/op")
}
