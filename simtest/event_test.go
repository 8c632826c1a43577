package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// cannon fires every few ticks unless the server has jammed it, which it does
// without warning.
type cannon struct {
	state ecs.Component[cannonState]
	cmd   ecs.Component[button]
	body  ecs.Prefab
	shot  foretick.Event[uint32]

	predicted, confirmed, cancelled map[uint32]int
	executed                        map[uint32]int
}

type cannonState struct {
	Clock uint32 `net:"max=1000000"`
	Jam   uint8  `net:"max=60"`
}

func newCannon() *cannon {
	return &cannon{predicted: map[uint32]int{}, confirmed: map[uint32]int{}, cancelled: map[uint32]int{}, executed: map[uint32]int{}}
}

func (g *cannon) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("cannon", 1)
	p.Component(&g.state, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "cannon", &g.state, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		for i, st := 0, g.state.Slice(rows); i < len(st); i++ {
			st[i].Clock++
			if st[i].Jam > 0 {
				st[i].Jam--
			} else if st[i].Clock%4 == 0 {
				g.shot.Raise(f, rows.Entity(i), st[i].Clock)
			}
		}
	}, ecs.Write(&g.state))
	p.Server("jam", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, st := 0, g.state.Slice(rows); i < len(st); i++ {
			if f.Rand(7)%40 == 0 {
				st[i].Jam = 9
			}
		}
	}, ecs.Write(&g.state), ecs.Before("fire"))
	g.shot.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, n uint32) { g.executed[n]++ })
	g.shot.OnPredicted(p, func(_ *foretick.Frame, _ foretick.By, n uint32) { g.predicted[n]++ })
	g.shot.OnConfirmed(p, func(_ *foretick.Frame, _ foretick.By, n uint32) { g.confirmed[n]++ })
	g.shot.OnCancelled(p, func(_ *foretick.Frame, _ foretick.By, n uint32) { g.cancelled[n]++ })
	return p
}

// Every predicted shot is reported once, and is then either confirmed, if the
// server fired too, or cancelled.
func TestPredictedEvents(t *testing.T) {
	m := simtest.New(11)
	srv, cl := newCannon(), newCannon()
	_, err := m.Serve(server.Config{Protocol: srv.protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 80 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
	c, err := m.Join(client.Config{Protocol: cl.protocol()}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(60 * time.Second)
	require.NotZero(t, c.Stats().Mispredictions)
	require.Greater(t, len(cl.confirmed), 100)
	require.Greater(t, len(cl.cancelled), 10, "jams undo shots that were already heard")
	var newest uint32
	for n := range cl.confirmed {
		newest = max(newest, n)
	}
	for n, times := range cl.predicted {
		if n > newest {
			continue // neither confirmed nor cancelled yet
		}
		require.LessOrEqual(t, times, 1+cl.cancelled[n], "shot %d was told more than once", n)
		if cl.cancelled[n] == 0 {
			require.Equal(t, 1, cl.confirmed[n], "shot %d", n)
		}
		require.Equal(t, cl.predicted[n], cl.confirmed[n]+cl.cancelled[n], "shot %d", n)
	}
	for n := range cl.confirmed {
		require.Equal(t, 1, srv.executed[n], "shot %d was confirmed", n)
	}
	for n := range cl.cancelled {
		if cl.confirmed[n] == 0 {
			require.Zero(t, srv.executed[n], "shot %d was cancelled", n)
		}
	}
}
