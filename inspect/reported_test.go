package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// remote starts a match whose inspector only has the server, as if the clients were in other
// processes. said has the corrections that each client itself reports.
func remote(t *testing.T, shove float32) (m *match, said map[uint16][]prediction.Misprediction) {
	m = &match{Match: simtest.New(3), t: t, game: &game{shove: shove}, in: inspect.New(inspect.Config{})}
	said = map[uint16][]prediction.Misprediction{}
	var err error
	m.srv, err = m.Serve(server.Config{Protocol: m.game.protocol()})
	require.NoError(t, err)
	for range 3 {
		g := &game{}
		var c *client.Client
		c, err = m.Join(client.Config{
			Protocol: g.protocol(),
			Sample:   client.Sample(&g.cmd, func(v client.View) push { return push{X: int8(v.Tick/40%3) - 1} }),
			OnMisprediction: func(w prediction.Misprediction) {
				said[uint16(c.View().Player)] = append(said[uint16(c.View().Player)], w)
			},
		}, simtest.Seat{Up: line, Down: line})
		require.NoError(t, err)
		m.clients = append(m.clients, c)
	}
	require.NoError(t, m.in.AddServer("match", m.srv))
	m.run(2 * time.Second)
	return m, said
}

func (m *match) reports() []inspect.Event {
	return m.in.Events(inspect.EventQuery{Kind: "correction", End: "match", Most: 1000})
}

// The page of a server shows the corrections of clients in other processes, with the values,
// commands and reasons that the clients have, and entities by the server's own handles.
func TestCorrectionsOfRemoteClients(t *testing.T) {
	m, said := remote(t, 1)
	m.run(3 * time.Second)
	require.Empty(t, m.reports(), "nobody looks")
	sent := m.clients[0].Stats().BytesOut
	m.run(3 * time.Second)
	quiet := m.clients[0].Stats().BytesOut - sent

	stop := m.in.Open()
	m.run(time.Second)
	from := m.srv.Tick()
	sent = m.clients[0].Stats().BytesOut
	m.run(3 * time.Second)
	asked := m.clients[0].Stats().BytesOut - sent
	m.run(12 * time.Second)
	until := m.srv.Tick() - 60
	got := map[string]inspect.Event{}
	for _, e := range m.reports() {
		_, twice := got[e.Text]
		require.False(t, twice, e.Text)
		got[e.Text] = e
	}
	all, found := 0, 0
	for player, list := range said {
		for _, w := range list {
			if w.Tick < from || w.Tick > until {
				continue
			}
			all++
			e, ok := got[fmt.Sprintf("player %d: %s", player, w)]
			if !ok {
				continue
			}
			found++
			require.Equal(t, player, e.Player)
			require.Equal(t, w.Tick, e.Tick)
			require.Equal(t, w.Cause.String(), e.Cause)
			require.Contains(t, string(e.Detail), `"system":"shove"`)
			require.Contains(t, string(e.Detail), `"unit":"m"`)
			require.Contains(t, string(e.Detail), `"input":{"X":`)
			own := probe.OfServer(m.srv).Replicated()
			id := uint64(0)
			for _, x := range own {
				if m.srv.World().Owner(x.Entity) == ecs.Owner(player) {
					id = uint64(x.Entity)
				}
			}
			require.Contains(t, string(e.Detail), `"entity":`+inspect.EntityID(id).String()+",")
		}
	}
	require.Greater(t, all, 30)
	require.Equal(t, all, found, "each is sent twice, and 2 of 100 packets are lost")
	require.Zero(t, m.srv.Stats().Malformed)

	stop()
	m.run(40 * time.Second)
	require.Zero(t, m.srv.Stats().Malformed, "what comes after the page was closed is no fault")
	before := len(m.reports())
	sent = m.clients[0].Stats().BytesOut
	m.run(3 * time.Second)
	require.Len(t, m.reports(), before, "nobody looks")
	after := m.clients[0].Stats().BytesOut - sent
	t.Logf("a client's bytes in 3 seconds: %d before, %d with corrections, %d after", quiet, asked, after)
	require.InEpsilon(t, float64(quiet), float64(after), 0.1, "and nothing is sent")
	require.Greater(t, float64(asked), 1.3*float64(quiet))
}

// A correction of a client that the inspector has too is shown once.
func TestCorrectionsAreShownOnce(t *testing.T) {
	m := play(t, 2, 1)
	defer m.in.Open()()
	m.run(10 * time.Second)
	require.Greater(t, len(m.in.Events(inspect.EventQuery{Kind: "correction", Most: 1000})), 15)
	require.Empty(t, m.reports())
}

// Reports continue after a reconnect, after a new level, and when a page is opened again.
func TestReportsGoOn(t *testing.T) {
	m, _ := remote(t, 1)
	stop := m.in.Open()
	m.run(6 * time.Second)
	more := func(what string) {
		t.Helper()
		at := m.srv.Tick()
		m.run(8 * time.Second) // the server asks again within five seconds
		for player := range uint16(3) {
			n := 0
			for _, e := range m.reports() {
				if e.Tick > at && e.Player == player+1 {
					n++
				}
			}
			require.NotZero(t, n, "%s: player %d", what, player+1)
		}
	}
	more("at first")
	stop()
	m.run(45 * time.Second)
	stop = m.in.Open()
	defer func() { stop() }()
	more("opened again")
	require.NoError(t, m.srv.NextLevel([]byte("second"), func(f *foretick.ServerFrame) {
		for _, p := range m.srv.Players(nil) {
			f.Spawn(&m.game.player, p.ID)
		}
	}))
	m.run(2 * time.Second)
	more("another level")
	require.Zero(t, m.srv.Stats().Malformed)
}
