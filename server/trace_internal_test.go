package server

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/peek"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/stretchr/testify/require"
)

// Without a trace a client installs no hook, and the server watches nothing in its ticks. The same is
// true after a trace has ended.
func TestUnarmedTraceCostsNothing(t *testing.T) {
	costtest.Ratio(t)
	h := newHands(t)
	s, c := h.server, h.clients[0]
	idle := func() bool {
		w := compiledOf(*peek.At[*foretick.Protocol](c, "cfg.Protocol")).Watchers
		return (game.DebugBuild || w == nil || *w == 0) && !peek.At[atomic.Bool](c, "tracer.wake").Load() && !*peek.At[bool](c, "tracer.armed") && !s.traces.wake.Load() && !s.traces.armed() && len(s.traces.recording) == 0
	}
	require.True(t, idle())
	require.Nil(t, s.traces.match.ports)
	s.traces.allow = func(foretick.PlayerID) bool { return true }
	probe.OfClient(c).Trace().Look(nil)
	h.run(time.Second)
	require.False(t, idle())
	require.Len(t, s.traces.match.armed, 1)
	require.Equal(t, foretick.PlayerID(1), s.traces.match.armed[0].p.owner)
	probe.OfClient(c).Trace().Unlook()
	h.run(time.Second)
	require.True(t, idle())
	for range 3 { // a server that was asked once costs as much as one that was never asked
		busy, calm := newHands(t), newHands(t)
		busy.server.traces.allow = s.cfg.AllowTrace
		probe.OfClient(busy.clients[0]).Trace().Look(nil)
		busy.run(time.Second)
		probe.OfClient(busy.clients[0]).Trace().Unlook()
		busy.run(time.Second)
		calm.run(2 * time.Second)
		a, b := time.Hour, time.Hour
		for range 40 {
			for _, x := range []struct {
				h    *hands
				best *time.Duration
			}{{busy, &a}, {calm, &b}} {
				at := time.Now()
				x.h.run(time.Second)
				*x.best = min(*x.best, time.Since(at))
			}
		}
		t.Logf("a second of the match after a trace %v, without one %v: %.3f", a, b, float64(a)/float64(b))
		if float64(a)/float64(b) <= 1.05 {
			return
		}
	}
	t.Error("a match whose trace has ended costs more than one that never had any, three times")
}

// Clients send hostile messages of traces. These are refused and counted, arm no more traces than the
// server allows, and cause no panic.
func TestTraceOfHostileClients(t *testing.T) {
	h := newHands(t)
	s := h.server
	ask := trace.AppendAsk(nil, nil)
	p := s.sessions.players[0]
	for _, bad := range [][]byte{nil, {9}, {trace.Ask}, {trace.Ask, 9}, append(ask, 1), {trace.Ask, 8, 1, 2, 3}, {trace.Refused, 1}, {trace.Piece}, {trace.Piece, 1, 0, 0, 0, 0, 0, 9, 0, 1}} {
		require.Error(t, traced(s, p, bad), "%v", bad)
	}
	require.Empty(t, s.traces.match.armed)
	require.Nil(t, s.traces.match.ports, "nothing is made for what is malformed")
	h.run(time.Second)
	faults := 0
	for range 100 { // AllowTrace is nil, and the clients' addresses are not on this machine
		if traced(s, p, ask) != nil {
			faults++
		}
	}
	require.Equal(t, 100-game.TraceAskBurst, faults)
	require.Empty(t, s.traces.match.armed)
	require.Nil(t, s.traces.match.ports)

	// A flood of them ends the connection.
	h.run(5 * time.Second)
	c := h.clients[1]
	conn, now := peek.At[*netcode.Conn](c, "link.conn"), peek.At[time.Duration](c, "now")
	end, peer := peek.At[transport.Endpoint](c, "link.endpoint"), peek.At[transport.PeerID](c, "link.peer")
	for range 40 {
		pk := (*conn).Begin(*now)
		pk.Message(game.MessageTrace, ask)
		_, b := pk.Finish()
		require.NoError(t, (*end).Send(*peer, b))
	}
	h.run(200 * time.Millisecond)
	require.EqualValues(t, 1, s.stats.Offenders)
	require.Equal(t, client.Playing, h.clients[2].View().State)
}

// TestTraceHookThatFails: a panic in Config.AllowTrace refuses the trace, and the match goes on.
func TestTraceHookThatFails(t *testing.T) {
	h := newHands(t)
	h.server.traces.allow = func(foretick.PlayerID) bool { panic("planted") }
	require.NoError(t, traced(h.server, h.server.sessions.players[0], trace.AppendAsk(nil, nil)))
	h.run(time.Second)
	require.EqualValues(t, 1, h.server.stats.Panics)
	require.Empty(t, h.server.traces.match.armed)
	require.Equal(t, client.Playing, h.clients[1].View().State)
}

// traced gives the server a message of a trace, as a packet does.
func traced(s *Server, p *player, b []byte) error {
	return s.dispatch.readMessage(0, p, netcode.Message{Type: game.MessageTrace, Body: b}, b)
}
