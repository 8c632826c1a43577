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

// stallholder is a player that never joins.
const stallholder = foretick.PlayerID(9)

// can is a target that a player owns, and that the others see in the past.
type can struct{ Dents uint16 }

// marksman is a player's component, with a reference to the can.
type marksman struct {
	Score uint32
	Can   ecs.Entity
}

type airgun struct {
	X    int8
	Fire bool `net:"oneshot"`
}

// fairground is a game in which a shot reads and writes a component of another entity.
type fairground struct {
	man    ecs.Component[marksman]
	can    ecs.Component[can]
	cmd    ecs.Component[airgun]
	body   ecs.Prefab
	target ecs.Prefab
	all    *ecs.Query
	how    string // how the system finds the can
	bias   bool   // a planted fault
	at     ecs.Entity
}

func (g *fairground) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("fairground", 1)
	p.Component(&g.man, foretick.Predicted())
	p.Component(&g.can, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.man, &g.cmd)
	p.Prefab(&g.target, "target", &g.can)
	g.all = p.Query(ecs.With(&g.can))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.man.Get(f.World, f.Spawn(&g.body, player)).Can = g.at
	})
	p.Shared("shoot", func(f *foretick.Frame, rows ecs.Rows) {
		man := g.man.Slice(rows)
		for i, cmd := range g.cmd.Slice(rows) {
			man[i].Score += uint32(cmd.X)
			if !cmd.Fire {
				if g.bias && f.Tick%24 == 0 {
					man[i].Score++
				}
				continue
			}
			if c := g.find(f, man[i].Can); c != nil {
				if c.Dents++; c.Dents%3 == 0 {
					man[i].Score += 100
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.man), ecs.WriteOther(&g.can))
	p.Server("rust", func(_ *foretick.ServerFrame, rows ecs.Rows) {
		cans := g.can.Slice(rows)
		for i := range cans {
			cans[i].Dents++
		}
	}, ecs.Write(&g.can))
	return p
}

// find returns the can, in one of the ways in which games find entities that they do not own.
func (g *fairground) find(f *foretick.Frame, e ecs.Entity) *can {
	switch g.how {
	case "Get":
		if e != ecs.None {
			return g.can.Get(f.World, e)
		}
		return nil
	case "View":
		return g.can.View(f.World).Find(e)
	case "query":
		for _, rows := range g.all.All(f.World) {
			return &g.can.Slice(rows)[0]
		}
		return nil
	case "owner":
		for _, rows := range g.all.Owned(f.World, stallholder) {
			return &g.can.Slice(rows)[0]
		}
		return nil
	}
	return g.can.Find(f.World, e)
}

// A differing value of another entity excuses the corrections of ticks in which a system read the
// value, however the system found it, and no others. So a fault of the code gets the cause Code
// even if the system sometimes reads a value that always differs.
func TestOnlyWhatWasReadIsAnExcuse(t *testing.T) {
	for _, how := range []string{"Find", "Get", "View", "query", "owner"} {
		for _, bias := range []bool{false, true} {
			m, g, fired := simtest.New(3), &fairground{}, map[foretick.Tick]bool{}
			srv, err := m.Serve(server.Config{Protocol: g.protocol()})
			require.NoError(t, err)
			g.at = srv.Frame().Spawn(&g.target, stallholder)
			mine := &fairground{how: how, bias: bias}
			g.how = how
			code, others, wrong := 0, 0, 0
			link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
			_, err = m.Join(client.Config{Protocol: mine.protocol(),
				Sample: client.Sample(&mine.cmd, func(v client.View) airgun {
					fired[v.Tick] = v.Tick%7 == 0
					return airgun{int8(v.Tick % 3), fired[v.Tick]}
				}),
				OnMisprediction: func(w prediction.Misprediction) {
					switch {
					case w.Cause != prediction.Code:
						others++
					case bias:
						code++
					default:
						wrong++
						t.Errorf("%s: %v", how, &w)
					}
				}}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			m.Run(20 * time.Second)
			t.Logf("%s, fault %v: %d code, %d others", how, bias, code, others)
			require.Zero(t, wrong)
			require.Greater(t, others, 10, "%s: shots read what differed", how)
			if bias {
				require.Greater(t, code, 10, how)
			}
		}
	}
}
