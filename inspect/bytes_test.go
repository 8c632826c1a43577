package inspect_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// counted is a match of one client that stores the server's bytes by field for each tick.
type counted struct {
	*simtest.Match
	t    *testing.T
	srv  *server.Server
	c    *client.Client
	in   *inspect.Inspector
	sent map[foretick.Tick][]float64
}

// count plays for a while with an open inspector.
func count(t *testing.T, down sim.Link, srv, cl *foretick.Protocol, cfg inspect.Config) *counted {
	t.Helper()
	m := &counted{Match: simtest.New(3), t: t, in: inspect.New(cfg), sent: map[foretick.Tick][]float64{}}
	var err error
	m.srv, err = m.Serve(server.Config{Protocol: srv, AllowOtherBuilds: srv.Hash() != cl.Hash()})
	require.NoError(t, err)
	m.c, err = m.Join(client.Config{Protocol: cl}, simtest.Seat{Up: sim.Link{Latency: 20 * time.Millisecond}, Down: down})
	require.NoError(t, err)
	require.NoError(t, m.in.AddServer("match", m.srv))
	require.NoError(t, m.in.AddClient("player", m.c))
	t.Cleanup(m.in.Open())
	m.AroundServer = func(step func()) {
		step()
		m.sent[m.srv.Tick()] = probe.OfServer(m.srv).CountedBytes(nil)
	}
	m.Run(6 * time.Second)
	require.Equal(t, client.Playing, m.c.View().State)
	return m
}

// chart sums the series of the bytes, by key.
func (m *counted) chart(end string) map[string]float64 {
	m.t.Helper()
	series, err := m.in.Series(end)
	require.NoError(m.t, err)
	s, err := m.in.Samples(end, 0, 1800)
	require.NoError(m.t, err)
	sums := map[string]float64{}
	for _, row := range s.Values {
		for i, v := range row {
			if series[i].Chart == "Bytes by field" {
				sums[series[i].Key] += float64(v)
			}
		}
	}
	return sums
}

func sum(of []float64) (n float64) {
	for _, v := range of {
		n += v
	}
	return n
}

// A client counts for each field what the server counted in the snapshots that arrived.
func TestClientBytes(t *testing.T) {
	g := &game{shove: 0.3}
	m := count(t, sim.Link{Latency: 30 * time.Millisecond}, g.protocol(), (&game{}).protocol(), inspect.Config{})
	newest := probe.OfClient(m.c).Newest()
	theirs, ours := m.sent[newest], probe.OfClient(m.c).CountedBytes(nil)
	require.NotEmpty(t, ours)
	require.Equal(t, probe.OfServer(m.srv).Counted(nil), probe.OfClient(m.c).Counted(nil))
	require.InDeltaSlice(t, theirs, ours, 1e-6, "all snapshots up to tick %d arrived", newest)
	require.Greater(t, sum(ours), 500.)

	chart := m.chart("player")
	total := 0.
	for _, v := range chart {
		total += v
	}
	require.InDelta(t, sum(ours), total, 0.1)
	require.Greater(t, chart["bytes.place.Y"], 10., "the server's pushes: %v", chart)
	require.Greater(t, m.chart("match")["bytes.place.Y"], chart["bytes.place.Y"]-1e-3)
}

// Bytes of lost packets count as sent, and not as received.
func TestClientBytesWithLoss(t *testing.T) {
	const loss = 0.25
	m := count(t, sim.Link{Latency: 30 * time.Millisecond, Loss: loss}, (&game{shove: 0.3}).protocol(), (&game{}).protocol(), inspect.Config{})
	theirs, ours := probe.OfServer(m.srv).CountedBytes(nil), probe.OfClient(m.c).CountedBytes(nil)
	for i := range ours {
		require.LessOrEqual(t, ours[i], theirs[i]+1e-6)
	}
	require.InDelta(t, 1-loss, sum(ours)/sum(theirs), 0.12)
}

// A client counts by the fields of its own build. Bytes of fields that only the server's build has
// count as those of no field.
func TestClientBytesOfAnotherBuild(t *testing.T) {
	younger := func(p *foretick.Protocol) *foretick.Protocol {
		type badge struct{ Rank int32 }
		var c ecs.Component[badge]
		var k ecs.Prefab
		p.Component(&c)
		p.Prefab(&k, "badge", &c)
		turn := func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range c.Slice(rows) {
				c.Slice(rows)[i].Rank += int32(f.Tick) * 7919
			}
		}
		p.Server("badges", turn, ecs.Write(&c))
		p.Server("first badge", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if f.Tick == 5 {
				f.Spawn(&k, ecs.Nobody)
			}
		}, ecs.Once(), ecs.Create(&c))
		return p
	}
	m := count(t, sim.Link{Latency: 30 * time.Millisecond}, younger((&game{shove: 0.3}).protocol()), (&game{}).protocol(), inspect.Config{})
	require.EqualValues(t, 1, m.srv.Stats().OtherBuilds)
	theirs, ours := m.sent[probe.OfClient(m.c).Newest()], probe.OfClient(m.c).CountedBytes(nil)
	at, rest := map[[2]string]float64{}, 0.
	for i, name := range probe.OfServer(m.srv).Counted(nil) {
		if at[name] = theirs[i]; name[0] == "badge" || name[0] == "" {
			rest += theirs[i]
		}
	}
	require.Greater(t, at[[2]string{"badge", "Rank"}], 50.)
	at[[2]string{}] = rest
	for i, name := range probe.OfClient(m.c).Counted(nil) {
		require.InDelta(t, at[name], ours[i], 1e-6, name)
	}
}

// The inspector's clock times a client's ticks: all Steps of the tick, and the longest Step.
func TestClientTickTime(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { now += time.Millisecond; return now } // a Step reads the clock twice
	times := func(cfg inspect.Config) (tick, step []float32) {
		m := count(t, sim.Link{Latency: 20 * time.Millisecond}, (&game{}).protocol(), (&game{}).protocol(), cfg)
		series, err := m.in.Series("player")
		require.NoError(t, err)
		s, err := m.in.Samples("player", 0, 1800)
		require.NoError(t, err)
		require.Greater(t, len(s.Ticks), 60)
		for i, v := range series {
			for _, row := range s.Values[:len(s.Values)-1] {
				switch v.Key {
				case "tick_ms":
					require.Equal(t, "Tick", v.Chart)
					tick = append(tick, row[i])
				case "step_ms":
					step = append(step, row[i])
				}
			}
		}
		return tick, step
	}
	tick, step := times(inspect.Config{Clock: clock})
	total := 0.
	for i := range tick {
		require.InDelta(t, 1, step[i], 1e-3)
		require.GreaterOrEqual(t, tick[i], step[i])
		require.InDelta(t, math.Round(float64(tick[i])), tick[i], 1e-3)
		total += float64(tick[i])
	}
	require.Greater(t, total, 1.5*float64(len(tick)), "there are more Steps than ticks")
	tick, _ = times(inspect.Config{})
	for _, v := range tick {
		require.Zero(t, v, "without a clock")
	}
}

// With NoBytes there are no series of bytes, and a client counts none.
func TestNoBytes(t *testing.T) {
	m := count(t, sim.Link{Latency: 20 * time.Millisecond}, (&game{}).protocol(), (&game{}).protocol(), inspect.Config{NoBytes: true})
	require.Empty(t, m.chart("player"))
	require.Empty(t, probe.OfClient(m.c).CountedBytes(nil))
}
