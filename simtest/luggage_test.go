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
	luggagePlace struct{ X int32 }
	luggageLoad  struct{ Kg int32 }
	luggageChest struct {
		Things []int32 `net:"max=1024"`
	}
)

// luggage is a game in which a player has a walker, and mules with chests that are longer than
// a packet. One chest changes completely in each tick, so clients seldom receive its state.
type luggage struct {
	place  ecs.Component[luggagePlace]
	load   ecs.Component[luggageLoad]
	chest  ecs.Component[luggageChest]
	cmd    ecs.Component[lunge]
	walker ecs.Prefab
	mule   ecs.Prefab
	mules  int
	herd   bool // each mule's move depends on the load of all mules
	biased bool // a planted fault: the client's walker goes further
}

func (g *luggage) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("luggage", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Component(&g.load, foretick.Predicted())
	p.Component(&g.chest)
	p.Command(&g.cmd)
	p.Prefab(&g.walker, "walker", &g.place, &g.cmd)
	p.Prefab(&g.mule, "mule", &g.place, &g.load, &g.chest)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.Spawn(&g.walker, player)
		for i := range g.mules {
			m := f.Spawn(&g.mule, player)
			g.chest.Get(f.World, m).Things = make([]int32, 600)
			g.load.Get(f.World, m).Kg = int32(i)
		}
	})
	p.InOrder()
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		for i, all := 0, g.place.Slice(rows); i < len(all); i++ {
			if all[i].X++; g.biased && f.Tick%30 == 0 {
				all[i].X++
			}
		}
	}, ecs.Write(&g.place), ecs.With(&g.cmd))
	if g.herd {
		p.Shared("herd", func(_ *foretick.Frame, rows ecs.Rows) {
			sum := int32(0)
			for _, load := range g.load.Slice(rows) {
				sum += load.Kg
			}
			for i, all := 0, g.place.Slice(rows); i < len(all); i++ {
				all[i].X += sum
			}
		}, ecs.Write(&g.place), ecs.Read(&g.load))
	}
	p.Server("pack", func(f *foretick.ServerFrame, rows ecs.Rows) {
		last, x := rows.Len()-1, uint64(f.Tick)
		for i := range g.chest.Slice(rows)[last].Things {
			x = madeMix(x, uint64(i))
			g.chest.Slice(rows)[last].Things[i] = int32(x)
		}
		if f.Tick%25 == 0 {
			g.load.Slice(rows)[last].Kg++
		}
	}, ecs.Write(&g.chest), ecs.Write(&g.load))
	return p
}

// An entity that is seldom received does not excuse faults in results that do not depend on it. It
// does excuse results of systems that visit it together with others.
func TestLongEntitiesHideNoFaultOfOthers(t *testing.T) {
	for name, g := range map[string]luggage{
		"a fault beside a mule":             {mules: 1, biased: true},
		"no fault":                          {mules: 1},
		"mules that are visited together":   {mules: 2, herd: true},
		"a fault where mules go in company": {mules: 2, herd: true, biased: true},
	} {
		t.Run(name, func(t *testing.T) {
			m, srv := simtest.New(3), g
			srv.biased = false
			_, err := m.Serve(server.Config{Protocol: srv.protocol()})
			require.NoError(t, err)
			link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
			by, own := map[string]*prediction.ByCause{"walker": {}, "mule": {}}, g
			_, err = m.Join(client.Config{Protocol: own.protocol(), Sample: client.Sample(&own.cmd, func(client.View) lunge { return lunge{} }),
				OnMisprediction: func(w prediction.Misprediction) { by[w.Prefab].Count(w.Cause, 1) }}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			m.Run(20 * time.Second)
			require.NoError(t, m.Err())
			t.Log(*by["walker"], *by["mule"])
			require.Zero(t, by["mule"].Of(prediction.Code))
			if !g.biased {
				require.Zero(t, by["walker"].Of(prediction.Code))
			} else {
				require.GreaterOrEqual(t, by["walker"].Of(prediction.Code), uint64(10))
				require.Less(t, by["walker"].Of(prediction.ServerEffect), uint64(5), "until the first mule has come")
			}
			if g.herd {
				require.GreaterOrEqual(t, by["mule"].Of(prediction.ServerEffect), uint64(10))
			}
		})
	}
}
