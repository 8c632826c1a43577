package pair_test

import (
	"context"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
)

type (
	place struct{ X float32 }
	walk  struct{ X int8 }
)

// game is a walker. With bias a client's code moves it elsewhere than the server's.
type game struct {
	place  ecs.Component[place]
	walk   ecs.Component[walk]
	walker ecs.Prefab
	bias   float32
	began  int
}

func (g *game) player() simtest.Player {
	p := foretick.NewProtocol("pair", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Command(&g.walk)
	p.Prefab(&g.walker, "walker", &g.place, &g.walk)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.walker, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd := g.place.Slice(rows), g.walk.Slice(rows)
		for i := range at {
			at[i].X += float32(cmd[i].X) + g.bias
		}
	}, ecs.Read(&g.walk), ecs.Write(&g.place))
	read := func(v client.View) walk { return walk{int8(v.Tick % 3)} }
	return simtest.Player{Protocol: p, Sample: client.Sample(&g.walk, read), Begin: func(*server.Server) { g.began++ }}
}

func honest() simtest.Player { return new(game).player() }

// play plays both ends in this process, with code of the server and of its clients.
func play(t *testing.T, srv, cl func() simtest.Player) (pair.Result, error) {
	ctx, stop := context.WithCancel(context.Background())
	at, done := make(chan netip.AddrPort, 1), make(chan error, 1)
	go func() { done <- pair.Serve(ctx, "127.0.0.1:0", srv, func(a netip.AddrPort) { at <- a }) }()
	r, err := pair.Join(ctx, (<-at).String(), 3, time.Second/2, cl)
	stop()
	require.NoError(t, <-done)
	return r, err
}

func TestPair(t *testing.T) { pair.Test(t, honest) }

func TestPlay(t *testing.T) {
	g := &game{}
	r, err := play(t, g.player, honest)
	require.NoError(t, err)
	require.NoError(t, r.Err())
	require.Equal(t, 1, g.began, "the server began")
	require.Equal(t, 3, r.Clients)
	require.Equal(t, runtime.GOARCH, r.Architecture)
	require.Zero(t, r.Share(prediction.Code))
	require.Contains(t, r.String(), "3 clients on "+runtime.GOARCH)
}

// TestOtherCode: the test finds clients whose code does something else, and counts how often.
func TestOtherCode(t *testing.T) {
	r, err := play(t, honest, func() simtest.Player { return (&game{bias: 0.25}).player() })
	require.NoError(t, err)
	require.ErrorContains(t, r.Err(), "mispredicted by the game's code")
	require.Greater(t, r.Share(prediction.Code), 500.0)
}

func TestNothingPlayed(t *testing.T) {
	require.ErrorContains(t, new(pair.Result).Err(), "no tick was predicted")
	_, err := pair.Join(context.Background(), "127.0.0.1:1", 0, time.Second, honest)
	require.ErrorContains(t, err, "0 clients")
	_, err = pair.Join(context.Background(), "127.0.0.1:1", 1, time.Second, honest)
	require.Error(t, err, "nobody serves there")
	require.Error(t, pair.Serve(context.Background(), "nowhere", honest, nil))
	require.ErrorContains(t, pair.Serve(context.Background(), "127.0.0.1:0", func() simtest.Player { return simtest.Player{} }, nil), "Protocol")
}
