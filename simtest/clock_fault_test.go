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
	belfryClock struct{ N uint32 }
	belfryToll  struct{ N uint32 }
	belfryFlag  struct{ N uint32 }
	belfrySight struct{ N uint32 }
	belfryDust  struct{ N uint32 }
	belfryRope  struct{ Pulls uint32 }
)

// belfry is a game with a clock and flags that only the server moves, or with dust that appears
// and vanishes.
type belfry struct {
	clock  ecs.Singleton[belfryClock]
	toll   ecs.Component[belfryToll]
	flag   ecs.Component[belfryFlag]
	sight  ecs.Component[belfrySight]
	dust   ecs.Component[belfryDust]
	rope   ecs.Component[belfryRope]
	cmd    ecs.Component[lunge]
	ringer ecs.Prefab
	pole   ecs.Prefab
	mote   ecs.Prefab
	cord   ecs.Prefab
	flags  *ecs.Query
	motes  *ecs.Query

	still  bool // there is no clock, flags stand, and dust blows
	ropes  bool // there are shared physics objects
	biased int  // a planted fault: 1 in the values from the clock, 2 in those from flags
}

func (g *belfry) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("belfry", 1)
	if !g.still {
		p.Singleton(&g.clock, foretick.Predicted())
	}
	p.Component(&g.toll, foretick.Predicted())
	p.Component(&g.sight, foretick.Predicted())
	p.Component(&g.flag)
	p.Component(&g.dust)
	p.Command(&g.cmd)
	p.Prefab(&g.ringer, "ringer", &g.toll, &g.sight, &g.cmd)
	p.Prefab(&g.pole, "pole", &g.flag)
	p.Prefab(&g.mote, "mote", &g.dust)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.ringer, player) })
	p.InOrder()
	if g.ropes {
		p.Component(&g.rope, foretick.Predicted())
		p.Prefab(&g.cord, "cord", &g.rope)
		cords := p.Query(ecs.With(&g.rope))
		p.Shared("pull", func(f *foretick.Frame, rows ecs.Rows) {
			for _, all := range cords.All(f.World) {
				for i := range g.rope.Slice(all) {
					g.rope.Slice(all)[i].Pulls += uint32(rows.Len())
				}
			}
		}, ecs.With(&g.cmd), ecs.WriteOther(&g.rope))
	}
	access := []ecs.Access{ecs.Write(&g.toll)}
	if !g.still {
		access = append(access, ecs.Read(&g.clock))
		p.Shared("tick", func(f *foretick.Frame, _ ecs.Rows) { g.clock.Get(f.World).N++ }, ecs.Once(), ecs.Write(&g.clock))
	}
	p.Shared("strike", func(f *foretick.Frame, rows ecs.Rows) {
		for i, all := 0, g.toll.Slice(rows); i < len(all); i++ {
			if !g.still && g.clock.Get(f.World).N%20 == 0 || g.biased == 1 && f.Tick%30 == 0 {
				all[i].N++
			}
		}
	}, access...)
	g.flags, g.motes = p.Query(ecs.With(&g.flag)), p.Query(ecs.With(&g.dust))
	p.Shared("look", func(f *foretick.Frame, rows ecs.Rows) {
		sum := uint32(0)
		for _, poles := range g.flags.All(f.World) {
			for _, v := range g.flag.Slice(poles) {
				sum += v.N
			}
		}
		for i, all := 0, g.sight.Slice(rows); i < len(all); i++ {
			if all[i].N = sum; g.biased == 2 && f.Tick%30 == 0 {
				all[i].N++
			}
		}
	}, ecs.ReadOther(&g.flag), ecs.Write(&g.sight))
	if !g.still {
		p.Server("wave", func(_ *foretick.ServerFrame, rows ecs.Rows) {
			for i, all := 0, g.flag.Slice(rows); i < len(all); i++ {
				all[i].N++
			}
		}, ecs.Write(&g.flag))
		return p
	}
	p.Server("blow", func(f *foretick.ServerFrame, _ ecs.Rows) {
		for _, rows := range g.motes.All(f.World) {
			for i, v := range g.dust.Slice(rows) {
				if f.Tick > v.N {
					f.Destroy(rows.Entity(i))
				}
			}
		}
		g.dust.Get(f.World, f.Spawn(&g.mote, ecs.Nobody)).N = f.Tick + 10
	}, ecs.Once(), ecs.Write(&g.dust), ecs.Create(&g.dust), ecs.Structural())
	return p
}

// A value of others excuses a correction only if a system reads that value. A clock that no other
// player moves does not count as a value of others. Nor does an entity that appears or vanishes
// without a component that is read.
func TestOthersHideNoFaultOfWhatReadsNone(t *testing.T) {
	for name, c := range map[string]struct {
		g         belfry
		component string
	}{
		"a clock, while flags wave":          {belfry{biased: 1}, "belfryToll"},
		"flags that stand, while dust blows": {belfry{biased: 2, still: true}, "belfrySight"},
		"flags and ropes, while dust blows":  {belfry{biased: 2, still: true, ropes: true}, "belfrySight"},
		"no fault, while flags wave":         {belfry{}, ""},
		"no fault, while flags stand":        {belfry{still: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, truth := simtest.New(3), c.g
			truth.biased = 0
			srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
			require.NoError(t, err)
			srv.Frame().Spawn(&truth.pole, ecs.Nobody)
			if c.g.ropes {
				srv.Frame().Spawn(&truth.cord, ecs.Nobody)
			}
			link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
			by, cg := map[string]*prediction.ByCause{}, c.g
			_, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) lunge { return lunge{} }),
				OnMisprediction: func(w prediction.Misprediction) {
					if by[w.Component] == nil {
						by[w.Component] = new(prediction.ByCause)
					}
					by[w.Component].Count(w.Cause, 1)
				}}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			m.Run(20 * time.Second)
			require.NoError(t, m.Err())
			for component, n := range by {
				t.Log(component, *n)
				if component != c.component {
					require.Zero(t, n.Of(prediction.Code))
				}
			}
			if n := by[c.component]; c.component != "" {
				require.NotNil(t, n)
				require.GreaterOrEqual(t, n.Of(prediction.Code), uint64(10)) // a tick has one correction, and in some ticks the flags cause it
				require.Less(t, n.Of(prediction.Untracked), uint64(2))
			}
		})
	}
}
