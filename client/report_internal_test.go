package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// A hostile server asks for reports: a client reports only while it is asked, and only as often as it
// may.
func TestReportsToHostileServer(t *testing.T) {
	h := newHand(t)
	c := h.client
	require.False(t, c.timeline.reports.explains())
	for _, bad := range [][]byte{nil, {9}, {cause.ReportSaid}, {cause.AskReports, 0}} {
		require.Error(t, c.reportMessage(bad), "%v", bad)
	}
	in := probe.OfServer(h.server)
	in.Corrected(func(foretick.PlayerID, prediction.Misprediction) {}) // so that the client's reports are no fault
	h.run(time.Second)
	require.True(t, c.reports.explains())
	in.Corrected(nil)
	c.reports.forgetAsked()
	faults := 0
	for range 100 {
		if c.receiveMessage(netcode.Message{Type: game.MessageReport, Body: []byte{cause.AskReports}}) != nil {
			faults++
		}
	}
	require.Equal(t, 100-game.TraceAskBurst, faults)
	require.True(t, c.timeline.reports.explains())
	for range 100 { // more than the queue holds
		c.timeline.reports.tellCorrection(&prediction.Misprediction{Tick: 5, Executed: 7})
	}
	h.run(game.TraceLapse + time.Second)
	require.False(t, c.timeline.reports.explains(), "it lapses")
	require.Zero(t, h.server.Stats().Malformed)
	require.Equal(t, Playing, c.View().State)
}
