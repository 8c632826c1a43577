package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// walker joins a client that gives another command in every frame.
func walker(t *testing.T, m *simtest.Match, rate int, cfg client.Config, seat simtest.Seat) *client.Client {
	t.Helper()
	cg := &game{}
	cfg.Protocol = cg.protocol()
	cfg.Protocol.SetTickRate(rate)
	cfg.Sample = client.Sample(&cg.cmd, func(v client.View) move {
		return move{X: float32(v.Tick*7919%257)/128 - 1, Y: float32(v.Tick/33%2) - 0.5}
	})
	c, err := m.Join(cfg, seat)
	require.NoError(t, err)
	return c
}

// A client with a low frame rate makes the commands of many ticks at once. They still
// arrive in time.
func TestFewFrames(t *testing.T) {
	for _, row := range []struct {
		rate, frames int
		history      int
		link         sim.Link
	}{
		{30, 5, 0, sim.Link{Latency: 30 * time.Millisecond}},
		{60, 5, 0, sim.Link{Latency: 30 * time.Millisecond}},
		{60, 5, 0, sim.WiFi},
		{60, 10, 0, sim.WiFi},
		{60, 3, 0, sim.WiFi},
		{128, 5, 64, sim.Link{Latency: 30 * time.Millisecond}},
		{128, 5, 64, sim.WiFi},
		{128, 10, 0, sim.WiFi},
	} {
		t.Run(fmt.Sprintf("%d Hz, %d frames, %+v", row.rate, row.frames, row.link), func(t *testing.T) {
			m := simtest.New(7)
			var g game
			p := g.protocol()
			p.SetTickRate(row.rate)
			srv, err := m.Serve(server.Config{Protocol: p})
			require.NoError(t, err)
			cfg := client.Config{History: row.history}
			if row.history != 0 {
				cfg.MaxRTT = 100 * time.Millisecond
			}
			c := walker(t, m, row.rate, cfg, simtest.Seat{Up: row.link, Down: row.link, FrameRate: row.frames})
			m.Run(5 * time.Second)
			before := srv.Stats()
			m.Run(20 * time.Second)
			after := srv.Stats()
			taken, missing := after.InputsTaken-before.InputsTaken, after.InputsMissing-before.InputsMissing
			t.Logf("taken %d, missing %d, %d ahead, %d resets", taken, missing, int32(c.View().Tick-srv.Tick()), c.Stats().HardResets)
			ticks := after.Ticks - before.Ticks
			require.GreaterOrEqual(t, taken*100, ticks*95)
		})
	}
}

// A history that is too short for a low frame rate is refused, or shows in the statistics:
// commands then run late, and none is missing.
func TestFewFramesAndAShortHistory(t *testing.T) {
	var g game
	p := g.protocol()
	p.SetTickRate(128)
	m := simtest.New(7)
	srv, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	_, err = client.New(client.Config{Protocol: p, Transport: m.Dial(sim.LAN, sim.LAN), History: 32, MaxRTT: time.Millisecond})
	require.ErrorContains(t, err, "History is 32 ticks")
	link := sim.Link{Latency: 150 * time.Millisecond}
	c := walker(t, m, 128, client.Config{History: 64, MaxRTT: 100 * time.Millisecond}, simtest.Seat{Up: link, Down: link, FrameRate: 4})
	m.Run(5 * time.Second)
	before, delayed := srv.Stats(), c.Stats().InputDelayed
	m.Run(20 * time.Second)
	after := srv.Stats()
	require.GreaterOrEqual(t, (after.InputsTaken-before.InputsTaken)*100, (after.Ticks-before.Ticks)*95)
	require.Greater(t, c.Stats().InputDelayed, delayed+30)
}

