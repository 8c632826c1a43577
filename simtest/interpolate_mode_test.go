package simtest_test

import (
	"fmt"
	"math"
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

// pacer is a game of a player who walks and shoots pellets, at a client that may draw its
// own player in the past.
type pacer struct {
	pos    ecs.Component[pace]
	cmd    ecs.Component[paceCommand]
	body   ecs.Prefab
	pellet ecs.Prefab
	shot   foretick.Event[paceShot]

	fired     []paceShot
	confirmed int
	cancelled int
	made      int
	bodies    *ecs.Query
	shown     func(f *foretick.Frame, by ecs.Entity, s paceShot)
}

type (
	pace struct {
		X     float32 `net:"min=-2048,max=2048,step=0.01,lerp"`
		Shots uint16
		Jam   uint8 // remaining ticks of a jam, which the server begins
	}
	paceCommand struct {
		Go   int8
		Fire bool `net:"oneshot"`
	}
	paceShot struct {
		Tick  foretick.Tick
		Count uint16
	}
)

func (g *pacer) protocol(jams bool) *foretick.Protocol {
	p := foretick.NewProtocol("pacer", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.Prefab(&g.pellet, "pellet", &g.pos)
	p.Spawns(&g.pellet, foretick.SpawnConfig{OnPredicted: func(*foretick.Frame, ecs.Entity) { g.made++ }})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("pace", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range cmd {
			e := rows.Entity(i)
			if pos[i].X += float32(cmd[i].Go) * f.DT; pos[i].Jam > 0 {
				pos[i].Jam--
				continue
			}
			if cmd[i].Fire {
				pos[i].Shots++
				g.shot.Raise(f, e, paceShot{f.Tick, pos[i].Shots})
				f.SpawnBy(e, &g.pellet)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos), ecs.Create(&g.pos))
	p.Server("jam", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos := g.pos.Slice(rows)
		for i := range pos {
			if jams && f.Tick%97 == 0 {
				pos[i].Jam = 20
			}
		}
	}, ecs.Write(&g.pos), ecs.With(&g.cmd))
	p.Server("clear", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.Tick%5 == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Read(&g.pos), ecs.Without(&g.cmd), ecs.Structural())
	g.bodies = p.Query(ecs.With(&g.pos, &g.cmd))
	g.shot.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, s paceShot) { g.fired = append(g.fired, s) })
	g.shot.OnPredicted(p, func(f *foretick.Frame, by foretick.By, s paceShot) {
		if g.fired = append(g.fired, s); g.shown != nil {
			g.shown(f, by.Entity, s)
		}
	})
	g.shot.OnConfirmed(p, func(*foretick.Frame, foretick.By, paceShot) { g.confirmed++ })
	g.shot.OnCancelled(p, func(*foretick.Frame, foretick.By, paceShot) { g.cancelled++ })
	return p
}

// A client that does not predict draws its own player at the render time. Its events happen once
// each, in the frame that shows their tick: all events of the server and no others, whatever
// packets are lost.
func TestNoPredictionShowsEventsAtTheirTick(t *testing.T) {
	for _, row := range []struct {
		loss         float64
		jams         bool
		snapshotRate int
	}{{0, false, 30}, {0.05, false, 30}, {0.2, true, 30}, {0.05, true, 10}} {
		t.Run(fmt.Sprintf("%+v", row), func(t *testing.T) {
			link := sim.Link{Latency: 60 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: row.loss}
			m := simtest.New(4)
			truth, cl := &pacer{}, &pacer{}
			srv, err := m.Serve(server.Config{Protocol: truth.protocol(row.jams), SnapshotRate: row.snapshotRate})
			require.NoError(t, err)
			var c *client.Client
			var last client.View
			cl.shown = func(f *foretick.Frame, by ecs.Entity, s paceShot) {
				require.Equal(t, s.Tick, f.Tick)
				require.True(t, f.World.Alive(by))
				require.Equal(t, last.Player, f.World.Owner(by))
				require.LessOrEqual(t, s.Tick, last.Tick+3, "no later than the screen shows it")
				if row.loss == 0 {
					require.Greater(t, s.Tick, last.Tick, "no earlier frame showed it")
				}
				require.Greater(t, s.Tick+10, last.Tick, "after lost snapshots the next one proves it")
			}
			frames, between := 0, 0
			c, err = m.Join(client.Config{
				Protocol: cl.protocol(false), NoPrediction: true,
				Sample: client.Sample(&cl.cmd, func(v client.View) paceCommand {
					frames++
					return paceCommand{Go: 4, Fire: m.Net.Now() > 4*time.Second && m.Net.Now() < 18*time.Second && frames%11 == 0}
				}),
			}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
				last = v
				if v.State != client.Playing || m.Net.Now() < 4*time.Second {
					return
				}
				require.Equal(t, v.RenderTick+1, v.Tick, "its own time is that of all")
				require.GreaterOrEqual(t, v.InputDelay, v.Lead-50*time.Millisecond)
				for _, rows := range cl.bodies.Owned(v.World, v.Player) {
					if x := float64(cl.pos.Slice(rows)[0].X) * 30 / 4; math.Abs(x-math.Round(x)) > 0.1 {
						between++
					}
				}
			}})
			require.NoError(t, err)
			m.Run(20 * time.Second)
			st := c.Stats()
			t.Logf("%d shots on the server, %d here; %d inputs missing", len(truth.fired), len(cl.fired), srv.Stats().InputsMissing)
			require.Greater(t, len(truth.fired), 50)
			require.Equal(t, len(cl.fired), cl.confirmed)
			require.Zero(t, cl.cancelled)
			require.Zero(t, cl.made, "its spawns come from the server")
			require.Greater(t, between, 500, "drawn between two states")
			require.Zero(t, st.Mispredictions+st.MispredictedTicks+st.Resimulated+st.PredictedTicks)
			// The client lacks only events of the server that no snapshot proved in time.
			if row.snapshotRate == 30 {
				require.Subset(t, truth.fired, cl.fired)
			}
			require.GreaterOrEqual(t, len(cl.fired)*100, len(truth.fired)*97)
			require.LessOrEqual(t, len(cl.fired)*100, len(truth.fired)*103)
			if row.loss == 0 {
				require.Equal(t, truth.fired, cl.fired)
			}
		})
	}
}
