package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// TestPlayerIsNobodyElse: a Player that left reaches nobody, although the next player has its number. While a
// lost player's place is held, and when it has come back, its Player is the same.
func TestPlayerIsNobodyElse(t *testing.T) {
	match := simtest.New(1)
	srv, err := match.Serve(server.Config{Protocol: (&Walk{}).Protocol(), MaxClients: 1})
	require.NoError(t, err)
	join := func() *client.Client {
		cl, err := match.Join(client.Config{Protocol: (&Walk{}).Protocol()}, far)
		require.NoError(t, err)
		match.RunFor(2 * time.Second)
		require.Equal(t, client.Playing, cl.View().State)
		return cl
	}
	require.Equal(t, server.Player{}, srv.Player(1))
	require.ErrorIs(t, srv.DoFor(server.Player{}, "nothing", func(*foretick.ServerFrame) {}), foretick.ErrNotPlaying)
	first := join()
	left := srv.Player(1)
	require.Equal(t, []server.Player{left}, srv.Players(nil))
	ran := 0
	require.NoError(t, srv.DoFor(left, "count", func(*foretick.ServerFrame) { ran++ }))
	match.RunFor(time.Second)
	require.Equal(t, 1, ran)
	require.Error(t, srv.DoFor(left, "nothing", nil))

	require.NoError(t, match.Leave(first))
	for srv.Player(1) == left { // the last of these is queued while it plays, and finds it gone
		ran = 0
		require.NoError(t, srv.DoFor(left, "too late", func(*foretick.ServerFrame) { ran++ }))
		match.RunFor(2 * time.Millisecond)
	}
	match.RunFor(time.Second)
	require.Zero(t, ran)
	second := join()
	require.Equal(t, foretick.PlayerID(1), second.View().Player, "the number is used again")
	require.NotEqual(t, left, srv.Player(1))
	require.ErrorIs(t, srv.DoFor(left, "kick", func(f *foretick.ServerFrame) { f.Kick(left.ID, transport.Kicked, "cheating") }), foretick.ErrNotPlaying)
	_, plays := srv.PlayerStats(left)
	require.False(t, plays)
	require.Empty(t, srv.Identity(left))
	require.False(t, srv.RemeasureLatency(left))
	require.False(t, srv.SetLateInputs(left, true))
	match.RunFor(time.Second)
	require.Equal(t, client.Playing, second.View().State)

	now := srv.Player(1)
	require.NoError(t, srv.DoFor(now, "kick", func(f *foretick.ServerFrame) { f.Kick(now.ID, transport.FirstUserCode, "idle") }))
	match.RunFor(time.Second)
	require.ErrorContains(t, second.View().Err, "idle")
}

// TestPlayerStaysTheSame: a player that comes back to its place is the same Player.
func TestPlayerStaysTheSame(t *testing.T) {
	match := simtest.New(2)
	srv, err := match.Serve(server.Config{Protocol: (&Walk{}).Protocol(), Timeout: time.Second, ReconnectWindow: 20 * time.Second})
	require.NoError(t, err)
	cl, err := match.Join(client.Config{
		Protocol: (&Walk{}).Protocol(), Timeout: time.Second,
		Redial: func() (transport.Endpoint, error) { return match.Dial(far.Up, far.Down), nil },
	}, far)
	require.NoError(t, err)
	match.RunFor(10 * time.Second) // a place is held no longer than its player has played
	player := srv.Player(cl.View().Player)
	before, _ := srv.PlayerStats(player)
	match.Freeze(cl, true)
	match.RunFor(3 * time.Second)
	require.Equal(t, []server.Player{player}, srv.Players(nil), "its place is held")
	match.Freeze(cl, false)
	match.RunFor(5 * time.Second)
	require.Equal(t, client.Playing, cl.View().State)
	after, plays := srv.PlayerStats(player)
	require.True(t, plays)
	require.Greater(t, after.ConnectionNumber, before.ConnectionNumber, "it has reconnected")
}

// TestObserveFollowsAtFirst: an observer looks from a player without a call.
func TestObserveFollowsAtFirst(t *testing.T) {
	protocol := func() *foretick.Protocol {
		g := &Walk{}
		p := g.Protocol()
		foretick.Interest(p, &g.Pos, snapshot.AreaConfig{Enter: 30}, func(at *Position) (x, y, z float32) { return float32(at.X), float32(at.Y), 0 })
		return p
	}
	match := simtest.New(3)
	srv, err := match.Serve(server.Config{Protocol: protocol(), Observe: func(server.Observer) (server.Grant, error) { return server.Public(), nil }})
	require.NoError(t, err)
	_, err = match.Join(client.Config{Protocol: protocol()}, far)
	require.NoError(t, err)
	match.Run(2 * time.Second)
	seen := map[foretick.PlayerID]int{}
	for _, follow := range []foretick.PlayerID{0, 1} {
		cl, err := match.Join(client.Config{Protocol: protocol(), Observe: &client.Observe{Follow: follow}}, far)
		require.NoError(t, err)
		match.RunFor(2 * time.Second)
		seen[follow] = cl.View().World.Len()
	}
	require.Equal(t, map[foretick.PlayerID]int{0: 0, 1: 1}, seen)
	require.Len(t, srv.Observers(nil), 2)
}
