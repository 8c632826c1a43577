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

type (
	hauled struct{ N int32 }
	hauler struct{ N int32 }
	strap  struct{ To ecs.Entity }
)

// porters is a game whose players hold things, whose system reads a component of the holder. A
// thing refers to its holder as its parent, or in a component that only the server writes.
type porters struct {
	hauler ecs.Component[hauler]
	hauled ecs.Component[hauled]
	strap  ecs.Component[strap]
	cmd    ecs.Component[lunge]
	holder ecs.Prefab
	thing  ecs.Prefab

	straps bool
	counts bool // things count the straps of all players
	all    *ecs.Query
	biased bool // a planted fault
}

func (g *porters) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("porters", 1)
	if !g.straps {
		p.Hierarchy()
	}
	p.Component(&g.hauler, foretick.Predicted())
	p.Component(&g.hauled, foretick.Predicted())
	p.Component(&g.strap)
	p.Command(&g.cmd)
	p.Prefab(&g.holder, "holder", &g.hauler, &g.cmd)
	p.Prefab(&g.thing, "thing", &g.hauled, &g.strap)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		holder, thing := f.Spawn(&g.holder, player), f.Spawn(&g.thing, player)
		if g.straps {
			g.strap.Get(f.World, thing).To = holder
		} else {
			_ = f.World.SetParent(thing, holder)
		}
	})
	p.InOrder()
	if g.counts {
		g.all = p.Query(ecs.With(&g.strap))
		p.Shared("count", func(f *foretick.Frame, rows ecs.Rows) {
			n := int32(0)
			for _, things := range g.all.All(f.World) {
				for _, s := range g.strap.Slice(things) {
					if s.To != ecs.None {
						n++
					}
				}
			}
			for i, c := 0, g.hauled.Slice(rows); i < len(c); i++ {
				c[i].N += n
			}
		}, ecs.Write(&g.hauled), ecs.ReadOther(&g.strap))
		return p
	}
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		for i, c := 0, g.hauler.Slice(rows); i < len(c); i++ {
			c[i].N++
		}
	}, ecs.Write(&g.hauler), ecs.With(&g.cmd))
	p.Shared("carry", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := 0, g.hauled.Slice(rows); i < len(c); i++ {
			of := g.strap.Slice(rows)[i].To
			if !g.straps {
				of = f.World.Parent(rows.Entity(i))
			}
			if at := g.hauler.Find(f.World, of); at != nil {
				c[i].N = at.N
			}
			if g.biased && f.Tick%30 == 0 {
				c[i].N++
			}
		}
	}, ecs.Write(&g.hauled), ecs.Read(&g.strap), ecs.ReadOwn(&g.hauler))
	return p
}

// TestHolderIsKnownAtJoin: a thing's holder arrives a round trip after the thing. Corrections until
// then do not get the cause Code. Afterwards a fault of the code still does.
func TestHolderIsKnownAtJoin(t *testing.T) {
	for name, c := range map[string]porters{
		"its parent": {}, "by a component": {straps: true}, "all things'": {straps: true, counts: true}, "its parent, with a fault": {biased: true},
	} {
		t.Run(name, func(t *testing.T) {
			m, srv := simtest.New(5), c
			srv.biased = false
			_, err := m.Serve(server.Config{Protocol: srv.protocol()})
			require.NoError(t, err)
			by := prediction.ByCause{}
			for _, link := range []sim.Link{{}, {Latency: 50 * time.Millisecond}, {Latency: 150 * time.Millisecond, Jitter: 30 * time.Millisecond}, {Latency: 60 * time.Millisecond, Loss: 0.2}} {
				cg := c
				cl, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) lunge { return lunge{} }),
					OnMisprediction: func(w prediction.Misprediction) {
						by.Count(w.Cause, 1)
					}}, simtest.Seat{Up: link, Down: link})
				require.NoError(t, err)
				m.RunFor(8 * time.Second)
				require.NoError(t, m.Err())
				require.Positive(t, cl.Stats().PredictedTicks)
			}
			t.Log(by)
			require.Positive(t, by.Of(prediction.Untracked))
			if c.biased {
				require.Greater(t, by.Of(prediction.Code), uint64(50))
			} else {
				require.Zero(t, by.Of(prediction.Code))
			}
		})
	}
}
