package server

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Clients send hostile counts. More than one correction a tick is not counted, old or malformed counts
// change nothing, and none of them makes the server allocate.
func TestCountsOfHostileClients(t *testing.T) {
	h := newHands(t)
	s := h.server
	p := s.sessions.players[0]
	send := func(b []byte) error {
		return s.dispatch.readMessage(0, p, netcode.Message{Type: game.MessageReport, Body: b}, b)
	}
	all := func() (n uint64) {
		for _, c := range s.figures.counted.Corrections.All() {
			n += c
		}
		return n
	}
	ticks := func() uint64 { return uint64((s.clock.now-p.session.came)/s.clock.interval) + 1 }
	counts := cause.Counts{prediction.ServerEffect: 5}
	require.NoError(t, send(counts.Append(nil)))
	require.NoError(t, send(counts.Append(nil)), "a second time")
	require.EqualValues(t, 5, s.figures.counted.Corrections.Of(prediction.ServerEffect))
	require.EqualValues(t, 5, all())
	older := cause.Counts{prediction.ServerEffect: 4, prediction.Code: 100}
	require.NoError(t, send(older.Append(nil)))
	require.EqualValues(t, 5, all())

	for _, bad := range [][]byte{{cause.CountsSaid}, {cause.CountsSaid, 1 << prediction.Causes}, {cause.CountsSaid, 1}, {cause.CountsSaid, 0, 0}, {cause.CountsSaid, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, make([]byte, 1000)} {
		require.Error(t, send(bad), "%v", bad)
	}
	require.EqualValues(t, 5, all())

	for i := range counts {
		counts[i] = math.MaxUint32
	}
	lie := counts.Append(nil)
	require.NoError(t, send(lie))
	require.Equal(t, ticks(), all())
	h.run(2 * time.Second)
	require.NoError(t, send(lie))
	require.Less(t, all(), ticks(), "it has said all that it can say")
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = send(lie) }))

	observer := *p
	observer.observing = &observing{}
	require.Error(t, s.reports.takeReport(&observer, lie, lie))
}
