package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// process is a client process of a player, with the calls of its OnSession.
type process struct {
	*client.Client
	wire *sim.Endpoint
	told []client.Session
}

// start starts a process, with the token of an earlier one or none.
func (h *venue) start(token []byte, redials bool) *process {
	h.t.Helper()
	g, p := &Walk{}, &process{}
	p.wire = h.dial("")
	cfg := client.Config{Protocol: g.Protocol(), Transport: p.wire, ResumeToken: token,
		Sample:    client.Sample(&g.Move, func(client.View) Move { return Move{X: 1} }),
		OnSession: func(s client.Session) { p.told = append(p.told, s) }}
	if redials {
		cfg.Redial = func() (transport.Endpoint, error) { p.wire = h.dial(""); return p.wire, nil }
	}
	var err error
	p.Client, err = client.New(cfg)
	require.NoError(h.t, err)
	h.clients = append(h.clients, p.Client)
	return p
}

// cut makes the network lose all packets of a process.
func (h *venue) cut(p *process, dead bool) {
	link := sim.Link{Latency: time.Millisecond}
	if dead {
		link = sim.Link{Loss: 1}
	}
	h.net.SetLink(p.wire, link, link)
}

// TestOnSession: whatever happened to a player's place, OnSession says what it is now, once
// each time that the server accepts the client.
func TestOnSession(t *testing.T) {
	joined, resumed := client.Session{}, client.Session{Kind: client.SessionResumed}
	h := newVenue(t, server.Config{ReconnectWindow: 10 * time.Second})

	p := h.start(nil, true)
	require.Nil(t, p.ResumeToken())
	h.run(20 * time.Second)
	require.Equal(t, []client.Session{joined}, p.told)
	me, token := p.View().Player, p.ResumeToken()
	require.Len(t, token, 24)

	h.cut(p, true)
	h.run(8 * time.Second)
	h.cut(p, false)
	h.run(4 * time.Second)
	require.Equal(t, []client.Session{joined, resumed}, p.told)
	require.Equal(t, me, p.View().Player)

	// Another process takes over the place, while the connection of the first is alive
	// or dead.
	h.cut(p, true)
	h.clients = nil // killed
	second := h.start(p.ResumeToken(), false)
	h.run(2 * time.Second)
	require.Equal(t, []client.Session{resumed}, second.told)
	require.Equal(t, me, second.View().Player)
	require.Len(t, h.srv.Players(nil), 1)
	require.Equal(t, 1, h.srv.World().Len(), "no ghost")

	// The client is away for longer than its place is held.
	h.cut(second, true)
	h.run(20 * time.Second)
	require.Empty(t, h.srv.Players(nil))
	third := h.start(second.ResumeToken(), true)
	h.run(2 * time.Second)
	require.Len(t, third.told, 1)
	require.Equal(t, client.SessionPlaceGone, third.told[0].Kind)
	require.Equal(t, transport.Timeout, third.told[0].Code)
	require.NotEmpty(t, third.told[0].Text)
	require.NotEqual(t, second.ResumeToken(), third.ResumeToken())

	// The client is kicked, with a reason of the game.
	require.True(t, h.srv.Frame().Kick(third.View().Player, transport.FirstUserCode, "idle"))
	h.run(time.Second)
	fourth := h.start(third.ResumeToken(), true)
	h.run(2 * time.Second)
	require.Equal(t, []client.Session{{Kind: client.SessionPlaceGone, Code: transport.FirstUserCode, Text: "idle"}}, fourth.told)

	// The client connects to another server.
	other := newVenue(t, server.Config{})
	fifth := other.start(fourth.ResumeToken(), false)
	other.run(2 * time.Second)
	require.Equal(t, []client.Session{{Kind: client.SessionNewServer}}, fifth.told)

	_, err := client.New(client.Config{Protocol: new(Walk).Protocol(), Transport: h.dial(""), ResumeToken: []byte("short")})
	require.ErrorContains(t, err, "Client.ResumeToken")
}
