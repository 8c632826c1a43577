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

type driverCommand struct {
	X     float32 `net:"min=-1,max=1,step=0.0078125"`
	Board bool    `net:"oneshot"`
}

type wheel struct {
	Speed float32 `net:"min=-20,max=20,step=0.01,owner"`
}

// traffic is a game of one car, driven by the player that boards it.
type traffic struct {
	pos    ecs.Component[position]
	wheel  ecs.Component[wheel]
	cmd    ecs.Component[driverCommand]
	driver ecs.Prefab
	car    ecs.Prefab

	cars     *ecs.Query
	boarding foretick.Event[bool]
	boarded  []foretick.PlayerID
}

func (g *traffic) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("traffic", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.wheel, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.driver, "driver", &g.cmd)
	p.Prefab(&g.car, "car", &g.pos, &g.wheel, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.driver, player) })
	p.Shared("board", func(f *foretick.Frame, rows ecs.Rows) {
		for i, cmd := 0, g.cmd.Slice(rows); i < len(cmd); i++ {
			if cmd[i].Board {
				g.boarding.Raise(f, rows.Entity(i), true)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Without(&g.wheel))
	g.boarding.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ bool) {
		for _, rows := range g.cars.All(f.World) {
			if rows.Owner() != by.Player {
				g.boarded = append(g.boarded, by.Player)
				require.NoError(nil, f.World.Transfer(rows.Entity(0), by.Player))
			}
		}
	}, ecs.Structural())
	p.Shared("drive", func(f *foretick.Frame, rows ecs.Rows) {
		pos, w, cmd := g.pos.Slice(rows), g.wheel.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			w[i].Speed += (cmd[i].X*10 - w[i].Speed) * 0.2
			pos[i].X += w[i].Speed * f.DT
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos, &g.wheel))
	g.cars = p.Query(ecs.With(&g.pos))
	return p
}

// A car changes its driver repeatedly. The driver drives it without delay, and the other player
// sees it in the past. It keeps one handle on each client, and corrections happen only at the
// change.
func TestPredictionIsHandedOver(t *testing.T) {
	m := simtest.New(41)
	truth := &traffic{}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol()})
	require.NoError(t, err)
	car := srv.Frame().Spawn(&truth.car, ecs.Nobody)
	link := sim.Link{Latency: 75 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.03}
	var clients []*client.Client
	var games []*traffic
	var handles [2]map[ecs.Entity]bool
	var ahead, steps [2]int
	for n := range 2 {
		g, last := &traffic{}, foretick.Tick(0)
		handles[n] = map[ecs.Entity]bool{}
		var was float32
		c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) driverCommand {
			if m.Net.Now() > 40*time.Second {
				return driverCommand{}
			}
			board := v.Tick/60%2 == uint32(n) && v.Tick/60 != last
			if board {
				last = v.Tick / 60
			}
			return driverCommand{X: float32(int(v.Tick/20)%2)*2 - 1, Board: board}
		})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
			if v.State != client.Playing {
				return
			}
			for _, rows := range g.cars.All(v.World) {
				handles[n][rows.Entity(0)] = true
				x := g.pos.Slice(rows)[0].X
				if rows.Owner() == v.Player {
					steps[n]++
					if at := truth.pos.Get(srv.World(), car).X; x != at && x != was {
						ahead[n]++
					}
				}
				was = x
			}
		}})
		require.NoError(t, err)
		clients, games = append(clients, c), append(games, g)
	}
	m.Run(45 * time.Second)
	require.Greater(t, len(truth.boarded), 15)
	for n, c := range clients {
		a := m.Audit(c)
		require.Zero(t, a.Differences, a.First)
		st := c.Stats()
		require.Len(t, handles[n], 1, "one car, one handle")
		require.Greater(t, steps[n], 500)
		require.Greater(t, ahead[n], steps[n]/2, "the driver's own screen is ahead of the server")
		require.Zero(t, st.ByCause.Of(prediction.Code), games[n])
		require.LessOrEqual(t, st.Mispredictions, uint64(len(truth.boarded)))
	}
}
