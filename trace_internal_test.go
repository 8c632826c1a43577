package foretick

import (
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
	"github.com/stretchr/testify/require"
)

// Without a trace no hook is installed on a client and nothing of a server's tick is watched.
// So it is again when a trace has ended.
func TestUnarmedTraceCostsNothing(t *testing.T) {
	costtest.Ratio(t)
	h := newHands(t)
	s, c := h.server, h.clients[0]
	idle := func() bool {
		w := c.cfg.Protocol.compiled.Watchers
		return (game.DebugBuild || w == nil || *w == 0) && !c.tracer.wake.Load() && !c.tracer.armed && !s.traces.wake.Load() && !s.traces.armed() && len(s.traces.recording) == 0
	}
	require.True(t, idle())
	require.Nil(t, s.traces.match.ports)
	s.traces.allow = func(PlayerID) bool { return true }
	c.tracePort().Look(nil)
	h.run(time.Second)
	require.False(t, idle())
	require.Len(t, s.traces.match.armed, 1)
	require.Equal(t, PlayerID(1), s.traces.match.armed[0].p.owner)
	c.tracePort().Unlook()
	h.run(time.Second)
	require.True(t, idle())
	for range 3 { // what asks once costs the same as what never asked
		busy, calm := newHands(t), newHands(t)
		busy.server.traces.allow = s.cfg.AllowTrace
		busy.clients[0].tracePort().Look(nil)
		busy.run(time.Second)
		busy.clients[0].tracePort().Unlook()
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

// Whatever clients send as messages of traces: it is refused and counted, arms no more than
// the server allows, and panics nowhere.
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
	for range 100 { // AllowTrace is nil, and the addresses are not this machine's
		if traced(s, p, ask) != nil {
			faults++
		}
	}
	require.Equal(t, 100-game.TraceAskBurst, faults)
	require.Empty(t, s.traces.match.armed)
	require.Nil(t, s.traces.match.ports)

	// A flood costs the connection.
	h.run(5 * time.Second)
	c := h.clients[1]
	for range 40 {
		pk := c.link.conn.Begin(c.now)
		pk.Message(game.MessageTrace, ask)
		_, b := pk.Finish()
		require.NoError(t, c.link.endpoint.Send(c.link.peer, b))
	}
	h.run(200 * time.Millisecond)
	require.EqualValues(t, 1, s.stats.Offenders)
	require.Equal(t, Playing, h.clients[2].View().State)
}

// TestTraceHookThatFails: a panic in ServerConfig.AllowTrace refuses the trace, and the match goes on.
func TestTraceHookThatFails(t *testing.T) {
	h := newHands(t)
	h.server.traces.allow = func(PlayerID) bool { panic("planted") }
	require.NoError(t, traced(h.server, h.server.sessions.players[0], trace.AppendAsk(nil, nil)))
	h.run(time.Second)
	require.EqualValues(t, 1, h.server.stats.Panics)
	require.Empty(t, h.server.traces.match.armed)
	require.Equal(t, Playing, h.clients[1].View().State)
}

// And servers: a client answers with its own records alone, as often as it may be asked.
func TestTraceOfHostileServer(t *testing.T) {
	h := newHands(t)
	c := h.clients[0]
	ask := trace.AppendAsk(nil, []uint32{1, 2, 3})
	for _, bad := range [][]byte{nil, {9}, {trace.Ask}, {trace.Ask, 9}, {trace.Refused}, append(ask, 1)} {
		require.Error(t, c.traceMessage(bad), "%v", bad)
	}
	require.NoError(t, c.traceMessage([]byte{trace.Piece, 1, 2}), "nobody looks: it is not read")
	require.NoError(t, c.traceMessage([]byte{trace.Refused, 1}))
	require.Nil(t, c.tracer.port)
	faults := 0
	for range 100 {
		if c.receiveMessage(netcode.Message{Type: game.MessageTrace, Body: ask}) != nil {
			faults++
		}
	}
	require.Equal(t, 100-game.TraceAskBurst, faults)
	h.server.sessions.players[0].tracing.late = game.TraceLapse + traceLate // what comes is no fault
	h.run(time.Second)
	require.True(t, c.tracer.armed)
	h.run(game.TraceLapse)
	require.False(t, c.tracer.armed, "it lapses")
	require.Zero(t, h.server.stats.Offenders)
	require.Equal(t, Playing, c.View().State)
}

// traced hands a message of a trace to the server, as a packet does.
func traced(s *Server, p *player, b []byte) error {
	return s.dispatch.readMessage(0, p, netcode.Message{Type: game.MessageTrace, Body: b}, b)
}
