package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

type (
	spot struct {
		X float32 `net:"min=-512,max=512,step=0.01,lerp"`
	}
	blink struct {
		Now bool `net:"oneshot"`
	}
)

// blinkers is a game whose players step 1.5 m aside at once, where both ends say that they may.
type blinkers struct {
	at   ecs.Component[spot]
	cmd  ecs.Component[blink]
	body ecs.Prefab
	all  *ecs.Query

	may  func(t foretick.Tick) bool
	mark bool // the step is marked as a teleport
}

func (g *blinkers) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("blink", 1)
	p.Component(&g.at, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.at, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	p.Shared("blink", func(f *foretick.Frame, rows ecs.Rows) {
		for i, at := 0, g.at.Slice(rows); i < len(at); i++ {
			if g.cmd.Slice(rows)[i].Now && g.may(f.Tick) {
				at[i].X += 1.5
				if g.mark {
					f.Teleport(rows.Entity(i))
				}
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.at))
	g.all = p.Query(ecs.With(&g.at))
	return p
}

// A correction that takes a predicted teleport away shows the true place at once, although it is nearer
// than SmoothLimit. So does one that adds a teleport. Without the mark both fade.
func TestMispredictedTeleportsDoNotSlide(t *testing.T) {
	for _, mark := range []bool{true, false} {
		for _, interval := range []int{1, 3} { // ticks from snapshot to snapshot
			n := sim.NewNetwork(4)
			listen := n.Listen()
			sg, cg := blinkers{mark: mark}, blinkers{mark: mark}
			sg.may = func(t foretick.Tick) bool { return t%2 == 0 }
			cg.may = func(t foretick.Tick) bool { return t%3 == 0 }
			srv, err := server.New(server.Config{Protocol: sg.protocol(), Transport: listen, SnapshotRate: 30 / interval})
			require.NoError(t, err)
			link := sim.Link{Latency: 60 * time.Millisecond}
			press := false
			cli, err := client.New(client.Config{
				Protocol: cg.protocol(), Transport: n.Dial(listen, link, link),
				Sample: client.Sample(&cg.cmd, func(client.View) (c blink) {
					c.Now, press = press, false
					return c
				}),
			})
			require.NoError(t, err)
			places := cli.View().World
			epoch := time.Unix(0, 0)
			between, frames := 0, 0
			for now := time.Duration(0); now < 30*time.Second; now += time.Second / 60 {
				n.Run(now)
				srv.Step(epoch.Add(now))
				press = now > 2*time.Second && frames%61 == 0
				frames++
				cli.Step(epoch.Add(now))
				if e := cg.all.FirstOwned(places, cli.View().Player); e != ecs.None {
					if x := float64(cg.at.Get(places, e).X); x-1.5*float64(int(x/1.5+0.01)) > 0.02 {
						between++
					}
				}
			}
			st := cli.Stats()
			t.Logf("mark %v, every %d ticks: %d frames between, %d corrections, %d jumps by teleport, %d by limit", mark, interval, between, st.Mispredictions, st.JumpsByTeleport, st.JumpsByLimit)
			require.Greater(t, st.Mispredictions, uint64(5))
			require.Zero(t, st.JumpsByLimit)
			if mark {
				require.Zero(t, between)
				require.Greater(t, st.JumpsByTeleport, uint64(5))
			} else {
				require.Greater(t, between, 50)
				require.Zero(t, st.JumpsByTeleport)
			}
		}
	}
}
