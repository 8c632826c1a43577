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

type runCommand struct {
	X     float32 `net:"min=-1,max=1,step=0.0078125"`
	Boost bool    `net:"oneshot"`
}

// boosted is a component that comes and goes: while a body has it, it is fast.
type boosted struct {
	Left uint8 `net:"max=60"`
}

type racers struct {
	pos   ecs.Component[position]
	boost ecs.Component[boosted]
	cmd   ecs.Component[runCommand]
	body  ecs.Prefab
	until foretick.Tick // end of the server's own actions

	boosts int // ticks in which the client ran fast
}

func (g *racers) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("racers", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.boost, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Stages("boosts", "runs")
	p.Shared("start", func(f *foretick.Frame, rows ecs.Rows) {
		for i, cmd := range g.cmd.Slice(rows) {
			if cmd.Boost {
				g.boost.Add(f.World, rows.Entity(i), boosted{Left: 12})
			}
		}
	}, ecs.Stage("boosts"), ecs.Read(&g.cmd), ecs.Create(&g.boost))
	p.Shared("run", func(f *foretick.Frame, rows ecs.Rows) {
		speed := float32(2)
		if rows.Has(g.boost.ID()) {
			speed = 6
			if !f.IsServer() && !f.Replay {
				g.boosts++
			}
		}
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += cmd[i].X * speed * f.DT
		}
	}, ecs.Stage("runs"), ecs.Read(&g.cmd), ecs.Optional(&g.boost), ecs.Write(&g.pos))
	p.Shared("tire", func(f *foretick.Frame, rows ecs.Rows) {
		b := g.boost.Slice(rows)
		for i := range b {
			if b[i].Left--; b[i].Left == 0 {
				g.boost.Remove(f.World, rows.Entity(i))
			}
		}
	}, ecs.Stage("runs"), ecs.Write(&g.boost), ecs.Structural(), ecs.After("run"))
	// The server takes boosts away and gives others, which no client can know.
	p.Server("steal", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.Tick%97 == 0 && f.Tick < g.until {
				g.boost.Remove(f.World, rows.Entity(i))
			}
		}
	}, ecs.Stage("boosts"), ecs.Write(&g.boost), ecs.Structural(), ecs.After("start"))
	p.Server("give", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range rows.Len() {
			if f.Tick%61 == 0 && f.Tick < g.until {
				g.boost.Add(f.World, rows.Entity(i), boosted{Left: 9})
			}
		}
	}, ecs.Stage("boosts"), ecs.Read(&g.cmd), ecs.Without(&g.boost), ecs.Create(&g.boost), ecs.After("steal"))
	return p
}

// A speed boost is a component that shared systems add and remove. The player feels it at
// once. It rolls back with everything else when the server gave or took one.
func TestBoostRollsBack(t *testing.T) {
	m := simtest.New(4)
	g := &racers{until: 900}
	_, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 60 * time.Millisecond, Loss: 0.02}
	var clients []*client.Client
	var games []*racers
	var explained []prediction.Misprediction
	presses := 0
	for n := range 2 {
		cg := &racers{}
		frames := 0
		c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) runCommand {
			frames++
			if m.Net.Now() > 32*time.Second {
				return runCommand{}
			}
			press := frames%(90+n*7) == 0
			if press {
				presses++
			}
			dir := float32(1)
			if int(m.Net.Now().Seconds())%2 == 0 {
				dir = -1
			}
			return runCommand{X: dir, Boost: press}
		}), OnMisprediction: func(w prediction.Misprediction) { explained = append(explained, w) }},
			simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients, games = append(clients, c), append(games, cg)
	}
	m.Run(36 * time.Second)
	systems := map[string]int{}
	for _, w := range explained {
		systems[w.System]++
		require.NotEqual(t, prediction.Code, w.Cause, w.String())
		if w.Cause == prediction.ServerEffect && w.CauseTick > 60 {
			require.Contains(t, []string{"steal", "give"}, w.System, w.String())
		}
	}
	require.Greater(t, systems["steal"], 2, "%v", systems)
	require.Greater(t, systems["give"], 10, "%v", systems)
	require.Greater(t, presses, 30)
	for i, c := range clients {
		require.Greater(t, games[i].boosts, 12*presses/3, "the boost is felt in the ticks that are predicted")
		require.Zero(t, m.Audit(c).Differences, m.Audit(c).First)
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
	}
}
