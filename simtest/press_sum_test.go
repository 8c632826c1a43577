package simtest_test

import (
	"fmt"
	"math/rand/v2"
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

// mouseGun turns by the movement of a mouse, and fires where it points.
type mouseGun struct {
	cmd    ecs.Component[turning]
	prefab ecs.Prefab
	shot   foretick.Event[turning]
	at     int // sum of all turns so far
	shots  []int
	tags   []uint8
}

type turning struct {
	Turn int16 `net:"sum"`
	Tag  uint8 `net:"press"` // identifies the press; an aim would be sent in the same way
	Held uint8
	Fire bool `net:"oneshot,press"`
}

func (g *mouseGun) protocol(rate int) *foretick.Protocol {
	p := foretick.NewProtocol("mouseGun", 1)
	p.SetTickRate(rate)
	p.Command(&g.cmd)
	p.Prefab(&g.prefab, "mouseGun", &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.prefab, player) })
	p.Shared("turn", func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := range g.cmd.Slice(rows) {
			if f.Replay {
				continue
			}
			if g.at += int(c.Turn); c.Fire {
				g.shot.Raise(f, rows.Entity(i), c)
			}
		}
	}, ecs.Read(&g.cmd))
	g.shot.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, c turning) { g.fired(c) })
	g.shot.OnPredicted(p, func(_ *foretick.Frame, _ foretick.By, c turning) { g.fired(c) })
	return p
}

func (g *mouseGun) fired(c turning) { g.shots, g.tags = append(g.shots, g.at), append(g.tags, c.Tag) }

// A press has the aim of its frame, and the movement of all frames of its tick, on both ends,
// however late the tick is predicted. No movement is lost, and none counts twice.
func TestPressWithASumUnderDelay(t *testing.T) {
	for _, row := range []struct {
		rate, fps    int
		delay, above time.Duration
	}{
		{30, 240, 0, 0}, {30, 240, 100 * time.Millisecond, 0}, {30, 144, 400 * time.Millisecond, 0},
		{60, 240, 0, 50 * time.Millisecond}, {30, 60, 0, 100 * time.Millisecond}, {30, 20, 200 * time.Millisecond, 0},
	} {
		t.Run(fmt.Sprintf("%+v", row), func(t *testing.T) {
			link := sim.Link{Latency: 80 * time.Millisecond}
			truth, cl := &mouseGun{}, &mouseGun{}
			m := simtest.New(5)
			srv, err := m.Serve(server.Config{Protocol: truth.protocol(row.rate)})
			require.NoError(t, err)
			random, pointed, wait := rand.New(rand.NewPCG(3, uint64(row.fps))), 0, 0
			var shots []int
			var tags []uint8
			sample := func(client.View) (c turning) {
				now := m.Net.Now()
				if c.Held = uint8(pointed); now < 5*time.Second || now > 18*time.Second {
					return c // before the clock has settled, commands come too late
				}
				c.Turn = int16(random.IntN(9) - 3)
				c.Tag = uint8(random.IntN(200)) // another tag in every frame
				pointed += int(c.Turn)
				if wait--; wait <= 0 {
					wait, c.Fire = 3*row.fps/row.rate+1, true // another frame within the tick each time
					shots, tags = append(shots, pointed), append(tags, c.Tag)
				}
				return c
			}
			c, err := m.Join(client.Config{
				Protocol: cl.protocol(row.rate), Sample: client.Sample(&cl.cmd, sample),
				InputDelay: row.delay, DelayAbove: row.above,
			}, simtest.Seat{Up: link, Down: link, FrameRate: row.fps})
			require.NoError(t, err)
			m.Run(20 * time.Second)
			require.Equal(t, row.delay+row.above > 0, c.View().InputDelay > 0)
			require.Greater(t, len(shots), 60)
			require.LessOrEqual(t, srv.Stats().InputsMissing, uint64(2), "at the start")
			require.Equal(t, cl.shots, truth.shots)
			for _, end := range []*mouseGun{truth, cl} {
				require.Len(t, end.shots, len(shots))
				for i, at := range end.shots { // the tick's other frames count too
					require.InDelta(t, shots[i], at, float64(5*(row.fps/row.rate+1)))
				}
				require.Equal(t, tags, end.tags)
				require.Equal(t, pointed, end.at)
			}
		})
	}
}
