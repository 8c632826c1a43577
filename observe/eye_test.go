package observe_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

// TestEye: an observer of a game with Interest receives what is near its eye, or near a player that it
// follows, and no entity with a position without either. An eye that is not finite changes nothing.
func TestEye(t *testing.T) {
	n := sim.NewNetwork(1)
	listen := n.Listen()
	protocol := func(g *game) *foretick.Protocol {
		p := foretick.NewProtocol("eyes", 1)
		p.Component(&g.place)
		p.Prefab(&g.player, "player", &g.place)
		foretick.Interest(p, &g.place, snapshot.AreaConfig{Enter: 10, Leave: 12}, func(v *place) (x, y, z float32) { return v.X, v.Y, 0 })
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
			g.place.Get(f.World, f.Spawn(&g.player, player)).X = 90
		})
		return p
	}
	truth, ours := &game{}, &game{}
	srv, err := server.New(server.Config{Protocol: protocol(truth), Transport: listen, Observe: func(server.Observer) (server.Grant, error) { return server.Public(), nil }})
	require.NoError(t, err)
	for _, x := range []float32{-90, 0, 5} {
		truth.place.Get(srv.World(), srv.Frame().Spawn(&truth.player, ecs.Nobody)).X = x
	}
	cl, err := client.New(client.Config{Protocol: protocol(ours), Transport: n.Dial(listen, sim.LAN, sim.LAN)})
	require.NoError(t, err)
	o, err := observe.New(observe.Config{Transport: n.Dial(listen, sim.LAN, sim.LAN)})
	require.NoError(t, err)
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	places := func() (xs []float64) {
		for until := n.Now() + 3*time.Second; n.Now() < until; {
			n.Run(n.Now() + 5*time.Millisecond)
			srv.Step(start.Add(n.Now()))
			cl.Step(start.Add(n.Now()))
			require.NoError(t, o.Step(start.Add(n.Now())))
		}
		for _, e := range o.Entities() {
			x, ok := e.Value("place", "X")
			require.True(t, ok)
			xs = append(xs, math.Round(x.(float64)))
		}
		return xs
	}
	require.Empty(t, places(), "no eye")
	o.SetEye(2, 0, 0)
	require.ElementsMatch(t, []float64{0, 5}, places())
	o.SetEye(float32(math.NaN()), 0, 0)
	o.SetEye(0, float32(math.Inf(1)), 0)
	require.ElementsMatch(t, []float64{0, 5}, places(), "the eye stays")
	o.SetEye(-85, 0, 0)
	require.Equal(t, []float64{-90}, places())
	o.Follow(uint16(cl.View().Player))
	require.Equal(t, []float64{90}, places())
	o.Follow(0)
	require.Empty(t, places(), "follows nobody")
}
