package simtest_test

import (
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

// A player that joined since the last tick has exactly one body in the new level.
func TestLevelChangeAsAPlayerJoins(t *testing.T) {
	m := simtest.New(5)
	g := &game{}
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	cg := &game{}
	link := sim.Link{Latency: 20 * time.Millisecond}
	_, err = m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	for len(srv.Players(nil)) == 0 {
		m.Run(m.Net.Now() + time.Millisecond)
	}
	require.Zero(t, srv.World().Len(), "its Join is yet to come")
	require.NoError(t, srv.NextLevel(nil, func(f *foretick.ServerFrame) {
		for _, player := range srv.Players(nil) {
			f.Spawn(&g.player, player.ID)
		}
	}))
	m.Run(m.Net.Now() + time.Second)
	require.Equal(t, 1, srv.World().Len())
}

// Levels change faster than packets arrive. A delayed packet about a level that is over does not
// take a client back to that level.
func TestLevelsOverhaulPackets(t *testing.T) {
	shuffled := sim.Link{Latency: 20 * time.Millisecond, Jitter: 200 * time.Millisecond, Reorder: 0.2}
	for seed := range uint64(costtest.Count(4, 20)) {
		m := simtest.New(seed)
		g := &game{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		var told []byte
		cg := &game{}
		cp := cg.protocol()
		cp.OnLevel(func(_ *foretick.Frame, data []byte) { told = append(told, data...) })
		c, err := m.Join(client.Config{Protocol: cp}, simtest.Seat{Up: shuffled, Down: shuffled})
		require.NoError(t, err)
		m.Run(3 * time.Second)
		for level := range byte(6) {
			require.NoError(t, srv.NextLevel([]byte{level}, func(f *foretick.ServerFrame) {
				for _, player := range srv.Players(nil) {
					f.Spawn(&g.player, player.ID)
				}
			}))
			m.Run(m.Net.Now() + 100*time.Millisecond)
		}
		m.Run(m.Net.Now() + 2*time.Second)
		require.IsIncreasing(t, told, "seed %d", seed)
		require.EqualValues(t, 5, told[len(told)-1], "seed %d", seed)
		a := m.Audit(c)
		require.Zero(t, a.Differences, "seed %d: %s", seed, a.First)
		require.Equal(t, 1, a.Entities)
	}
}

// If a system begins a new level, the old one lasts until the end of the tick. Nothing of the
// rest of the tick changes the new level.
func TestLevelChangeFromASystem(t *testing.T) {
	m := simtest.New(6)
	g := &game{}
	p := g.protocol()
	var srv *server.Server
	changed := foretick.Tick(0)
	p.Server("won", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Tick == 60 {
			require.NoError(t, srv.NextLevel([]byte("two"), func(f *foretick.ServerFrame) {
				require.False(t, ecs.Engine(f.World).Locked())
				changed = f.Tick
				for _, player := range srv.Players(nil) {
					g.pos.Get(f.World, f.Spawn(&g.player, player.ID)).Y = 50
				}
			}))
			require.Zero(t, changed)
		}
	}, ecs.Once())
	srv, err := m.Serve(server.Config{Protocol: p, OnTick: func(f *foretick.ServerFrame) {
		if f.Tick == 60 {
			require.Zero(t, changed)
		}
	}})
	require.NoError(t, err)
	cg := &game{}
	cp := cg.protocol()
	var told []string
	cp.OnLevel(func(_ *foretick.Frame, data []byte) { told = append(told, string(data)) })
	link := sim.Link{Latency: 20 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: cp}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	require.EqualValues(t, 60, changed)
	require.Equal(t, []string{"two"}, told)
	a := m.Audit(c)
	require.Zero(t, a.Differences, a.First)
	require.Equal(t, 1, a.Entities)
}

// A level changes during a match on a bad network: all players learn its name
// once, nothing of the old level is left, and play continues.
func TestLevelChange(t *testing.T) {
	bad := sim.Link{Latency: 60 * time.Millisecond, Jitter: 40 * time.Millisecond, Loss: 0.1, Burst: 2, Reorder: 0.05}
	for seed := range uint64(costtest.Count(1, 5)) {
		m := simtest.New(seed)
		g := &game{}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		told := map[int][]string{}
		join := func(n int) *client.Client {
			cg := &game{}
			p := cg.protocol()
			p.OnLevel(func(_ *foretick.Frame, data []byte) { told[n] = append(told[n], string(data)) })
			c, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&cg.cmd, func(v client.View) move {
				if m.Net.Now() > 12*time.Second {
					return move{}
				}
				return move{X: float32(v.Tick*7919%257)/128 - 1}
			})}, simtest.Seat{Up: bad, Down: bad})
			require.NoError(t, err)
			return c
		}
		clients := []*client.Client{join(0), join(1)}
		m.Run(4 * time.Second)
		require.Empty(t, told, "the first level has no name")
		for k, name := range []string{"castle", "harbour"} {
			before := srv.Tick()
			require.NoError(t, srv.NextLevel([]byte(name), func(f *foretick.ServerFrame) {
				for _, player := range srv.Players(nil) {
					g.pos.Get(f.World, f.Spawn(&g.player, player.ID)).Y = 50 + float32(k)
				}
				f.Spawn(&g.player, ecs.Nobody)
			}))
			require.Equal(t, before, srv.Tick())
			m.Run(m.Net.Now() + 4*time.Second)
		}
		clients = append(clients, join(2))
		m.Run(16 * time.Second)
		require.Equal(t, map[int][]string{0: {"castle", "harbour"}, 1: {"castle", "harbour"}, 2: {"harbour"}}, told)
		for n, c := range clients {
			a := m.Audit(c)
			require.Equal(t, client.Playing, c.View().State, "seed %d, client %d", seed, n)
			require.Zero(t, a.Differences, "seed %d, client %d: %s", seed, n, a.First)
			require.Equal(t, 4, a.Entities)
			require.Zero(t, c.Stats().Malformed)
			require.Zero(t, c.Stats().HardResets, "the clock went on")
		}
	}
	require.ErrorContains(t, foretickServer(t).NextLevel(make([]byte, 2000), nil), "1024")
}

func foretickServer(t *testing.T) *server.Server {
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: (&game{}).protocol()})
	require.NoError(t, err)
	return srv
}

// A client that asks for fewer snapshots and bytes gets fewer, from the start or
// later, and more again when it asks.
func TestConfigure(t *testing.T) {
	m, clients := walk(t, 1, 3, sim.Link{Latency: 30 * time.Millisecond, Loss: 0.05}, 60*time.Second)
	c := clients[0]
	measure := func() (snapshots, bytes float64) {
		m.Run(m.Net.Now() + 2*time.Second)
		before := c.Stats()
		m.Run(m.Net.Now() + 10*time.Second)
		after := c.Stats()
		return float64(after.Snapshots-before.Snapshots) / 10, float64(after.BytesIn-before.BytesIn) / 10
	}
	all, _ := measure()
	require.InDelta(t, 28.5, all, 2)
	require.NoError(t, c.Configure(10, 0))
	few, _ := measure()
	require.InDelta(t, 9.5, few, 1.5)
	require.NoError(t, c.Configure(0, 0))
	again, _ := measure()
	require.InDelta(t, 28.5, again, 2)
	require.Error(t, c.Configure(-1, 0))
	require.Error(t, c.Configure(0, -1))
}
