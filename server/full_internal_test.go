package server

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestFullWorld: a world has room for a limited number of combinations of owner and components. Before
// it is full, the server refuses newcomers, while its players continue. It accepts newcomers again once
// entities are gone.
func TestFullWorld(t *testing.T) {
	costtest.Memory(t)
	net := sim.NewNetwork(1)
	listen := net.Listen()
	var thing ecs.Prefab
	protocol := func(thing *ecs.Prefab) (*foretick.Protocol, *ecs.Component[hand]) {
		p, cmd, local := foretick.NewProtocol("hand", 1), new(ecs.Component[hand]), new(ecs.Component[int64])
		p.Command(cmd)
		p.LocalComponent(local)
		require.NoError(t, compiledOf(p).Types.RegisterPrefab(thing, "thing", local))
		return p, cmd
	}
	p, _ := protocol(&thing)
	var log bytes.Buffer
	s, err := New(Config{Protocol: p, Transport: listen, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	var clients []*client.Client
	join := func() *client.Client {
		p, cmd := protocol(new(ecs.Prefab))
		c, err := client.New(client.Config{Protocol: p, Transport: net.Dial(listen, sim.Link{}, sim.Link{}),
			Sample: client.Sample(cmd, func(client.View) hand { return hand{X: 1} })})
		require.NoError(t, err)
		clients = append(clients, c)
		for end := net.Now() + time.Second; net.Now() < end; {
			net.Run(net.Now() + time.Second/60)
			s.Step(time.Unix(0, 0).Add(net.Now()))
			for _, c := range clients {
				c.Step(time.Unix(0, 0).Add(net.Now()))
			}
		}
		return c
	}
	require.Equal(t, client.Playing, join().View().State)
	var all []ecs.Entity
	for owner := range ecs.Owner(59_500) {
		all = append(all, s.sim.world.Spawn(&thing, owner+100))
	}
	refused := join()
	var why *transport.DisconnectError
	require.ErrorAs(t, refused.View().Err, &why)
	require.Equal(t, transport.Full, why.Code)
	require.Equal(t, "the server's world is full", why.Reason)
	require.Contains(t, log.String(), "refused: the world")
	require.Equal(t, client.Playing, clients[0].View().State)
	s.sim.world.DestroyBatch(all)
	for owner := range ecs.Owner(10_000) { // the next spawns make the world notice that the others are gone
		s.sim.world.Destroy(s.sim.world.Spawn(&thing, owner+60_000-100))
	}
	require.Equal(t, client.Playing, join().View().State)
}

// crowded is a game whose players need another table when they request it.
type crowded struct {
	cmd    ecs.Component[hand]
	mark   ecs.Component[int64]
	fuel   ecs.Component[fuel]
	body   ecs.Prefab
	rocket ecs.Prefab
	thing  ecs.Prefab
	filler ecs.Prefab
	ask    foretick.Request[crowdedWish]
	shoot  foretick.PlayerID
}

type fuel struct{ Left uint8 }

type crowdedWish struct{ What uint8 }

func (g *crowded) protocol(t *testing.T) *foretick.Protocol {
	p := foretick.NewProtocol("crowded", 1)
	p.Command(&g.cmd)
	p.LocalComponent(&g.mark)
	p.Prefab(&g.body, "body", &g.cmd)
	p.Component(&g.fuel)
	p.Prefab(&g.rocket, "rocket", &g.fuel)
	p.Spawns(&g.rocket, foretick.SpawnConfig{})
	p.Prefab(&g.thing, "thing", &g.mark)
	require.NoError(t, compiledOf(p).Types.RegisterPrefab(&g.filler, "filler", &g.mark))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	bodies := p.Query(ecs.With(&g.cmd))
	g.ask.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, w crowdedWish) {
		switch w.What {
		case 1:
			require.True(t, f.World.Alive(f.Spawn(&g.thing, player)))
		case 2:
			ecs.Engine(f.World).Lock()
			for _, rows := range bodies.Owned(f.World, player) {
				g.mark.Add(f.World, rows.Entity(0), 7)
			}
			ecs.Engine(f.World).Unlock()
		case 3:
			g.shoot = player
		}
	})
	p.Shared("shoot", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.IsServer() && rows.Owner() == g.shoot && g.shoot != 0 {
				require.True(t, f.World.Alive(f.SpawnBy(rows.Entity(i), &g.rocket)))
				require.True(t, f.World.Alive(f.SpawnBy(rows.Entity(i), &g.rocket)))
			}
		}
	}, ecs.Read(&g.cmd), ecs.Create(&g.fuel))
	p.Shared("shoot again", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.IsServer() && rows.Owner() == ecs.Nobody { // a body that got a component
				require.True(t, f.World.Alive(f.SpawnBy(rows.Entity(i), &g.rocket)))
			}
		}
	}, ecs.Read(&g.cmd), ecs.Create(&g.fuel))
	return p
}

// TestNoRoom: when all tables have rows and a player's entity needs another table, the player is
// dropped with the reason, whether a request, a flush or a shared system spawned the entity. The server
// and the other players continue.
func TestNoRoom(t *testing.T) {
	costtest.Memory(t)
	net := sim.NewNetwork(1)
	listen := net.Listen()
	g := &crowded{}
	var log bytes.Buffer
	s, err := New(Config{Protocol: g.protocol(t), Transport: listen, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	var games []*crowded
	var clients []*client.Client
	for range 4 {
		own := &crowded{}
		c, err := client.New(client.Config{Protocol: own.protocol(t), Transport: net.Dial(listen, sim.Link{}, sim.Link{}),
			Sample: client.Sample(&own.cmd, func(client.View) hand { return hand{X: 1} })})
		require.NoError(t, err)
		games, clients = append(games, own), append(clients, c)
	}
	play := func() {
		for end := net.Now() + time.Second; net.Now() < end; {
			net.Run(net.Now() + time.Second/60)
			s.Step(time.Unix(0, 0).Add(net.Now()))
			for _, c := range clients {
				c.Step(time.Unix(0, 0).Add(net.Now()))
			}
		}
	}
	play()
	for owner := ecs.Owner(1000); s.sim.world.Used() < 0.96875; owner++ {
		s.sim.world.Spawn(&g.filler, owner)
	}
	before := s.sim.world.Len()
	for i, c := range clients[1:] {
		require.Equal(t, client.Playing, c.View().State)
		require.NoError(t, games[i+1].ask.Send(c, crowdedWish{uint8(i + 1)}))
		play()
		var why *transport.DisconnectError
		require.ErrorAs(t, c.View().Err, &why, i)
		require.Equal(t, transport.Full, why.Code)
		require.Equal(t, "the server's world is full", why.Reason)
		require.EqualValues(t, i+1, s.Stats().Stranded)
		require.Equal(t, before-i-1, s.sim.world.Len(), "its body and all that it was to have are gone")
		require.Empty(t, s.sim.stranded)
		require.Equal(t, client.Playing, clients[0].View().State)
	}
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("dropped: the world has no room")), "one line a minute")
	require.Zero(t, s.Stats().Panics)
	require.EqualValues(t, 3, s.Stats().Left)
	s.Frame().Spawn(&g.thing, 50) // 50 is not a player
	require.Contains(t, log.String(), "nobody owns the entity now")
	play()
	require.Equal(t, client.Playing, clients[0].View().State)
}
