package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type lantern struct{ On bool }

type lookout struct{ Seen uint32 }

// reef is a game in which players count the ticks in which a lantern is lit: one in fifty.
type reef struct {
	lantern ecs.Component[lantern]
	lookout ecs.Component[lookout]
	cmd     ecs.Component[airgun]
	light   ecs.Prefab
	body    ecs.Prefab
	all     *ecs.Query
	bias    bool // a planted fault
	dark    bool // the lantern is never lit
}

func (g *reef) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("reef", 1)
	p.SetTickRate(60)
	p.Component(&g.lantern, foretick.Predicted())
	p.Component(&g.lookout, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.light, "light", &g.lantern)
	p.Prefab(&g.body, "body", &g.lookout, &g.cmd)
	g.all = p.Query(ecs.With(&g.lantern))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.InOrder()
	p.Shared("look", func(f *foretick.Frame, rows ecs.Rows) {
		out := g.lookout.Slice(rows)
		for i := range out {
			for _, lit := range g.all.All(f.World) {
				if g.lantern.Slice(lit)[0].On {
					out[i].Seen++
				}
			}
			if g.bias && f.Tick%40 == 0 {
				out[i].Seen++
			}
		}
	}, ecs.Write(&g.lookout), ecs.ReadOther(&g.lantern))
	p.Server("light", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, all := 0, g.lantern.Slice(rows); i < len(all); i++ {
			all[i].On = !g.dark && f.Tick%50 == 0
		}
	}, ecs.Write(&g.lantern))
	return p
}

// If a value of others changed for one tick, of which no snapshot arrived, a correction does not
// get the cause Code. If a snapshot was lost, that holds for any value. If none was sent, it
// holds for a value that is known to change. A fault of the code still gets the cause Code,
// unless such a value may be the reason.
func TestWhatALostSnapshotHadIsNoCode(t *testing.T) {
	for _, c := range []struct {
		name string
		rate int     // snapshots a second, at 60 ticks a second
		loss float64 // share of packets that are lost
		bias bool
		dark bool
	}{
		{"lost", 60, 0.25, false, false},
		{"not sent", 20, 0, false, false},
		{"lost, and a fault", 60, 0.1, true, false},
		{"not sent, and a fault", 20, 0, true, true},
	} {
		m, g := simtest.New(11), &reef{dark: c.dark}
		srv, err := m.Serve(server.Config{Protocol: g.protocol(), SnapshotRate: c.rate})
		require.NoError(t, err)
		srv.Frame().Spawn(&g.light, stallholder)
		mine := &reef{bias: c.bias, dark: c.dark}
		by := map[prediction.Cause]int{}
		_, err = m.Join(client.Config{Protocol: mine.protocol(),
			Sample: client.Sample(&mine.cmd, func(client.View) airgun { return airgun{} }),
			OnMisprediction: func(w prediction.Misprediction) {
				if w.Tick < 200 { // the client has not seen it lit yet
					return
				}
				if by[w.Cause]++; w.Cause == prediction.Code && !c.bias {
					t.Errorf("%s: %v", c.name, &w)
				}
			}}, simtest.Seat{Up: sim.Link{Latency: 40 * time.Millisecond}, Down: sim.Link{Latency: 40 * time.Millisecond, Loss: c.loss}})
		require.NoError(t, err)
		m.Run(time.Minute)
		t.Logf("%s: %v", c.name, by)
		if !c.dark {
			require.Greater(t, by[prediction.Untracked], 30, c.name)
		}
		if c.bias {
			require.Greater(t, by[prediction.Code], 10, c.name)
		}
	}
}
