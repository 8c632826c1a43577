package simtest_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport/sim"
)

// A server's tick, packets in and packets out, allocates nothing once the match
// runs evenly.
func TestServerStepAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	m, _ := walk(t, 1, 8, sim.Link{Latency: 50 * time.Millisecond, Loss: 0.02}, 20*time.Second)
	server := m.Server()
	var memory runtime.MemStats
	var mallocs uint64
	first := server.Tick()
	m.AroundServer = func(step func()) {
		runtime.ReadMemStats(&memory)
		before := memory.Mallocs
		step()
		runtime.ReadMemStats(&memory)
		mallocs += memory.Mallocs - before
	}
	m.Run(m.Net.Now() + 10*time.Second)
	ticks := server.Tick() - first
	require.Greater(t, ticks, uint32(250))
	// The runtime itself allocates now and then while the counters are read.
	require.Less(t, float64(mallocs)/float64(ticks), 0.1)
}
