package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// A configuration file sets prefabs' defaults by the paths of fields. Both ends then spawn
// entities with them. Ends with different files do not play together.
func TestDefaultsFromAFile(t *testing.T) {
	file := map[string]any{"position.X": 7.5, "position.Y": -3.0}
	load := func(g *game, file map[string]any) *foretick.Protocol {
		p := g.protocol()
		for path, v := range file {
			require.NoError(t, p.Types().SetDefaultValue(&g.player, path, v))
		}
		return p
	}
	for _, same := range []bool{true, false} {
		m := simtest.New(1)
		var g, cg game
		_, err := m.Serve(server.Config{Protocol: load(&g, file)})
		require.NoError(t, err)
		theirs := file
		if !same {
			theirs = map[string]any{"position.X": 8.0}
		}
		c, err := m.Join(client.Config{Protocol: load(&cg, theirs)}, simtest.Seat{})
		require.NoError(t, err)
		m.Run(2 * time.Second)
		if !same {
			require.Equal(t, client.Closed, c.View().State)
			require.ErrorContains(t, c.View().Err, "position")
			continue
		}
		require.Equal(t, client.Playing, c.View().State)
		all := ecs.NewQuery(c.View().World.Types(), ecs.With(&cg.pos)).All(c.View().World)
		require.Len(t, all, 1)
		require.Equal(t, position{X: 7.5, Y: -3}, cg.pos.Slice(all[0])[0])
	}
}

// A client begins to play once three snapshots have arrived.
func TestPlayBeginsWithAFullBuffer(t *testing.T) {
	for seed := range uint64(10) {
		m := simtest.New(seed)
		var g, cg game
		_, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		link := sim.Link{Latency: time.Duration(10+seed*20) * time.Millisecond}
		var c *client.Client
		begun, waited := uint64(0), 0
		c, err = m.Join(client.Config{Protocol: cg.protocol()}, simtest.Seat{Up: link, Down: link, FrameRate: 240, After: func(v client.View) {
			switch n := c.Stats().Snapshots; {
			case v.State == client.Playing && begun == 0:
				begun = n
			case v.State < client.Playing && n > 0:
				waited++
				require.Less(t, n, uint64(4))
			}
		}})
		require.NoError(t, err)
		m.Run(3 * time.Second)
		require.GreaterOrEqual(t, begun, uint64(3), "seed %d", seed)
		require.LessOrEqual(t, begun, uint64(4), "seed %d", seed)
		require.Greater(t, waited, 5, "frames with some snapshots, and not yet enough")
	}
}

type standoffBody struct{ HP int16 }

type standoffMove struct {
	Fire bool `net:"oneshot"`
}

// standoff is a game in which a shot kills everybody else at the end of its tick.
type standoff struct {
	body   ecs.Component[standoffBody]
	cmd    ecs.Component[standoffMove]
	player ecs.Prefab
	shot   foretick.Event[standoffMove]
	bodies *ecs.Query
	died   map[foretick.PlayerID]foretick.Tick
}

func (g *standoff) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("standoff", 1)
	p.Component(&g.body, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.player, "player", &g.body, &g.cmd)
	g.died = map[foretick.PlayerID]foretick.Tick{}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.body.Get(f.World, f.Spawn(&g.player, player)).HP = 1
	})
	p.Shared("fire", func(f *foretick.Frame, rows ecs.Rows) {
		for i, cmd := range g.cmd.Slice(rows) {
			if cmd.Fire && g.body.Slice(rows)[i].HP > 0 {
				g.shot.Raise(f, rows.Entity(i), cmd)
			}
		}
	}, ecs.Read(&g.cmd, &g.body))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ standoffMove) {
		for _, rows := range g.bodies.All(f.World) {
			for i := range g.body.Slice(rows) {
				if at := &g.body.Slice(rows)[i]; rows.Owner() != by.Player && at.HP > 0 {
					at.HP, g.died[rows.Owner()] = 0, f.Tick
				}
			}
		}
	}, ecs.WriteOther(&g.body))
	g.bodies = p.Query(ecs.With(&g.body))
	return p
}

// Two players fire in the same tick, with round trips of 20 and 200 ms. Both die in that tick:
// the player with less latency does not win.
func TestLatencyIsNoAdvantageWithinATick(t *testing.T) {
	for seed := range uint64(costtest.Count(8, 50)) {
		m := simtest.New(seed)
		g := &standoff{}
		_, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		at := foretick.Tick(100 + seed)
		for _, rtt := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond} {
			cg := &standoff{}
			link := sim.Link{Latency: rtt / 2}
			_, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) standoffMove {
				return standoffMove{Fire: v.Tick+1 == at}
			})}, simtest.Seat{Up: link, Down: link, FrameRate: 120})
			require.NoError(t, err)
		}
		m.Run(7 * time.Second)
		require.Len(t, g.died, 2, "seed %d", seed)
		require.Equal(t, g.died[1], g.died[2], "seed %d", seed)
		require.InDelta(t, float64(at), float64(g.died[1]), 1)
	}
}
