package simtest_test

import (
	"errors"
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

// A panic in the game's code for one player (its event, its command, its join or
// leave) drops only that player. Its entities are removed, and the match
// continues.
func TestPanicIsContained(t *testing.T) {
	for _, where := range []string{"event uint32", "CheckCommand", "Decay", "OnJoin", "OnLeave"} {
		m := simtest.New(41)
		g := &mill{}
		var boom foretick.Event[uint32]
		var told []server.Panic
		fault := func(here string, player foretick.PlayerID) {
			if here == where && player == 2 && len(told) == 0 {
				panic("a fault of the game's")
			}
		}
		hooks := func(g *mill, boom *foretick.Event[uint32]) func(*foretick.Protocol) {
			return func(p *foretick.Protocol) {
				p.Shared("light", func(f *foretick.Frame, rows ecs.Rows) {
					for i, cmd := range g.cmd.Slice(rows) {
						if cmd.Fire {
							boom.Raise(f, rows.Entity(i), 1)
						}
					}
				}, ecs.Read(&g.cmd))
				boom.OnServer(p, func(_ *foretick.ServerFrame, by foretick.By, _ uint32) { fault("event uint32", by.Player) })
				foretick.CheckCommand(p, &g.cmd, func(f *foretick.Frame, player foretick.PlayerID, _ lever) error {
					if f.Tick > 60 {
						fault("CheckCommand", player)
					}
					return nil
				})
				foretick.Decay(p, &g.cmd, func(*lever, int) { fault("Decay", 2) })
				p.OnJoin(func(_ *foretick.ServerFrame, player foretick.PlayerID) { fault("OnJoin", player) })
				p.OnLeave(func(_ *foretick.ServerFrame, player foretick.PlayerID) { fault("OnLeave", player) })
			}
		}
		srv, err := m.Serve(server.Config{
			Protocol: g.protocol(hooks(g, &boom)), DecayInput: time.Second, ReconnectWindow: -1,
			OnPanic: func(p server.Panic) { told = append(told, p) },
		})
		require.NoError(t, err)
		link := sim.Link{Latency: 20 * time.Millisecond}
		var clients []*client.Client
		for i := range 3 {
			cg := &mill{}
			var cb foretick.Event[uint32]
			c, err := m.Join(client.Config{Protocol: cg.protocol(hooks(cg, &cb)), Sample: client.Sample(&cg.cmd, func(v client.View) lever {
				return lever{Pull: 1, Fire: i == 1 && v.Tick > 90 && v.Tick%10 == 0}
			})}, simtest.Seat{Up: link, Down: link, NoRedial: true})
			require.NoError(t, err)
			clients = append(clients, c)
			m.Run(m.Net.Now() + 300*time.Millisecond)
		}
		m.Run(4 * time.Second)
		switch where {
		case "Decay":
			m.Freeze(clients[1], true)
			m.Run(5 * time.Second)
			m.Freeze(clients[1], false)
		case "OnLeave":
			require.NoError(t, clients[1].Close())
		}
		m.Run(7 * time.Second)
		require.NotEmpty(t, told, where)
		require.Equal(t, where, told[0].Handler)
		require.EqualValues(t, 2, told[0].Player, where)
		require.Contains(t, string(told[0].Stack), "TestPanicIsContained")
		require.EqualValues(t, len(told), srv.Stats().Panics)
		var gone *transport.DisconnectError
		if where != "OnLeave" {
			require.True(t, errors.As(clients[1].View().Err, &gone), where)
			require.Equal(t, transport.Kicked, gone.Code, where)
		}
		require.Len(t, srv.Players(nil), 2, where)
		require.Equal(t, 2, srv.World().Len(), "%s: what it owned is gone", where)
		for _, i := range []int{0, 2} {
			require.Equal(t, client.Playing, clients[i].View().State, where)
		}
		tick := srv.Tick()
		m.Run(8 * time.Second)
		require.InDelta(t, 30, srv.Tick()-tick, 1, where)
	}
}

// A handler that raises its own event again and again is cut off.
func TestNestingIsCapped(t *testing.T) {
	m := simtest.New(42)
	g := &mill{}
	var boom foretick.Event[uint32]
	deepest := uint32(0)
	self := ecs.None
	srv, err := m.Serve(server.Config{Protocol: g.protocol(func(p *foretick.Protocol) {
		p.Server("spark", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick == 10 {
				self = f.Spawn(&g.prefab, ecs.Nobody)
				boom.Raise(f.Frame, self, 1)
			}
		}, ecs.Once(), ecs.Create(&g.eng, &g.cmd))
		boom.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, depth uint32) {
			deepest = max(deepest, depth)
			boom.Raise(f.Frame, self, depth+1)
			boom.Raise(f.Frame, self, depth+1)
		})
	})})
	require.NoError(t, err)
	m.Run(time.Second)
	require.EqualValues(t, 8, deepest)
	require.EqualValues(t, 256, srv.Stats().EventsNested)
	require.Greater(t, srv.Tick(), foretick.Tick(25))
}
