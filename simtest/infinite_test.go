package simtest_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// Timing has floats without a step in each kind of field.
type Timing struct {
	Best  float64
	Half  float32
	Split [3]float32 `net:"vec"`
	Laps  []float64  `net:"max=3"`
}

type (
	times struct {
		Timing
		Owned float64 `net:"owner"`
	}
	paces  struct{ Timing } // predicted
	record struct{ Timing }
	news   struct{ Best [2]float64 }
)

// race is a game in which a server system writes one float to all these fields.
type race struct {
	times  ecs.Component[times]
	paces  ecs.Component[paces]
	record ecs.Singleton[record]
	cmd    ecs.Component[news]
	ask    foretick.Request[news]
	tell   foretick.Message[news]
	told   []news
	asked  []news
	runs   []news // commands that ran
	body   ecs.Prefab
	value  float64
}

func (g *race) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("race", 1)
	p.Component(&g.times)
	p.Component(&g.paces, foretick.Predicted())
	p.Singleton(&g.record)
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.times, &g.paces, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	set := func(t *Timing) {
		*t = Timing{g.value, float32(g.value), [3]float32{1, float32(g.value), 2}, append(t.Laps[:0], 1, g.value)}
	}
	p.Server("divide", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			set(&g.times.Slice(rows)[i].Timing)
			g.times.Slice(rows)[i].Owned = g.value
			set(&g.paces.Slice(rows)[i].Timing)
			g.runs = append(g.runs, g.cmd.Slice(rows)[i])
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.times, &g.paces))
	p.Server("boast", func(f *foretick.ServerFrame, _ ecs.Rows) {
		set(&g.record.Get(f.World).Timing)
		if f.Tick%8 == 0 {
			g.tell.Broadcast(f, news{[2]float64{1, g.value}})
		}
	}, ecs.Once(), ecs.WriteOther(&g.record))
	g.ask.Handle(p, func(_ *foretick.ServerFrame, _ foretick.PlayerID, n news) { g.asked = append(g.asked, n) })
	g.tell.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, n news) { g.told = append(g.told, n) })
	return p
}

// A match continues whatever float a system writes: for an infinity the greatest number of its
// type is sent, and for NaN 0. Values that are sent changed are counted and named.
func TestAnyFloatTravels(t *testing.T) {
	for _, c := range []struct{ value, arrives float64 }{
		{math.Inf(1), math.MaxFloat64}, {math.Inf(-1), -math.MaxFloat64}, {math.NaN(), 0}, {math.Float64frombits(0x7ff0000000000001), 0},
		{math.MaxFloat64, math.MaxFloat64}, {math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}, {-1e300, -1e300}, {math.MaxFloat32, math.MaxFloat32},
	} {
		g, far := &race{}, &race{}
		m := simtest.New(1)
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		link := sim.Link{Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05}
		var cl *client.Client
		cl, err = m.Join(client.Config{Protocol: far.protocol(), Sample: client.Sample(&far.cmd, func(client.View) news {
			return news{[2]float64{1, g.value}}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State == client.Playing && v.Tick%16 == 0 {
				_ = far.ask.Send(cl, news{[2]float64{1, g.value}})
			}
		}})
		require.NoError(t, err)
		m.RunFor(2 * time.Second)
		require.Equal(t, client.Playing, cl.View().State)
		require.Empty(t, srv.Losses(nil))
		before := cl.Stats().Snapshots
		g.value = c.value
		m.RunFor(7 * time.Second)
		require.NoError(t, m.Err())
		require.Equal(t, client.Playing, cl.View().State, "%v: %v", c.value, cl.View().Err)
		require.Zero(t, cl.Stats().Malformed, "%v", c.value)
		require.Greater(t, cl.Stats().Snapshots-before, uint64(150), "%v", c.value)
		arrives32 := float32(min(max(c.arrives, -math.MaxFloat32), math.MaxFloat32))
		want := Timing{c.arrives, arrives32, [3]float32{1, arrives32, 2}, []float64{1, c.arrives}}
		w := cl.View().World
		require.Equal(t, want, far.record.Get(w).Timing, "%v", c.value)
		seen := 0
		for _, rows := range ecs.NewQuery(w.Types(), ecs.With(&far.times, &far.paces)).All(w) {
			for i := range rows.Len() {
				seen++
				require.Equal(t, times{want, c.arrives}, far.times.Slice(rows)[i], "%v", c.value)
				require.Equal(t, want, far.paces.Slice(rows)[i].Timing, "%v", c.value)
			}
		}
		require.Equal(t, 1, seen)
		for _, got := range []news{far.told[len(far.told)-1], g.asked[len(g.asked)-1], g.runs[len(g.runs)-1]} {
			require.Equal(t, news{[2]float64{1, c.arrives}}, got)
		}
		named := map[string]bool{}
		for _, l := range srv.Losses(nil) {
			named[l.Component+"."+l.Field+" "+l.System] = true
		}
		wrote := func(system string) string {
			if debugging {
				return " " + system
			}
			return " "
		}
		if c.value-c.value == 0 {
			for name := range named { // a float32 cannot hold the greatest float64
				require.True(t, strings.Contains(name, "Half") || strings.Contains(name, "Split"), "%v: %s", c.value, name)
			}
			continue
		}
		for _, f := range []string{"Best", "Half", "Split[1]", "Laps[1]"} {
			for component, system := range map[string]string{"times": "divide", "paces": "divide", "record": "boast"} {
				require.Contains(t, named, component+".Timing."+f+wrote(system), "%v", c.value)
			}
		}
		require.Contains(t, named, "times.Owned"+wrote("divide"))
		require.Contains(t, named, "news.Best[1]"+wrote("boast"))
	}
}

// SyncTest fails on a float that is sent as another value.
func TestSyncTestNamesInfinity(t *testing.T) {
	faults, err := simtest.FindDesyncs(func() simtest.Player {
		g := &race{value: math.Inf(1)}
		return simtest.Player{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(client.View) news { return news{} })}
	}, simtest.SyncConfig{})
	require.NoError(t, err)
	all := strings.Join(faults, "\n")
	for _, name := range []string{"times.Timing.Best was outside", "paces.Timing.Laps[1] was outside", "record.Timing.Split[1] was outside"} {
		require.Contains(t, all, name)
	}
}
