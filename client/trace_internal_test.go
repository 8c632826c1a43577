package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/trace"
	"github.com/foretick/foretick/netcode"
)

// A hostile server asks for traces: a client sends only its own records, and only as often as it may be
// asked.
func TestTraceOfHostileServer(t *testing.T) {
	h := newHand(t)
	c := h.client
	ask := trace.AppendAsk(nil, []uint32{1, 2, 3})
	for _, bad := range [][]byte{nil, {9}, {trace.Ask}, {trace.Ask, 9}, {trace.Refused}, append(ask, 1)} {
		require.Error(t, c.traceMessage(bad), "%v", bad)
	}
	require.NoError(t, c.traceMessage([]byte{trace.Piece, 1, 2}), "nobody looks: it is not read")
	require.NoError(t, c.traceMessage([]byte{trace.Refused, 1}))
	require.Nil(t, c.tracer.port)
	theirs := probe.OfServer(h.server).Trace(c.view.Player, false)
	theirs.Look(nil) // so that the client's records are no fault
	h.run(time.Second)
	require.True(t, c.tracer.armed)
	theirs.Unlook()
	h.run(5 * time.Second)
	require.False(t, c.tracer.armed)
	faults := 0
	for range 100 {
		if c.receiveMessage(netcode.Message{Type: game.MessageTrace, Body: ask}) != nil {
			faults++
		}
	}
	require.Equal(t, 100-game.TraceAskBurst, faults)
	h.run(time.Second)
	require.True(t, c.tracer.armed)
	h.run(game.TraceLapse)
	require.False(t, c.tracer.armed, "it lapses")
	require.Zero(t, h.server.Stats().Offenders)
	require.Equal(t, Playing, c.View().State)
}
