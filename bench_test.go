package foretick_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// BenchmarkServerTick is one tick of a server with 64 clients that all move:
// commands in, systems, snapshots out, every packet over a simulated network.
func BenchmarkServerTick(b *testing.B) {
	m := simtest.New(1)
	var server Walk
	srv, err := m.Serve(foretick.ServerConfig{Protocol: server.Protocol(), MaxClients: 64})
	require.NoError(b, err)
	link := sim.Link{Latency: 20 * time.Millisecond}
	for range 64 {
		var g Walk
		sample := foretick.Sample(&g.Move, func(v foretick.View) Move { return Move{X: float32(v.Tick%2)*2 - 1} })
		_, err := m.Join(foretick.ClientConfig{Protocol: g.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
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
