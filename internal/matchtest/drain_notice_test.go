package matchtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// notice has the tick by which a draining match ends. It is zero before.
type notice struct{ Ends foretick.Tick }

// noticed is a match that sends its players this notice.
type noticed struct {
	Walk
	Notice ecs.Singleton[notice]
}

func (g *noticed) Protocol() *foretick.Protocol {
	p := g.Walk.Protocol()
	p.Singleton(&g.Notice)
	return p
}

// TestDrainNotice: OnDrain is called once, with the first reason, in the tick after Drain. State that it
// sets reaches players in the match and players that reconnect, also while ticks run again for
// late inputs.
func TestDrainNotice(t *testing.T) {
	for _, late := range []time.Duration{0, 200 * time.Millisecond} {
		var g noticed
		var calls []string
		var at foretick.Tick
		far := simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond}, Down: sim.Link{Latency: 50 * time.Millisecond}}
		m := simtest.New(3)
		srv, err := m.Serve(server.Config{Protocol: g.Protocol(), Late: server.Late{Window: late, World: late > 0}, OnDrain: func(f *foretick.ServerFrame, reason string) {
			calls, at = append(calls, reason), f.Tick
			g.Notice.Get(f.World).Ends = 7777
		}})
		require.NoError(t, err)
		games, players := [2]noticed{}, []*client.Client{}
		for i := range games {
			c, err := m.Join(client.Config{Protocol: games[i].Protocol(), Redial: func() (transport.Endpoint, error) { return m.Dial(far.Up, far.Down), nil }}, far)
			require.NoError(t, err)
			players = append(players, c)
		}
		m.Run(5 * time.Second)
		require.Empty(t, calls)
		m.Freeze(players[1], true)
		m.RunFor(7 * time.Second) // its connection is lost
		before := srv.Frame().Tick
		srv.Drain("we move")
		srv.Drain("a later one")
		m.RunFor(time.Second)
		require.Equal(t, []string{"we move"}, calls)
		require.Equal(t, before+1, at)
		m.Freeze(players[1], false)
		m.RunFor(3 * time.Second)
		require.EqualValues(t, 1, srv.Stats().Resumed)
		for i, c := range players {
			require.EqualValues(t, 7777, games[i].Notice.Get(c.View().World).Ends)
		}
		require.Len(t, calls, 1)
	}
}

// TestDrainNoticeFails: a panic in OnDrain is counted and logged, and the match continues. Without
// players OnDrain is not called.
func TestDrainNoticeFails(t *testing.T) {
	calls := 0
	cfg := server.Config{OnDrain: func(*foretick.ServerFrame, string) { calls++; panic("planted") }}
	h := newVenue(t, cfg)
	c := h.join("10.0.0.1")
	h.run(2 * time.Second)
	h.srv.Drain("over")
	h.run(2 * time.Second)
	require.Equal(t, client.Playing, c.View().State)
	require.Equal(t, 1, calls)
	require.EqualValues(t, 1, h.srv.Stats().Panics)
	require.Contains(t, h.log.String(), "handler=OnDrain")
	require.False(t, slices.Contains(h.heard, "leave 1"))

	h = newVenue(t, cfg)
	h.run(time.Second)
	h.srv.Drain("over")
	h.run(time.Second)
	require.Equal(t, 1, calls, "it has ended")
}
