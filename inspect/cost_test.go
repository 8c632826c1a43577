//go:build !race && !foretick_debug

package inspect_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// busy is a match with many players, and the times of the server's steps.
type busy struct {
	*simtest.Match
	srv  *server.Server
	took []time.Duration
}

func newBusy(t *testing.T, players int) *busy {
	m := &busy{Match: simtest.New(1)}
	var err error
	start := time.Now()
	m.srv, err = m.Serve(server.Config{Protocol: (&game{}).protocol(), Clock: func() time.Duration { return time.Since(start) }})
	require.NoError(t, err)
	for range players {
		g := &game{}
		link := sim.Link{Latency: 20 * time.Millisecond}
		_, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) push { return push{X: int8(v.Tick%3) - 1} })}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
		require.NoError(t, err)
	}
	m.Run(3 * time.Second)
	m.AroundServer = func(step func()) {
		before, begun := m.srv.Tick(), time.Now()
		step()
		if m.srv.Tick() != before {
			m.took = append(m.took, time.Since(begun))
		}
	}
	return m
}

func (m *busy) tick() { m.Run(m.Net.Now() + time.Second/30) }

func (m *busy) median() time.Duration {
	slices.Sort(m.took)
	d := m.took[len(m.took)/2]
	m.took = m.took[:0]
	return d
}

// A server with a closed inspector steps as fast as one without an inspector. Their ticks run in
// turn, and the best of several rounds counts, since other programs interrupt. The test prints
// the cost of an open inspector.
func TestCost(t *testing.T) {
	const players, ticks = 16, 60
	without, with, open := newBusy(t, players), newBusy(t, players), newBusy(t, players)
	closed, looked := inspect.New(inspect.Config{}), inspect.New(inspect.Config{})
	require.NoError(t, closed.AddServer("match", with.srv))
	require.NoError(t, looked.AddServer("match", open.srv))
	defer looked.Open()()
	best, cost := math.Inf(1), math.Inf(1)
	for range 6 {
		for range ticks {
			without.tick()
			with.tick()
			open.tick()
		}
		base := float64(without.median())
		best, cost = min(best, float64(with.median())/base), min(cost, float64(open.median())/base)
		if best <= 1.05 {
			break
		}
	}
	t.Logf("closed: %.3f of a step without an inspector; open, with bytes by field: %.2f", best, cost)
	require.LessOrEqual(t, best, 1.05)
}

// With a closed inspector a client's Step allocates nothing, and neither does it with an open one
// that counts bytes by field and times Steps.
func TestClientAllocations(t *testing.T) {
	costtest.Allocations(t)
	g, m := &game{}, simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: (&game{}).protocol()})
	require.NoError(t, err)
	c, err := m.Join(client.Config{Protocol: g.protocol()}, simtest.Seat{FrameRate: 30})
	require.NoError(t, err)
	start := time.Now()
	in := inspect.New(inspect.Config{Clock: func() time.Duration { return time.Since(start) }})
	require.NoError(t, in.AddClient("player", c))
	m.Run(3 * time.Second)
	now := m.Now()
	step := func() {
		now = now.Add(time.Second / 300)
		c.Step(now)
	}
	require.Zero(t, testing.AllocsPerRun(100, step))
	require.Nil(t, probe.OfClient(c).CountedBytes(nil))
	defer in.Open()()
	for range 10 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(100, step))
	require.NotNil(t, probe.OfClient(c).CountedBytes(nil))
}

// With a closed inspector a server's tick allocates nothing. The test prints the allocations with
// an open one.
func TestAllocations(t *testing.T) {
	costtest.Allocations(t)
	m := newBusy(t, 0)
	in := inspect.New(inspect.Config{})
	require.NoError(t, in.AddServer("match", m.srv))
	now := m.Now()
	step := func() {
		now = now.Add(time.Second / 30)
		m.srv.Step(now)
	}
	for range 100 {
		step()
	}
	first := m.srv.Tick()
	require.Zero(t, testing.AllocsPerRun(100, step))
	require.Equal(t, first+101, m.srv.Tick())
	defer in.Open()()
	for range 10 {
		step()
	}
	t.Logf("open: %v allocations a tick", testing.AllocsPerRun(100, step))
}
