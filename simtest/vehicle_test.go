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

type wheels struct {
	Speed float32 `net:"min=-40,max=40,step=0.01"`
}

// garage is a game with a car, driven by its owner.
type garage struct {
	pos   ecs.Component[position]
	wheel ecs.Component[wheels]
	cmd   ecs.Component[move]
	car   ecs.Prefab
	body  ecs.Prefab
	cars  *ecs.Query
	drove func(f *foretick.Frame, at position) // called after each tick of the car
}

func (g *garage) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("garage", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.wheel, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.car, "car", &g.pos, &g.wheel, &g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("drive", func(f *foretick.Frame, rows ecs.Rows) {
		pos, wheel, cmd := g.pos.Slice(rows), g.wheel.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			wheel[i].Speed += cmd[i].X*8*f.DT - wheel[i].Speed*f.DT
			pos[i].X += wheel[i].Speed * f.DT
			if g.drove != nil {
				g.drove(f, pos[i])
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos, &g.wheel))
	g.cars = p.Query(ecs.With(&g.wheel))
	return p
}

// The owner of a car predicts it: the driver drives it without delay and predicts it exactly,
// and the other player sees it where the server had it. When the driver changes, prediction
// moves to the new one.
func TestVehicleChangesDriver(t *testing.T) {
	m := simtest.New(6)
	g := &garage{}
	srv1 := map[foretick.Tick]position{}
	g.drove = func(f *foretick.Frame, at position) { srv1[f.Tick] = at }
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(t, err)
	link := sim.Link{Latency: 80 * time.Millisecond, Jitter: 5 * time.Millisecond}
	var clients []*client.Client
	predicted := [3]map[foretick.Tick]position{{}, {}, {}} // predicted positions, by owner
	for range 2 {
		cg := &garage{}
		var c *client.Client
		cg.drove = func(f *foretick.Frame, at position) {
			if !f.Replay {
				predicted[c.View().Player][f.Tick] = at
			}
		}
		c, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) move {
			if m.Net.Now() > 16*time.Second {
				return move{}
			}
			x := float32(int(v.Tick/15)%3 - 1)
			if v.Player == 2 {
				x = -x
			}
			return move{X: x}
		})}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		clients = append(clients, c)
	}
	m.Run(2 * time.Second)
	car := srv.Frame().Spawn(&g.car, 1)
	var changes []foretick.Tick
	for n, at := range []time.Duration{6, 9, 12} {
		m.Run(at * time.Second)
		require.NoError(t, srv.World().Transfer(car, foretick.PlayerID(2-n%2)))
		changes = append(changes, srv.Tick()+1)
	}
	m.Run(20 * time.Second)
	driver := func(k foretick.Tick) (player foretick.PlayerID) {
		player = 1
		for _, c := range changes {
			if k >= c {
				player = 3 - player
			}
		}
		return player
	}
	settled := func(k foretick.Tick) bool { // reports whether a tick is far enough from a change of drivers
		for _, c := range changes {
			if k+30 > c && k < c+30 {
				return false
			}
		}
		return k > 100
	}
	exact, wrong, foreign := 0, 0, 0
	for player := foretick.PlayerID(1); player <= 2; player++ {
		for k, at := range predicted[player] {
			truth, ok := srv1[k]
			switch {
			case !ok || !settled(k):
			case driver(k) != player:
				foreign++
			default:
				// The values on both ends are not rounded yet.
				if at == truth {
					exact++
				} else {
					wrong++
				}
			}
		}
	}
	t.Logf("%d predicted exactly, %d not, %d by somebody who did not drive", exact, wrong, foreign)
	require.Zero(t, wrong)
	require.Zero(t, foreign)
	require.Greater(t, exact, 300)
	for _, c := range clients {
		require.Zero(t, m.Audit(c).Differences, m.Audit(c).First)
		st := c.Stats()
		require.Zero(t, st.ByCause.Of(prediction.Code))
		require.LessOrEqual(t, st.Mispredictions, uint64(4))
	}
}
