package simtest_test

import (
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

// tram is a game with an entity of a player that both ends move, or only the server.
type tram struct {
	game
	tram, pet ecs.Prefab
	rails     ecs.Component[rails]
	mine, dog ecs.Entity
}

type rails struct{ Line uint8 }

// tramAt is where the tram is at a time: at about 4 m/s, never faster than 5.
func tramAt(tick float64) float64 { return 4*tick/30 + 10*math.Sin(tick/300) }

func (g *tram) protocol() *foretick.Protocol {
	p := g.game.protocol()
	p.Component(&g.rails)
	p.Prefab(&g.tram, "tram", &g.pos, &g.rails)
	p.Prefab(&g.pet, "pet", &g.pos)
	p.Interpolated(&g.tram)
	p.Interpolated(&g.pet)
	p.Shared("roll", func(f *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X = float32(math.Mod(tramAt(float64(f.Tick)), 200)) - 100
		}
	}, ecs.Write(&g.pos), ecs.With(&g.rails))
	p.Server("stroll", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, pos := 0, g.pos.Slice(rows); i < len(pos); i++ {
			pos[i].Y = float32(f.Tick % 100)
		}
	}, ecs.Write(&g.pos), ecs.Without(&g.cmd, &g.rails))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.mine = f.Spawn(&g.tram, player)
		g.dog = f.Spawn(&g.pet, player)
	})
	return p
}

// TestPredictionSwitchesWithoutAJump: an entity whose prediction is switched off and on is
// drawn in the past, or in the present. Between these, it is drawn at most one and a half times
// as fast as it moves. An entity that only the server moves causes no misprediction.
func TestPredictionSwitchesWithoutAJump(t *testing.T) {
	m := simtest.New(8)
	truth, cl := &tram{}, &tram{}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 50 * time.Millisecond}
	cp := cl.protocol()
	all := cp.Query(ecs.With(&cl.pos, &cl.rails))
	var at []float64 // distance along the course from where the server has the tram
	var most, least, was float64
	var c *client.Client
	c, err = m.Join(client.Config{Protocol: cp, Sample: client.Sample(&cl.cmd, func(client.View) move { return move{} })},
		simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			for _, rows := range all.All(v.World) {
				require.Equal(t, v.Player, rows.Owner(), "whoever predicts it")
				x := float64(cl.pos.Slice(rows)[0].X)
				d := math.Mod(x-was+300, 200) - 100
				if was != 0 {
					most, least = max(most, d), min(least, d)
				}
				was = x
				there := float64(truth.pos.Get(srv.World(), truth.mine).X)
				at = append(at, math.Mod(x-there+300, 200)-100)
			}
		}})
	require.NoError(t, err)
	m.Run(5 * time.Second)
	const frame = 5. / 60
	for i := range 12 {
		require.True(t, srv.Frame().SetPredicted(truth.mine, i%2 == 0))
		most, least = 0, 0
		// Some switches come before the transition of the one before is over.
		m.Run(m.Net.Now() + []time.Duration{5 * time.Second, 250 * time.Millisecond, 5 * time.Second}[i%3])
		require.LessOrEqual(t, most, 1.5*frame+0.011, "switch %d", i)
		require.GreaterOrEqual(t, least, -0.011, "switch %d: it does not go back", i)
		if i%3 != 1 {
			now := at[len(at)-1]
			require.Equal(t, i%2 == 0, now > 0.1, "switch %d: %v m from the server", i, now)
			require.Equal(t, i%2 == 1, now < -0.1, "switch %d: %v m from the server", i, now)
		}
	}
	require.Zero(t, c.Stats().Mispredictions)
	require.NoError(t, m.Err())
	require.PanicsWithError(t, `foretick: SetPredicted of an entity of prefab "player": declare the prefab with Protocol.Interpolated`, func() {
		srv.Frame().SetPredicted(srv.Frame().Spawn(&truth.player, ecs.Nobody), true)
	})
}

// TestPredictionSwitchesAmongOtherChanges: a switch of prediction that comes with a teleport, or
// after many lost snapshots, works like any other. Drawing it changes no predicted value.
func TestPredictionSwitchesAmongOtherChanges(t *testing.T) {
	for name, lost := range map[string]time.Duration{"with a teleport": 0, "after lost snapshots": 900 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			m := simtest.New(9)
			truth, cl := &tram{}, &tram{}
			srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
			require.NoError(t, err)
			link := sim.Link{Latency: 50 * time.Millisecond}
			var part foretick.PlayerID
			cp := cl.protocol()
			pets := cp.Query(ecs.With(&cl.pos), ecs.Without(&cl.cmd, &cl.rails))
			c, err := m.Join(client.Config{Protocol: cp, History: 64, Sample: client.Sample(&cl.cmd, func(client.View) move { return move{} })},
				simtest.Seat{Up: link, Down: link, SyncTest: 2, OnDesync: func(d simtest.Desync) { t.Error(d) }, After: func(v client.View) {
					for _, rows := range pets.All(v.World) {
						part = ecs.Engine(v.World).PartOf(rows.Entity(0))
					}
				}})
			require.NoError(t, err)
			m.Run(3 * time.Second)
			for i := range 4 {
				if lost > 0 {
					m.Link(c, link, sim.Link{Loss: 1})
				} else {
					srv.Frame().Teleport(truth.dog)
				}
				require.True(t, srv.Frame().SetPredicted(truth.dog, i%2 == 0))
				m.RunFor(lost)
				m.Link(c, link, link)
				m.RunFor(2 * time.Second)
				require.Equal(t, i%2 == 0, part == 1, "switch %d", i)
			}
			require.NoError(t, m.Err())
		})
	}
}

func TestInterpolatedFaults(t *testing.T) {
	g := &tram{}
	p := g.protocol()
	p.Interpolated(&g.tram)
	p.Interpolated(&ecs.Prefab{})
	p.Spawns(&g.pet, foretick.SpawnConfig{})
	err := p.Err()
	require.ErrorContains(t, err, `Interpolated("tram") was called twice`)
	require.ErrorContains(t, err, "not declared")
	require.ErrorContains(t, err, `prefab "pet" has Spawns and is Interpolated`)
}
