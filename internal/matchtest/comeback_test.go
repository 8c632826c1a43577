package matchtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// joinAgain adds a client with Redial, which dials the server that runs at that time.
func (h *venue) joinAgain(addr string) *client.Client {
	h.t.Helper()
	g := &Walk{}
	c, err := client.New(client.Config{Protocol: g.Protocol(), Transport: h.dial(addr),
		Redial: func() (transport.Endpoint, error) { return h.dial(addr), nil },
		Sample: client.Sample(&g.Move, func(client.View) Move { return Move{X: 1} })})
	require.NoError(h.t, err)
	h.clients = append(h.clients, c)
	return c
}

// reopen starts another server.
func (h *venue) reopen() {
	h.t.Helper()
	h.listen = &addressed{h.net.Listen(), map[string]string{}}
	var err error
	h.srv, err = server.New(server.Config{Protocol: new(Walk).Protocol(), Transport: h.listen})
	require.NoError(h.t, err)
}

// A client with Redial connects to the next server if its server was killed or restarted. If
// the connection ended on purpose, it does not reconnect.
func TestWhoComesBack(t *testing.T) {
	const player = foretick.PlayerID(1)
	for _, row := range []struct {
		name string
		end  func(h *venue)
		code transport.Code // code with which the client ends; None: it plays again
	}{
		{"killed", func(h *venue) { h.net.Kill(h.listen.Endpoint) }, transport.None},
		{"closed for a restart", func(h *venue) { _ = h.srv.CloseForRestart("a new build") }, transport.None},
		{"match over", func(h *venue) { _ = h.srv.Close("blue wins") }, transport.Closed},
		{"kicked", func(h *venue) { h.srv.Frame().Kick(player, 0, "idle"); h.run(100 * time.Millisecond) }, transport.Kicked},
		{"a code of the game's", func(h *venue) {
			h.srv.Frame().Kick(player, transport.FirstUserCode, "lost")
			h.run(100 * time.Millisecond)
		}, transport.FirstUserCode},
	} {
		for _, down := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, time.Second, 10 * time.Second} {
			t.Run(fmt.Sprint(row.name, ", down for ", down), func(t *testing.T) {
				h := newVenue(t, server.Config{})
				c := h.joinAgain("198.51.100.1:1")
				h.run(3 * time.Second)
				require.Equal(t, client.Playing, c.View().State)
				row.end(h)
				h.run(down)
				h.reopen()
				h.run(2 * time.Second)
				if row.code == transport.None {
					if row.name == "killed" {
						h.run(6 * time.Second) // without a notice the client only finds out by the silence
					}
					require.Equal(t, client.Playing, c.View().State, "%v", c.View().Err)
					require.EqualValues(t, 2, c.Stats().Connections)
					return
				}
				var why *transport.DisconnectError
				require.ErrorAs(t, c.View().Err, &why)
				require.Equal(t, row.code, why.Code)
			})
		}
	}
}

// Sixty players of one address reconnect to a server that was killed. Those for whom there is
// no room yet are refused with that reason, and try again.
func TestManyOfOneAddressComeBack(t *testing.T) {
	costtest.Memory(t)
	h := newVenue(t, server.Config{})
	const n = 44
	for i := range n {
		h.joinAgain(fmt.Sprintf("198.51.100.1:%d", i+1))
		h.run(100 * time.Millisecond)
	}
	h.run(time.Second)
	playing := func() (k int) {
		for _, c := range h.clients {
			if c.View().State == client.Playing {
				k++
			}
		}
		return k
	}
	require.Equal(t, n, playing())
	_ = h.srv.CloseForRestart("")
	h.run(time.Second)
	h.reopen()
	h.run(2 * time.Second)
	require.GreaterOrEqual(t, playing(), 32, "as many as may wait at once")
	h.run(4 * time.Second)
	require.Equal(t, n, playing())
}
