package simtest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// crew runs each task on a separate goroutine, the last first.
type crew struct{ shares int }

func (c *crew) Run(n int, task func(i int)) {
	c.shares = max(c.shares, n)
	var wg sync.WaitGroup
	for i := n - 1; i >= 0; i-- {
		wg.Go(func() { task(i) })
	}
	wg.Wait()
}

// A server with an executor sends the same packets in the same order.
func TestExecutorChangesNothing(t *testing.T) {
	costtest.Concurrent(t)
	var workers crew
	run := func(x ecs.Executor) [32]byte {
		m, _ := walkOn(t, server.Config{Executor: x}, 3, 26, sim.Link{Latency: 60 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05}, time.Second)
		return m.Trace()
	}
	require.Equal(t, run(nil), run(&workers))
	require.Greater(t, workers.shares, 1)
}
