package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	racePlace struct {
		X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
		Aim  float32 `net:"angle,lerp"`
	}
	raceInput struct {
		X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
		Aim  float32 `net:"angle"`
		DT   float32
		At   float32 `net:"min=-90,max=90,step=0.01"`
		Run  bool
	}
)

// trackGame is a game of runners whose server may trust the command.
type trackGame struct {
	frameTime, place, sprint bool // what the server takes from the command
	still                    bool // nobody moves
}

func (g trackGame) player() simtest.Player {
	var at ecs.Component[racePlace]
	var in ecs.Component[raceInput]
	var runner ecs.Prefab
	p := foretick.NewProtocol("race", 1)
	p.Component(&at, foretick.Predicted())
	p.Command(&in)
	p.Prefab(&runner, "runner", &at, &in)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&runner, player) })
	p.Shared("run", func(f *foretick.Frame, rows ecs.Rows) {
		at, in := at.Slice(rows), in.Slice(rows)
		for i := range at {
			a, c, dt := &at[i], &in[i], float32(f.DT)
			a.Aim = c.Aim
			if g.still {
				continue
			}
			if g.frameTime {
				dt = c.DT
			}
			speed := float32(5)
			if c.Run {
				speed *= 2
				if g.sprint {
					speed *= 10
				}
			}
			a.X = min(max(a.X+c.X*speed*dt, -95), 95)
			a.Y = min(max(a.Y+c.Y*speed*dt, -95), 95)
			if g.place {
				a.Y = c.At
			}
		}
	}, ecs.Read(&in), ecs.Write(&at))
	return simtest.Player{Protocol: p, Sample: client.Sample(&in, func(v client.View) raceInput {
		t := float32(v.Tick % 600)
		return raceInput{X: 1 - 2*float32(v.Tick/40%2), Y: 1 - 2*float32(v.Tick/50%2), Aim: t / 100, DT: 1. / 60, At: t / 600, Run: v.Tick/64%2 == 0 && !g.sprint}
	})}
}

// Plan.Extremes names the field of the command with which a client makes its body faster than
// honest ones, and the component that moves. It reports nothing if the server clamps the command
// and measures time itself.
func TestExtremesNameWhatTheServerTakesFromACommand(t *testing.T) {
	for name, row := range map[string]struct {
		game trackGame
		says string
	}{
		"a sound game":                    {trackGame{}, ""},
		"the frame time":                  {trackGame{frameTime: true}, "send raceInput.DT at the ends of its range"},
		"the place":                       {trackGame{place: true}, "send raceInput.At at the ends of its range"},
		"a speed that the script leaves":  {trackGame{sprint: true}, "send raceInput.Run at the ends of its range"},
		"nobody moves, so nothing showed": {trackGame{still: true}, "nothing was compared"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, link := range []sim.Link{sim.Hell, sim.LAN}[:min(2, costtest.Count(1, 2))] {
				plan := simtest.Plan{New: row.game.player, Clients: 4, Play: 13 * time.Second, Rest: -1, Links: []sim.Link{link}, SyncTest: -1, Extremes: true}
				_, err := plan.Run(1)
				if row.says == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, row.says)
				if !row.game.still {
					require.ErrorContains(t, err, "in racePlace (X, Y)")
				}
				plan.Extremes = false
				_, err = plan.Run(1)
				require.NoError(t, err, "nobody sends extremes")
			}
		})
	}
	_, err := simtest.Plan{New: trackGame{}.player, Clients: 1, Extremes: true}.Run(1)
	require.ErrorContains(t, err, "Plan.Extremes needs two clients")
}
