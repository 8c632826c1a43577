package matchtest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

type identityPush struct{ X int8 }

// identityMatch is a server behind UDP and WebSocket, and clients with one identity.
type identityMatch struct {
	t                   *testing.T
	srv                 *server.Server
	udp, ws             string
	joins, backs, lefts int
	clients             []*client.Client
}

// identityProtocol returns the protocol of one end; m is nil for a client.
func identityProtocol(m *identityMatch) (*foretick.Protocol, *ecs.Component[identityPush]) {
	p, push, body := foretick.NewProtocol("identity", 1), &ecs.Component[identityPush]{}, &ecs.Prefab{}
	p.Command(push)
	p.Prefab(body, "body", push)
	if m != nil {
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { m.joins++; f.Spawn(body, player) })
		p.OnReconnect(func(*foretick.ServerFrame, foretick.PlayerID) { m.backs++ })
		p.OnLeave(func(*foretick.ServerFrame, foretick.PlayerID) { m.lefts++ })
	}
	return p, push
}

func newIdentityMatch(t *testing.T, same transport.Same) *identityMatch {
	m := &identityMatch{t: t}
	accept := func(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }
	u, err := udp.Listen("127.0.0.1:0", udp.Config{Accept: accept, Same: same})
	require.NoError(t, err)
	w, err := ws.Listen("127.0.0.1:0", ws.Config{Accept: accept, Same: same})
	require.NoError(t, err)
	m.udp, m.ws = u.LocalAddr().String(), "ws://"+w.LocalAddr().String()
	joined, err := multi.New(u, w)
	require.NoError(t, err)
	p, _ := identityProtocol(m)
	m.srv, err = server.New(server.Config{Protocol: p, Transport: joined, Same: same})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.srv.Close("over") })
	return m
}

// join connects by UDP or by WebSocket.
func (m *identityMatch) join(web bool, identity string, token []byte) *client.Client {
	m.t.Helper()
	var e transport.Endpoint
	var err error
	if web {
		e, err = ws.Dial(m.ws, ws.Config{Token: []byte(identity)})
	} else {
		e, err = udp.Dial(m.udp, udp.Config{Token: []byte(identity)})
	}
	require.NoError(m.t, err)
	p, push := identityProtocol(nil)
	c, err := client.New(client.Config{Protocol: p, Transport: e, ResumeToken: token,
		Sample: client.Sample(push, func(client.View) identityPush { return identityPush{1} })})
	require.NoError(m.t, err)
	m.t.Cleanup(func() { _ = c.Close() })
	m.clients = append(m.clients, c)
	return c
}

// until runs all ends until holds returns true.
func (m *identityMatch) until(what string, holds func() bool) {
	m.t.Helper()
	for began := time.Now(); !holds(); time.Sleep(2 * time.Millisecond) {
		m.srv.Step(time.Now())
		for _, c := range m.clients {
			c.Step(time.Now())
		}
		require.Less(m.t, time.Since(began), 30*time.Second, what)
	}
}

func isPlaying(c *client.Client) func() bool {
	return func() bool { return c.View().State == client.Playing }
}

func hasEnded(c *client.Client) func() bool { return func() bool { return c.View().Err != nil } }

// An identity plays only once, over whichever transport it connects. Clients without an identity
// may connect any number of times.
func TestOneIdentityByTwoTransports(t *testing.T) {
	costtest.Sockets(t)
	for name, row := range map[string]struct {
		same          transport.Same
		first, second string // reasons why the two connections ended; empty: the client plays
		players       int
	}{
		"replace": {transport.ReplaceOld, "replaced", "", 1},
		"refuse":  {transport.RefuseNew, "", "plays in this match already", 1},
		"both":    {transport.AllowBoth, "", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newIdentityMatch(t, row.same)
			nobody, again := m.join(false, "", nil), m.join(true, "", nil)
			first := m.join(false, "anna", nil)
			for _, c := range []*client.Client{nobody, again, first} {
				m.until("plays", isPlaying(c))
			}
			second := m.join(true, "anna", nil)
			for c, why := range map[*client.Client]string{first: row.first, second: row.second} {
				if why == "" {
					m.until("plays", isPlaying(c))
				} else {
					m.until("ends: "+why, hasEnded(c))
					require.ErrorContains(t, c.View().Err, why)
				}
			}
			require.Len(t, m.srv.Players(nil), 2+row.players)
			require.Equal(t, 2+row.players, m.joins)
			require.Equal(t, 2+row.players, m.srv.World().Len(), "one body each")
			for _, c := range []*client.Client{nobody, again} {
				require.NoError(t, c.View().Err)
			}
		})
	}
}

// A player whose connection died, before the server noticed, connects over the other transport. It
// gets its own body, with its token and without.
func TestHandOverBetweenTransports(t *testing.T) {
	costtest.Sockets(t)
	for name, row := range map[string]struct {
		same  transport.Same
		token bool
	}{"token": {transport.ReplaceOld, true}, "no token": {transport.ReplaceOld, false}, "token where others are refused": {transport.RefuseNew, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newIdentityMatch(t, row.same)
			first := m.join(false, "anna", nil)
			m.until("plays", isPlaying(first))
			var token []byte
			if row.token {
				token = first.ResumeToken()
			}
			m.clients = nil
			second := m.join(true, "anna", token)
			m.until("plays", isPlaying(second))
			m.until("the game knows", func() bool { return m.backs == 1 })
			require.Equal(t, first.View().Player, second.View().Player)
			require.Len(t, m.srv.Players(nil), 1)
			require.Equal(t, 1, m.srv.World().Len())
			require.Equal(t, 1, m.joins)
			require.Zero(t, m.lefts)
		})
	}
}