// Whatever happened to a client's frames, for a minute or once, it is in step two seconds
// later: no command is missing, and it runs no further ahead or behind than before. Other
// players notice nothing.
func TestFramesThatComeBack(t *testing.T) {
	link := sim.Link{Latency: 30 * time.Millisecond, Jitter: 5 * time.Millisecond}
	for i, row := range []struct {
		name   string
		every  time.Duration // time between two frames; 0: no frames at all
		length time.Duration
	}{
		{"ten frames a second", 100 * time.Millisecond, time.Minute},
		{"ten frames for a moment", 100 * time.Millisecond, 1500 * time.Millisecond},
		{"five frames a second", 200 * time.Millisecond, time.Minute},
		{"a tab in the background", time.Second, time.Minute},
		{"a hitch", 0, 300 * time.Millisecond},
		{"a stall", 0, 3 * time.Second},
		{"a debugger", 0, 20 * time.Second},
	} {
		for _, rate := range ratesOf(i) {
			t.Run(fmt.Sprintf("%s at %d Hz", row.name, rate), func(t *testing.T) {
				m := simtest.New(11)
				var g game
				p := g.protocol()
				p.SetTickRate(rate)
				srv, err := m.Serve(server.Config{Protocol: p})
				require.NoError(t, err)
				c := walker(t, m, rate, client.Config{}, simtest.Seat{Up: link, Down: link})
				other := walker(t, m, rate, client.Config{}, simtest.Seat{Up: link, Down: link})
				m.Run(10 * time.Second)
				lead, shown := offsets(m, c)
				otherLead, otherShown := offsets(m, other)
				him, quiet, otherStats, began := other.View().Player, missing(srv, other), other.Stats(), srv.Tick()
				m.Freeze(c, true)
				for at := row.every; at > 0 && at < row.length; at += row.every {
					m.Net.At(m.Net.Now()+at, func() { m.Freeze(c, false) })
					m.Net.At(m.Net.Now()+at+time.Second/60, func() { m.Freeze(c, true) })
				}
				m.Run(m.Net.Now() + row.length + time.Second/60)
				m.Freeze(c, false)
				m.Run(m.Net.Now() + 2*time.Second)
				require.Equal(t, client.Playing, c.View().State)
				before := srv.Stats()
				leadNow, shownNow := offsets(m, c)
				m.Run(m.Net.Now() + 2*time.Second)
				after := srv.Stats()
				t.Logf("%v ahead, before %v; shown %v behind, before %v; missing %d", leadNow, lead, shownNow, shown, after.InputsMissing-before.InputsMissing)
				require.Equal(t, before.InputsMissing, after.InputsMissing)
				require.InDelta(t, (5*time.Second).Seconds()*float64(rate), float64(after.InputsTaken-before.InputsTaken), 8)
				require.InDelta(t, lead.Seconds(), leadNow.Seconds(), 0.1)
				require.InDelta(t, shown.Seconds(), shownNow.Seconds(), 0.05)
				require.Equal(t, him, other.View().Player)
				require.Equal(t, quiet, missing(srv, other))
				require.Equal(t, otherStats.HardResets, other.Stats().HardResets)
				require.Equal(t, otherStats.Mispredictions, other.Stats().Mispredictions)
				require.Equal(t, otherStats.Stalls, other.Stats().Stalls)
				require.Equal(t, otherStats.SnapshotsStale, other.Stats().SnapshotsStale)
				ticks := uint64(srv.Tick() - began)
				require.InDelta(t, ticks, other.Stats().Snapshots-otherStats.Snapshots, 0.01*float64(ticks)+8, "each tick's snapshot")
				nowLead, nowShown := offsets(m, other)
				require.InDelta(t, otherLead.Seconds(), nowLead.Seconds(), 0.02)
				require.InDelta(t, otherShown.Seconds(), nowShown.Seconds(), 0.02)
			})
		}
	}
}

// offsets returns how far a client predicts ahead of the server and shows others behind
// it, averaged over half a second.
func offsets(m *simtest.Match, c *client.Client) (lead, shown time.Duration) {
	const looks = 30
	for range looks {
		m.Run(m.Net.Now() + time.Second/60)
		v, tick := c.View(), m.Server().Tick()
		tickTime := time.Duration(float64(time.Second) * float64(m.Server().Frame().DT))
		lead += time.Duration(int32(v.Tick-tick)) * tickTime / looks
		shown += time.Duration(int32(tick-v.RenderTick)) * tickTime / looks
	}
	return lead, shown
}

func missing(s *server.Server, c *client.Client) uint64 {
	st, _ := s.PlayerStats(s.Player(c.View().Player))
	return st.InputsMissing
}
