package simtest_test

import (
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

// model is an object that a game draws for an entity. OnAppear makes it and OnVanish removes it.
type model struct{ Number uint16 }

// museum is a game whose clients keep a model for each entity.
type museum struct {
	pos    ecs.Component[position]
	model  ecs.Component[model]
	cmd    ecs.Component[move]
	body   ecs.Prefab
	things [2]ecs.Prefab
	score  ecs.Singleton[lapScore]
	all    *ecs.Query

	scored  bool
	script  func(f *foretick.ServerFrame)
	models  map[ecs.Entity]uint16
	strange int // entities that appeared twice, or vanished without having appeared
}

func (g *museum) protocol() *foretick.Protocol {
	g.models = map[ecs.Entity]uint16{}
	p := foretick.NewProtocol("museum", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.model)
	p.Command(&g.cmd)
	if g.scored {
		p.Singleton(&g.score)
	}
	p.Prefab(&g.body, "body", &g.pos, &g.model, &g.cmd)
	p.Prefab(&g.things[0], "statue", &g.pos, &g.model)
	p.Prefab(&g.things[1], "vase", &g.pos, &g.model)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.spawn(f, &g.body, player, 1000) })
	p.Server("script", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if g.script != nil {
			g.script(f)
		}
	}, ecs.Once(), ecs.Structural(), ecs.WriteOther(&g.model), ecs.Create(&g.pos, &g.model))
	p.OnAppear(func(f *foretick.Frame, e ecs.Entity) {
		if _, twice := g.models[e]; twice {
			g.strange++
		}
		g.models[e] = g.model.Get(f.World, e).Number
	})
	p.OnVanish(func(_ *foretick.Frame, e ecs.Entity) {
		if _, there := g.models[e]; !there {
			g.strange++
		}
		delete(g.models, e)
	})
	g.all = p.Query(ecs.With(&g.model))
	return p
}

func (g *museum) spawn(f *foretick.ServerFrame, k *ecs.Prefab, owner foretick.PlayerID, number uint16) {
	g.model.Get(f.World, f.Spawn(k, owner)).Number = number
}

// Over level changes and reconnects, each entity on the screen has the model that OnAppear made
// for it, and no handle is reused for another entity. That also holds if the change comes before
// a client has shown the newest entities.
func TestModelsOverLevelsAndReconnects(t *testing.T) {
	for _, scored := range []bool{false, true} {
		for _, how := range []string{"between ticks", "in a tick", "reconnect"} {
			m, g := simtest.New(1), &museum{scored: scored}
			srv, err := m.Serve(server.Config{Protocol: g.protocol()})
			require.NoError(t, err)
			link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 30 * time.Millisecond}
			cg := &museum{scored: scored}
			c, err := m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: link, Down: link})
			require.NoError(t, err)
			m.Run(time.Second)
			for level := range uint16(6) {
				next := func() {
					require.NoError(t, srv.NextLevel([]byte("next"), func(f *foretick.ServerFrame) {
						for i := range uint16(3) {
							g.spawn(f, &g.things[level%2], ecs.Nobody, 10*level+i)
							g.spawn(f, &g.things[level%2], c.View().Player, 10*level+i+5)
						}
						g.spawn(f, &g.body, c.View().Player, 100+level)
					}))
				}
				n := 0
				g.script = func(f *foretick.ServerFrame) {
					switch n++; {
					case n == 1: // spawns an entity that no screen has shown when the level ends
						g.spawn(f, &g.things[0], ecs.Nobody, 9)
					case n == 2 && how == "in a tick":
						next()
					}
				}
				if how != "in a tick" {
					m.RunFor(60 * time.Millisecond)
					next()
				}
				if how == "reconnect" {
					m.Freeze(c, true)
					m.RunFor(7 * time.Second) // longer than the timeouts of both ends
					m.Freeze(c, false)
				}
				m.RunFor(4 * time.Second)
				require.Equal(t, client.Playing, c.View().State, how)
				shown := 0
				for _, rows := range cg.all.All(c.View().World) {
					for i, is := range cg.model.Slice(rows) {
						was, there := cg.models[rows.Entity(i)]
						require.True(t, there, "%s, level %d: %v is shown and never appeared", how, level, rows.Entity(i))
						require.Equal(t, is.Number, was, "%s, level %d: the model of %v is another thing's", how, level, rows.Entity(i))
						shown++
					}
				}
				require.Len(t, cg.models, shown, "%s, level %d: models of what is gone", how, level)
				require.GreaterOrEqual(t, shown, 4)
			}
			require.Zero(t, cg.strange, how)
			require.NoError(t, m.Err())
		}
	}
}
