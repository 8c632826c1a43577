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

// routes is a game whose server acts on player 1's body in many ways.
type routes struct {
	pos    ecs.Component[footing]
	cmd    ecs.Component[lunge]
	ward   ecs.Component[routesWard]
	body   ecs.Prefab
	pebble ecs.Prefab
	ask    foretick.Request[routesAsk]
	beat   foretick.Event[routesAsk]
	bodies *ecs.Query

	system func(f *foretick.ServerFrame) // called by the server system now and then
	beaten func(f *foretick.ServerFrame) // called by the event's handler
	asked  func(f *foretick.ServerFrame) // called by the request's handler
	hidden bool
	stones []ecs.Entity
	acts   int
}

type (
	routesWard struct{ Left uint16 }
	routesAsk  struct{ N uint8 }
)

// routesEvery is how many ticks pass between two acts.
const routesEvery = 37

func (g *routes) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("routes", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.ward, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.ward, &g.cmd)
	p.Prefab(&g.pebble, "pebble", &g.pos, &g.ward)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.InOrder()
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X = min(max(pos[i].X+cmd[i].Move*f.DT*4, -90), 90)
			if f.Tick%routesEvery == 20 {
				g.beat.Raise(f, rows.Entity(i), routesAsk{})
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Shared("wane", func(_ *foretick.Frame, rows ecs.Rows) {
		for i, ward := 0, g.ward.Slice(rows); i < len(ward); i++ {
			ward[i].Left -= min(ward[i].Left, 1)
		}
	}, ecs.Write(&g.ward))
	changes := []ecs.Access{ecs.WriteOther(&g.pos, &g.ward), ecs.Structural(), ecs.Create(&g.pos, &g.ward, &g.cmd)}
	p.Server("act", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Tick%routesEvery == 0 && g.system != nil {
			g.system(f)
		}
	}, append(changes, ecs.Once())...)
	g.ask.Handle(p, func(f *foretick.ServerFrame, _ foretick.PlayerID, _ routesAsk) { g.asked(f) })
	g.beat.OnServer(p, func(f *foretick.ServerFrame, _ foretick.By, _ routesAsk) {
		if g.beaten != nil {
			g.beaten(f)
		}
	}, changes...)
	g.bodies = p.Query(ecs.With(&g.pos, &g.cmd))
	return p
}

// routesActs are changes that a server may make to a player, by name.
var routesActs = map[string]func(g *routes, f *foretick.ServerFrame, e ecs.Entity){
	"set":       func(g *routes, f *foretick.ServerFrame, e ecs.Entity) { g.pos.Get(f.World, e).X++ },
	"add":       func(g *routes, f *foretick.ServerFrame, e ecs.Entity) { g.ward.Add(f.World, e, routesWard{100}) },
	"take away": func(g *routes, f *foretick.ServerFrame, e ecs.Entity) { g.ward.Remove(f.World, e) },
	"take away and give anew": func(g *routes, f *foretick.ServerFrame, e ecs.Entity) {
		g.ward.Remove(f.World, e)
		g.ward.Add(f.World, e, routesWard{100})
	},
	"give and take away": func(g *routes, f *foretick.ServerFrame, e ecs.Entity) {
		g.ward.Add(f.World, e, routesWard{100})
		g.ward.Remove(f.World, e)
	},
	"teleport": func(g *routes, f *foretick.ServerFrame, e ecs.Entity) {
		g.pos.Get(f.World, e).X -= 5
		f.Teleport(e)
	},
	"destroy and spawn": func(g *routes, f *foretick.ServerFrame, e ecs.Entity) {
		f.Destroy(e)
		f.Spawn(&g.body, 1)
	},
	"spawn": func(g *routes, f *foretick.ServerFrame, _ ecs.Entity) {
		g.stones = append(g.stones, f.Spawn(&g.pebble, 1))
		if n := len(g.stones); n > 2 {
			f.Destroy(g.stones[n-3])
		}
	},
	"hide, and show later": func(g *routes, f *foretick.ServerFrame, e ecs.Entity) {
		g.hidden = !g.hidden
		f.SetVisible(1, e, !g.hidden)
	},
	"hide and show": func(_ *routes, f *foretick.ServerFrame, e ecs.Entity) {
		f.SetVisible(1, e, false)
		f.SetVisible(1, e, true)
	},
	"give to nobody and back": func(_ *routes, f *foretick.ServerFrame, e ecs.Entity) {
		_ = f.World.Transfer(e, ecs.Nobody)
		_ = f.World.Transfer(e, 1)
	},
}

// Whatever the server does to a player's entity, and in whatever function, the correction gets the
// cause ServerEffect, and never Code.
func TestRoutesOfTheServer(t *testing.T) {
	for _, route := range []string{"system", "event", "request", "do", "outside"} {
		for name, act := range routesActs {
			t.Run(route+"/"+name, func(t *testing.T) {
				var g routes
				m := simtest.New(2)
				srv, err := m.Serve(server.Config{Protocol: g.protocol()})
				require.NoError(t, err)
				do := func(f *foretick.ServerFrame) {
					if e := g.bodies.FirstOwned(f.World, 1); e != ecs.None && m.Net.Now() > 2*time.Second {
						g.acts++
						act(&g, f, e)
					}
				}
				link, cg := sim.Link{Latency: 50 * time.Millisecond}, &routes{}
				var wrong []prediction.Misprediction
				c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) lunge {
					return lunge{Move: float32(v.Tick/9%2)*2 - 1}
				}), OnMisprediction: func(w prediction.Misprediction) {
					if w.Cause != prediction.ServerEffect {
						wrong = append(wrong, w)
					}
				}}, simtest.Seat{Up: link, Down: link})
				require.NoError(t, err)
				switch route {
				case "system":
					g.system = do
				case "event":
					g.beaten = do
				case "request":
					g.asked = do
				}
				for n := 0; m.Net.Now() < 9*time.Second; n++ {
					m.RunFor(1100*time.Millisecond + time.Duration(n%7)*13*time.Millisecond)
					switch route {
					case "request":
						require.NoError(t, cg.ask.Send(c, routesAsk{}))
					case "do":
						require.NoError(t, srv.Do("act", do))
					case "outside":
						do(srv.Frame())
					}
				}
				require.NoError(t, m.Err())
				require.Greater(t, g.acts, 4)
				require.Empty(t, wrong)
				if name == "set" || name == "take away and give anew" {
					require.Greater(t, c.Stats().ByCause.Of(prediction.ServerEffect), uint64(4))
				}
			})
		}
	}
}
