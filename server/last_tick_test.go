package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A match that reaches its last tick runs up to that tick and ends with a reason: in the log, for its
// players, and for later newcomers.
func TestLastTick(t *testing.T) {
	type counter struct{ N uint32 }
	protocol := func() (*foretick.Protocol, *ecs.Component[counter]) {
		p, c, prefab := foretick.NewProtocol("last tick", 1), &ecs.Component[counter]{}, &ecs.Prefab{}
		p.Component(c, foretick.Predicted())
		p.Prefab(prefab, "counter", c)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(prefab, player) })
		p.Shared("count", func(_ *foretick.Frame, rows ecs.Rows) {
			for i := range c.Slice(rows) {
				c.Slice(rows)[i].N++
			}
		}, ecs.Write(c))
		return p, c
	}
	m := simtest.New(1)
	var log bytes.Buffer
	p, _ := protocol()
	srv, err := m.Serve(server.Config{Protocol: p, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	probe.OfServer(srv).StartAt(server.LastTick - 300)
	link := sim.Link{Latency: 30 * time.Millisecond}
	join := func() *client.Client {
		p, _ := protocol()
		c, err := m.Join(client.Config{Protocol: p}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		return c
	}
	c := join()
	m.Run(9 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Greater(t, c.View().Tick, server.LastTick-300)
	require.Zero(t, c.Stats().Malformed)
	require.Empty(t, srv.Players(nil)[1:])
	m.Run(13 * time.Second)
	require.True(t, srv.HasEnded())
	require.Equal(t, server.LastTick, srv.Tick())
	late := join()
	m.Run(15 * time.Second)
	for _, c := range []*client.Client{c, late} {
		require.Equal(t, client.Closed, c.View().State)
		var why *transport.DisconnectError
		require.True(t, errors.As(c.View().Err, &why))
		require.Equal(t, transport.Closed, why.Code)
		require.Equal(t, "the match has reached its last tick", why.Reason)
	}
	require.Equal(t, server.LastTick, srv.Tick())
	require.Empty(t, srv.Players(nil))
	require.Contains(t, log.String(), "level=ERROR")
	require.Contains(t, log.String(), "the match has reached its last tick")
	require.ErrorIs(t, srv.Run(t.Context()), server.ErrEnded)
}
