package server

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport/sim"
)

// TestPlayersWhoLeftAreFreed: a server keeps no memory of players who left, even if one player stays
// and the lists of players keep their length.
func TestPlayersWhoLeftAreFreed(t *testing.T) {
	const players = 24
	net := sim.NewNetwork(1)
	listen := net.Listen()
	var body ecs.Prefab
	protocol := func(body *ecs.Prefab) (*foretick.Protocol, *ecs.Component[hand]) {
		p, cmd := foretick.NewProtocol("left", 1), new(ecs.Component[hand])
		p.Command(cmd)
		p.Prefab(body, "body", cmd)
		return p, cmd
	}
	p, _ := protocol(&body)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&body, player) })
	s, err := New(Config{Protocol: p, Transport: listen, Timeout: 500 * time.Millisecond, ReconnectWindow: time.Second})
	require.NoError(t, err)
	var clients []*client.Client
	var ends []*sim.Endpoint
	for range players {
		p, cmd := protocol(new(ecs.Prefab))
		end := net.Dial(listen, sim.Link{}, sim.Link{})
		c, err := client.New(client.Config{Protocol: p, Transport: end,
			Sample: client.Sample(cmd, func(client.View) hand { return hand{X: 1} })})
		require.NoError(t, err)
		clients, ends = append(clients, c), append(ends, end)
	}
	play := func() {
		for end := net.Now() + 4*time.Second; net.Now() < end; {
			net.Run(net.Now() + time.Second/60)
			s.Step(time.Unix(0, 0).Add(net.Now()))
			for _, c := range clients {
				c.Step(time.Unix(0, 0).Add(net.Now()))
			}
		}
	}
	play()
	var kept, conns, senders atomic.Int32
	for _, p := range s.sessions.players {
		require.Equal(t, playing, p.session.state)
		runtime.AddCleanup(p, func(n *atomic.Int32) { n.Add(-1) }, &kept)
		runtime.AddCleanup(p.session.conn, func(n *atomic.Int32) { n.Add(-1) }, &conns)
		runtime.AddCleanup(p.outbox.sender, func(n *atomic.Int32) { n.Add(-1) }, &senders)
		kept.Add(1)
		conns.Add(1)
		senders.Add(1)
	}
	require.EqualValues(t, players, kept.Load())
	for i, c := range clients[1:] {
		switch i % 3 {
		case 0:
			require.NoError(t, c.Close())
		case 1:
			require.True(t, s.Frame().Kick(c.View().Player, 0, "enough"))
		default:
			net.Kill(ends[i+1]) // the server holds its place for a while
		}
	}
	clear(clients[1:])
	clients = clients[:1]
	play()
	require.Len(t, s.sessions.players, 1)
	for range 100 {
		if runtime.GC(); kept.Load() == 1 && conns.Load() == 1 && senders.Load() == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.EqualValues(t, 1, kept.Load(), "players")
	require.EqualValues(t, 1, conns.Load(), "their connections")
	require.EqualValues(t, 1, senders.Load(), "their snapshots")
	require.Equal(t, client.Playing, clients[0].View().State)
	runtime.KeepAlive(s)
}
