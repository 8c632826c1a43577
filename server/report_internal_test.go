package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Clients send hostile reports. Reports that nobody asked for and malformed reports are refused and
// counted, and those above the limit are dropped.
func TestReportsOfHostileClients(t *testing.T) {
	h := newHands(t)
	s := h.server
	p := s.sessions.players[0]
	number := uint32(0)
	said := func() []byte {
		number++
		return (&cause.Report{Number: number, Wrong: prediction.Misprediction{Tick: 5}}).Append(nil)
	}
	send := func(b []byte) error {
		return s.dispatch.readMessage(0, p, netcode.Message{Type: game.MessageReport, Body: b}, b)
	}
	require.Error(t, send(said()), "nobody asked")
	heard := 0
	in := (*internals)(s)
	in.Corrected(func(foretick.PlayerID, prediction.Misprediction) { heard++ })
	h.run(2 * time.Second)
	require.NotZero(t, p.reports.until)
	before := heard
	for _, bad := range [][]byte{nil, {cause.AskReports}, {cause.ReportSaid}, {9}, make([]byte, 1200), append(said(), 1)} {
		require.Error(t, send(bad), "%v", bad)
	}
	require.Equal(t, before, heard)
	for range 1000 {
		require.NoError(t, send(said()), "a network may hold packets back")
	}
	require.LessOrEqual(t, heard-before, takenBurst)
	require.Greater(t, heard-before, takenBurst/2)

	in.Corrected(nil)
	require.NoError(t, send(said()), "it was on its way")
	h.run(traceLate + time.Second)
	require.Error(t, send(said()), "that was long ago")

	// The limit for all players together.
	in.Corrected(func(foretick.PlayerID, prediction.Misprediction) { heard++ })
	h.run(6 * time.Second)
	before = heard
	for range 100 {
		s.clock.now += time.Second / 20
		for _, p = range s.sessions.players {
			p.reports.until = 1 << 62
			for range 1000 / len(s.sessions.players) {
				require.NoError(t, send(said()))
			}
		}
	}
	require.LessOrEqual(t, heard-before, takenMostBurst+5*takenMost)
}
