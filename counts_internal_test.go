package foretick

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Whatever clients send as counts: more than a correction a tick is not counted, what is older or
// malformed changes nothing, and nothing is allocated by it.
func TestCountsOfHostileClients(t *testing.T) {
	h := newHands(t)
	s := h.server
	p := s.sessions.players[0]
	send := func(b []byte) error {
		return s.dispatch.readMessage(0, p, netcode.Message{Type: game.MessageReport, Body: b}, b)
	}
	all := func() (n uint64) {
		for _, c := range s.figures.counted.Corrections {
			n += c
		}
		return n
	}
	ticks := func() uint64 { return uint64((s.clock.now-p.session.came)/s.clock.interval) + 1 }
	counts := reason.Counts{prediction.ServerEffect: 5}
	require.NoError(t, send(counts.Append(nil)))
	require.NoError(t, send(counts.Append(nil)), "a second time")
	require.EqualValues(t, 5, s.figures.counted.Corrections[prediction.ServerEffect])
	require.EqualValues(t, 5, all())
	older := reason.Counts{prediction.ServerEffect: 4, prediction.Code: 100}
	require.NoError(t, send(older.Append(nil)))
	require.EqualValues(t, 5, all())

	for _, bad := range [][]byte{{reason.CountsSaid}, {reason.CountsSaid, 1 << prediction.Causes}, {reason.CountsSaid, 1}, {reason.CountsSaid, 0, 0}, {reason.CountsSaid, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, make([]byte, 1000)} {
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

// A client with any number of corrections tells all of them, in three bytes a second at most.
func TestCountsTakeThreeBytesASecond(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	h := newHands(t)
	c, s := h.clients[0], h.server
	bytes := 0
	try := func(now time.Duration) {
		was := c.now
		c.now = now
		pk := netcode.NewConn(netcode.Config{}).Begin(now) // always with room
		before := pk.Room()
		c.counts.writeCounts(&c.link, pk)
		bytes += before - pk.Room()
		_, _ = pk.Finish()
		c.now = was
	}
	for _, from := range []uint64{0, 1 << 7, 1 << 14, 1 << 31} {
		c.counts = clientCounts{}
		c.counts.beginCounts(&c.clientBase)
		for i := range c.stats.ByCause {
			c.stats.ByCause[i] += from
		}
		bytes = 0
		begun := c.now
		for now := begun; now < begun+10*time.Minute; now += time.Second / 4 {
			for i := range c.stats.ByCause {
				c.stats.ByCause[i] += rnd.Uint64N(2)
			}
			try(now)
		}
		require.Positive(t, bytes)
		require.LessOrEqual(t, float64(bytes), 3*(10*time.Minute).Seconds(), "after %d of each cause", from)
		t.Logf("after %d of each cause: %.2f bytes a second", from, float64(bytes)/600)
	}

	// The real one, on its own connection: all arrives, and nothing more is said.
	c.counts = clientCounts{}
	c.stats.ByCause = prediction.ByCause{}
	c.counts.beginCounts(&c.clientBase)
	c.stats.ByCause[prediction.Untracked], c.stats.ByCause[prediction.LateInput] = 3, 2
	h.run(12 * time.Second)
	require.EqualValues(t, 3, s.figures.counted.Corrections[prediction.Untracked])
	require.EqualValues(t, 2, s.figures.counted.Corrections[prediction.LateInput])
	require.False(t, c.counts.again)
	h.run(10 * time.Second)
	require.True(t, c.counts.again, "once more, since packets get lost")
	next := c.counts.next
	h.run(time.Minute)
	require.Equal(t, next, c.counts.next, "nothing is new")
	require.Zero(t, s.stats.Malformed)
}

// The causes of the figures are those of package prediction.
func TestFiguresNameTheCausesOfPredictions(t *testing.T) {
	var f serverFigures
	require.Len(t, f.counted.Corrections, prediction.Causes)
	for i := range f.counted.Corrections {
		require.Equal(t, prediction.Cause(i).String(), figures.Cause(i).String())
	}
}
