package bots_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

type Position struct {
	X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
}

type Move struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

type game struct {
	Pos    ecs.Component[Position]
	Cmd    ecs.Component[Move]
	Avatar ecs.Prefab
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("crowd", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Command(&g.Cmd)
	p.Prefab(&g.Avatar, "avatar", &g.Pos, &g.Cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Avatar, player) })
	p.Shared("move", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.Pos.Slice(rows), g.Cmd.Slice(rows)
		for i := range pos {
			pos[i].X += float32(cmd[i].X * f.DT)
		}
	}, ecs.Read(&g.Cmd), ecs.Write(&g.Pos))
	return p
}

func walk(dst *Move, _ int, _ uint32) { dst.X = 1 }

// A light bot plays like any player: over a bad link its commands arrive in time, the server
// moves its body, and it reconnects to its place.
func TestLightBotPlays(t *testing.T) {
	net := sim.NewNetwork(5)
	listen := net.Listen()
	var g game
	srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen})
	require.NoError(t, err)
	light, err := bots.New(new(game).protocol(), walk)
	require.NoError(t, err)
	line := sim.Link{Latency: 60 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
	dial := func() (transport.Endpoint, error) { return net.Dial(listen, line, line), nil }
	first, err := dial()
	require.NoError(t, err)
	bot, err := light.Join(0, first)
	require.NoError(t, err)
	bot.Redial = dial
	over := false
	run := func(d time.Duration) {
		for end := net.Now() + d; net.Now() < end; {
			net.Run(net.Now() + 5*time.Millisecond)
			now := time.Unix(1000, 0).Add(net.Now())
			srv.Step(now)
			if !now.Before(bot.Next()) && !over {
				require.NoError(t, bot.Step(now))
			}
		}
	}
	run(5 * time.Second)
	require.True(t, bot.Playing())
	before, _ := srv.PlayerStats(srv.Player(1))
	run(20 * time.Second)
	after, _ := srv.PlayerStats(srv.Player(1))
	taken, missing := after.InputsTaken-before.InputsTaken, after.InputsMissing-before.InputsMissing
	require.InDelta(t, 600, float64(taken+missing), 5)
	require.Less(t, missing, uint64(18), "3 % of the ticks had no input in time")
	require.InDelta(t, 2.0/30, bot.Stats().Lead.Seconds(), 0.05)
	require.InDelta(t, 750, float64(bot.Stats().Snapshots), 60)
	require.Zero(t, bot.Stats().Malformed)
	require.Zero(t, srv.Stats().Malformed)
	for _, rows := range ecs.NewQuery(srv.World().Types(), ecs.With(&g.Pos)).All(srv.World()) {
		require.InDelta(t, 24, g.Pos.Slice(rows)[0].X, 1.5, "it walked a metre a second")
	}
	bot.Vanish()
	run(8 * time.Second)
	require.True(t, bot.Playing())
	require.EqualValues(t, 1, bot.Stats().Resumed)
	require.Len(t, srv.Players(nil), 1)
	require.EqualValues(t, 1, srv.Stats().Joined)
	require.NoError(t, bot.Close())
	over = true
	run(time.Second)
	require.Empty(t, srv.Players(nil))
	var gone *transport.DisconnectError
	require.ErrorAs(t, bot.Step(time.Unix(2000, 0)), &gone)
}

func TestWhatIsNoGame(t *testing.T) {
	_, err := bots.New[Move](new(game).protocol(), nil)
	require.ErrorContains(t, err, "no command function")
	_, err = bots.New(new(game).protocol(), func(*Position, int, uint32) {})
	require.ErrorContains(t, err, "is not the command of crowd")
	light, err := bots.New(new(game).protocol(), walk)
	require.NoError(t, err)
	_, err = light.Join(0, nil)
	require.ErrorContains(t, err, "nil endpoint")
	require.ErrorContains(t, (&bots.Crowd{Count: 1}).Run(context.Background()), "Start is required")
}

// A crowd of light bots and a full client fills a server over sockets, counts its players, and
// leaves when the context ends. It counts a player that cannot start.
func TestCrowd(t *testing.T) {
	const count = 24
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{MaxPeers: 64})
	require.NoError(t, err)
	srv, err := server.New(server.Config{Protocol: new(game).protocol(), Transport: listen, MaxWaitingPerAddress: -1})
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- srv.Run(ctx) }()
	light, err := bots.New(new(game).protocol(), walk)
	require.NoError(t, err)
	crowd := &bots.Crowd{Count: count, PerSecond: 200}
	crowd.Start = func(n int) (bots.Player, error) {
		if n == 3 {
			return nil, errors.New("no socket")
		}
		e, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
		if err != nil {
			return nil, err
		}
		if n == 0 {
			var g game
			return bots.NewClient(client.Config{Protocol: g.protocol(), Transport: e,
				Sample: client.Sample(&g.Cmd, func(client.View) Move { return Move{X: 1} })}, 0)
		}
		return light.Join(n, e)
	}
	playing, leave := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- crowd.Run(playing) }()
	require.Eventually(t, func() bool { return crowd.Playing() == count-1 }, 30*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, crowd.Gone())
	require.Equal(t, count, crowd.Started())
	require.Len(t, srv.Players(nil), count-1)
	srv.Drain("enough")
	leave()
	require.NoError(t, <-ran)
	require.Zero(t, crowd.Playing())
	require.NoError(t, <-served, "all left, so the server ends")
}
