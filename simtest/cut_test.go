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

type blinkCommand struct {
	Blink bool `net:"oneshot"`
}

// leaper is a body at one of two places. It jumps between them on its player's command, which
// is predicted, and by a server system, which is not. Both jumps are shorter than the largest
// correction that fades.
type leaper struct {
	pos  ecs.Component[position]
	cmd  ecs.Component[blinkCommand]
	body ecs.Prefab
	mark bool // jumps are marked with Teleport
}

const leap = 1.5

func (g *leaper) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("leap", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.pos, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.body, player) })
	to := func(f *foretick.Frame, rows ecs.Rows, i int, at *float32) {
		*at = leap - *at
		if g.mark {
			f.Teleport(rows.Entity(i))
		}
	}
	p.Shared("blink", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			if cmd[i].Blink {
				to(f, rows, i, &pos[i].X)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Server("throw", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos := g.pos.Slice(rows)
		for i := range pos {
			if (f.Tick+uint32(rows.Owner())*7)%41 == 0 {
				to(f.Frame, rows, i, &pos[i].Y)
			}
		}
	}, ecs.Write(&g.pos))
	return p
}

// between counts the frames that showed a body between its two places, and all frames with a
// body.
func (g *leaper) between(w *ecs.World) (wrong, all int) {
	q := ecs.NewQuery(w.Types(), ecs.With(&g.pos))
	for _, rows := range q.All(w) {
		for _, p := range g.pos.Slice(rows) {
			all++
			if (p.X != 0 && p.X != leap) || (p.Y != 0 && p.Y != leap) {
				wrong++
			}
		}
	}
	return wrong, all
}

// No frame shows a body between the ends of a marked jump: neither by interpolation, of
// remote players or of the player's own last two ticks, nor by a fading correction. Without
// the mark the same match does show it, which proves the test.
func TestTeleportIsShownAtOnce(t *testing.T) {
	play := func(mark bool) (wrong, all int, corrections uint64) {
		m := simtest.New(5)
		g := &leaper{mark: mark}
		_, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05}
		var clients []*client.Client
		for n := range 2 {
			cg, pressed := &leaper{mark: mark}, foretick.Tick(0)
			c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) blinkCommand {
				blink := v.Tick%53 == uint32(n)*9 && v.Tick != pressed && m.Net.Now() < 38*time.Second
				if blink {
					pressed = v.Tick
				}
				return blinkCommand{Blink: blink}
			})}, simtest.Seat{Up: link, Down: link, After: func(v client.View) {
				if v.State == client.Playing {
					w, a := cg.between(v.World)
					wrong, all = wrong+w, all+a
				}
			}})
			require.NoError(t, err)
			clients = append(clients, c)
		}
		m.Run(40 * time.Second)
		for _, c := range clients {
			st := c.Stats()
			corrections += st.Mispredictions
		}
		return wrong, all, corrections
	}
	wrong, all, corrections := play(true)
	require.Greater(t, all, 8000)
	require.Greater(t, corrections, uint64(30), "the throws are not predicted")
	require.Zero(t, wrong)
	wrong, _, _ = play(false)
	require.Greater(t, wrong, 200)
}
