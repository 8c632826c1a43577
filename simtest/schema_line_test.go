package simtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// longSchema returns a protocol whose schema has about this many bytes.
func longSchema(bytes int, more ...string) *foretick.Protocol {
	type Place struct {
		X float32 `net:"min=-100,max=100,step=0.01"`
	}
	g := &struct {
		place  ecs.Component[Place]
		player ecs.Prefab
	}{}
	p := foretick.NewProtocol("long", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Prefab(&g.player, "player", &g.place)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	for i := range bytes / 250 {
		more = append(more, fmt.Sprint(strings.Repeat("a system with a very long name, ", 7), i))
	}
	for _, name := range more {
		p.Shared(name, func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.place))
	}
	return p
}

// fetches plays until a client of another build plays, or its connection ends.
func fetches(t *testing.T, seed uint64, size int, link sim.Link, cfg server.Config) (*simtest.Match, *client.Client) {
	t.Helper()
	m := simtest.New(seed)
	cfg.Protocol = longSchema(size)
	_, err := m.Serve(cfg)
	require.NoError(t, err)
	c, err := m.Join(client.Config{Protocol: longSchema(size, "another")}, simtest.Seat{Up: link, Down: link, NoRedial: true})
	require.NoError(t, err)
	for m.Net.Now() < 90*time.Second && c.View().State != client.Playing && c.View().State != client.Closed {
		m.Run(m.Net.Now() + 100*time.Millisecond)
	}
	return m, c
}

// badLines lose up to half of all packets, or have little bandwidth.
var badLines = []sim.Link{
	{Latency: 20 * time.Millisecond, Loss: 0.3},
	{Latency: 20 * time.Millisecond, Loss: 0.5},
	{Latency: 200 * time.Millisecond, Loss: 0.3},
	{Latency: 200 * time.Millisecond, Loss: 0.5},
	{Latency: 500 * time.Millisecond, Loss: 0.5},
	{Latency: 100 * time.Millisecond, Loss: 0.4, Burst: 10},
	{Latency: 50 * time.Millisecond, Loss: 0.2, Bandwidth: 64_000},
}

// longSchemas returns the lengths of schemas to play with. A long one needs hundreds of systems,
// and debug builds check each of them in every tick, so they play shorter ones.
func longSchemas() []int {
	if debugging {
		return []int{5_000}
	}
	return []int{5_000, 30_000, 60_000}
}

// A client of another build can join however long the schema and however bad the link is.
func TestSchemaOverABadLine(t *testing.T) {
	for _, size := range longSchemas() {
		slowest := time.Duration(0)
		for _, link := range badLines {
			for seed := range uint64(costtest.Count(1, 4)) {
				m, c := fetches(t, seed, size, link, server.Config{AllowOtherBuilds: true})
				require.Equal(t, client.Playing, c.View().State, "%d bytes over %+v, after %v: %v", size, link, m.Net.Now(), c.View().Err)
				slowest = max(slowest, m.Net.Now())
			}
		}
		t.Logf("%d bytes: all %d play, the last after %v", size, len(badLines)*costtest.Count(1, 4), slowest)
	}
}

// A refused client learns the first difference, however bad the link.
func TestRefusalOverABadLine(t *testing.T) {
	for _, link := range badLines {
		for seed := range uint64(costtest.Count(1, 4)) {
			_, c := fetches(t, seed, slices.Max(longSchemas()), link, server.Config{})
			var why *client.ProtocolError
			require.ErrorAs(t, c.View().Err, &why, "%+v", link)
			require.Equal(t, "shared system another", why.OurLine, "%+v", link)
		}
	}
}

// A client that asks for the schema and then acknowledges nothing is dropped as before.
func TestWhoDoesNotTakeTheSchema(t *testing.T) {
	m := simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: longSchema(slices.Max(longSchemas())), AllowOtherBuilds: true})
	require.NoError(t, err)
	link := sim.Link{Latency: 100 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: longSchema(slices.Max(longSchemas()), "another"), Timeout: time.Minute}, simtest.Seat{Up: link, Down: link, NoRedial: true})
	require.NoError(t, err)
	m.Run(600 * time.Millisecond)
	require.EqualValues(t, 1, srv.Stats().SchemasAsked)
	m.Link(c, link, sim.Link{Loss: 1})
	m.Run(12 * time.Second)
	m.Link(c, link, link)
	m.Run(13 * time.Second)
	require.Equal(t, client.Closed, c.View().State)
}
