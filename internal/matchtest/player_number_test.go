package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A timer or an HTTP handler may still have the number of a player that left. A message, a kick,
// a ban or a team for that number does not reach a new player.
func TestNumberOfALeaverReachesNobody(t *testing.T) {
	type note struct{ N uint8 }
	var (
		pos    ecs.Component[struct{ X uint8 }]
		body   ecs.Prefab
		letter foretick.Message[note]
		read   int
	)
	build := func() *foretick.Protocol {
		pos, body, letter = ecs.Component[struct{ X uint8 }]{}, ecs.Prefab{}, foretick.Message[note]{}
		p := foretick.NewProtocol("numbers", 1)
		p.Component(&pos)
		p.Prefab(&body, "body", &pos)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
		letter.OnClient(p, func(*foretick.Frame, foretick.Tick, note) { read++ })
		return p
	}
	p := build()
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	join := func() *client.Client {
		c, err := m.Join(client.Config{Protocol: p}, simtest.Seat{Up: sim.Link{Latency: 10 * time.Millisecond}, Down: sim.Link{Latency: 10 * time.Millisecond}})
		require.NoError(t, err)
		return c
	}
	stays, leaves := join(), join()
	m.RunFor(2 * time.Second)
	gone := leaves.View().Player
	require.NoError(t, m.Leave(leaves))
	m.RunFor(200 * time.Millisecond)
	comes := join()
	m.RunFor(2 * time.Second)
	require.Equal(t, client.Playing, comes.View().State)
	require.NotEqual(t, gone, comes.View().Player)
	var left []bool
	require.NoError(t, srv.Do("a timer of the one that left", func(f *foretick.ServerFrame) {
		require.Error(t, letter.Send(f, gone, note{1}))
		left = append(left, f.SetTeam(gone, 2), f.Ban(gone, time.Time{}, "late"), f.Kick(gone, transport.Kicked, "late"))
	}))
	m.RunFor(2 * time.Second)
	require.Equal(t, []bool{false, false, false}, left)
	require.Zero(t, read)
	require.Equal(t, client.Playing, stays.View().State)
	require.Equal(t, client.Playing, comes.View().State)
}
