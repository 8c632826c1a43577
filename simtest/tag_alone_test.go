package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	bareFlag struct{}
	bareArm  struct{}
	bareHeat struct {
		Heat int `net:"-"`
	}
)

// bareGame is a game with prefabs that only have components without sent fields.
type bareGame struct {
	flag    ecs.Component[bareFlag]
	armed   ecs.Component[bareArm] // a predicted component without fields that are sent
	cooling ecs.Component[bareHeat]
	prefabs [3]ecs.Prefab
	runs    int // rows that a shared system ran for
}

func (g *bareGame) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("bare", 1)
	p.Component(&g.flag)
	p.Component(&g.armed, foretick.Predicted())
	p.Component(&g.cooling)
	p.Prefab(&g.prefabs[0], "flag", &g.flag)
	p.Prefab(&g.prefabs[1], "armed", &g.armed)
	p.Prefab(&g.prefabs[2], "cooling", &g.cooling)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		for i := range g.prefabs {
			f.Spawn(&g.prefabs[i], player)
			f.Spawn(&g.prefabs[i], ecs.Nobody)
		}
	})
	p.Shared("count", func(_ *foretick.Frame, rows ecs.Rows) { g.runs += rows.Len() }, ecs.Write(&g.armed))
	return p
}

// An entity whose prefab has only tags, or only fields that are not sent, arrives with its
// components at its owner and at others. Its owner predicts it without a correction.
func TestTagsAloneArrive(t *testing.T) {
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: (&bareGame{}).protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
	var games []*bareGame
	var clients []*client.Client
	for range 2 {
		g := &bareGame{}
		c, err := m.Join(client.Config{Protocol: g.protocol()}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		games, clients = append(games, g), append(clients, c)
	}
	m.RunFor(4 * time.Second)
	require.NoError(t, m.Err())
	require.Len(t, srv.Players(nil), 2)
	for i, g := range games {
		w := clients[i].View().World
		for k, h := range []ecs.Handle{&g.flag, &g.armed, &g.cooling} {
			n := 0
			for _, rows := range ecs.NewQuery(w.Types(), ecs.With(h)).All(w) {
				n += rows.Len()
			}
			require.Equal(t, 4, n, "component %d at client %d", k, i)
		}
		require.Positive(t, g.runs, "its owner predicts the tag")
		require.Zero(t, clients[i].Stats().Mispredictions)
		require.Zero(t, clients[i].Stats().Malformed)
	}
}
