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
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestServerCorePanic: if the decoding of a peer's bytes panics, that peer is dropped and the others
// continue. Debug builds panic again.
func TestServerCorePanic(t *testing.T) {
	net := sim.NewNetwork(1)
	listen := net.Listen()
	p := foretick.NewProtocol("hand", 1)
	var cmd ecs.Component[hand]
	p.Command(&cmd)
	var log bytes.Buffer
	s, err := New(Config{Protocol: p, Transport: listen, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	epoch := time.Unix(0, 0)
	var clients []*client.Client
	for range 3 {
		cp := foretick.NewProtocol("hand", 1)
		var cc ecs.Component[hand]
		cp.Command(&cc)
		c, err := client.New(client.Config{Protocol: cp, Transport: net.Dial(listen, sim.Link{}, sim.Link{}),
			Sample: client.Sample(&cc, func(client.View) hand { return hand{X: 1} })})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	run := func(d time.Duration) {
		for end := net.Now() + d; net.Now() < end; {
			net.Run(net.Now() + time.Second/60)
			s.Step(epoch.Add(net.Now()))
			for _, c := range clients {
				c.Step(epoch.Add(net.Now()))
			}
		}
	}
	run(3 * time.Second)
	for _, c := range clients {
		require.Equal(t, client.Playing, c.View().State)
	}
	for _, p := range []*player{s.sessions.players[0], s.sessions.players[2]} {
		fall := func() { _ = s.panics.decodePeer(p, []byte{0xab, 0xcd}, func() error { panic("planted") }) }
		if game.DebugBuild {
			require.PanicsWithValue(t, "planted", fall)
			continue
		}
		fall()
		require.True(t, p.session.poisoned)
		s.offenders.dropPoisoned(p)
	}
	if game.DebugBuild {
		return
	}
	run(time.Second)
	require.EqualValues(t, 2, s.Stats().CorePanics)
	require.Len(t, s.sessions.players, 1)
	require.Len(t, s.sessions.byPeer, 1)
	for _, c := range []*client.Client{clients[0], clients[2]} {
		var why *transport.DisconnectError
		require.ErrorAs(t, c.View().Err, &why)
		require.Equal(t, transport.Malformed, why.Code)
	}
	require.Equal(t, client.Playing, clients[1].View().State)
	require.Contains(t, log.String(), "packet=abcd")
	require.Contains(t, log.String(), "please report it")
}

// TestStepAfterAPanicInASystem: the match cannot continue, but closing it still frees its resources.
func TestStepAfterAPanicInASystem(t *testing.T) {
	net := sim.NewNetwork(1)
	p := foretick.NewProtocol("fall", 1)
	p.Server("fall", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Tick == 3 {
			panic("planted")
		}
	}, ecs.Once())
	s, err := New(Config{Protocol: p, Transport: net.Listen()})
	require.NoError(t, err)
	step := func(n int) { s.Step(time.Unix(0, 0).Add(time.Duration(n) * time.Second / 30)) }
	require.PanicsWithValue(t, "planted", func() {
		for i := range 10 {
			step(i)
		}
	})
	require.Panics(t, func() { step(11) })
	require.NoError(t, s.Close(""))
	require.NotPanics(t, func() { step(12) })
}
