package simtest_test

import (
	"fmt"
	"math"
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

// steering is a command with movements, which add up, and a held button.
type steering struct {
	Yaw   float32 `net:"min=-2,max=2,step=0.01,sum"`
	Wheel int8    `net:"max=20,sum"`
	Raw   float64 `net:"sum"`
	Held  int16
	Fire  bool `net:"oneshot"`
}

// helm is a game whose system runs the steering command.
type helm struct {
	cmd    ecs.Component[steering]
	prefab ecs.Prefab
	ran    map[foretick.Tick]steering // command that each tick ran with
}

func (g *helm) protocol(rate int) *foretick.Protocol {
	g.ran = map[foretick.Tick]steering{}
	p := foretick.NewProtocol("helm", 1)
	p.SetTickRate(rate)
	p.Command(&g.cmd)
	p.Prefab(&g.prefab, "helm", &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.prefab, player) })
	p.Shared("steer", func(f *foretick.Frame, rows ecs.Rows) {
		for _, c := range g.cmd.Slice(rows) {
			g.ran[f.Tick] = c
		}
	}, ecs.Read(&g.cmd))
	return p
}

// moved is a total of movements.
type moved struct {
	yaw, raw float64
	wheel    int
}

func (m *moved) add(c steering) {
	m.yaw, m.raw, m.wheel = m.yaw+float64(c.Yaw), m.raw+c.Raw, m.wheel+int(c.Wheel)
}

// steerFor plays a match in which a player moves for some seconds, and rests before and
// after. It returns what its frames moved, and both ends.
func steerFor(t *testing.T, rate, fps int, link sim.Link, seed uint64) (frames moved, truth, cl *helm, srv *server.Server, cli *client.Client) {
	t.Helper()
	m := simtest.New(seed)
	truth, cl = &helm{}, &helm{}
	srv, err := m.Serve(server.Config{Protocol: truth.protocol(rate)})
	require.NoError(t, err)
	random, n := rand.New(rand.NewPCG(seed, 5)), 0
	per := 30 / float64(fps) // a second's movement is the same whatever the frame rate
	cli, err = m.Join(client.Config{Protocol: cl.protocol(rate), Sample: client.Sample(&cl.cmd, func(client.View) (c steering) {
		n++
		c.Held = int16(n)
		if now := m.Net.Now(); now < 4*time.Second || now > 20*time.Second {
			return c // before the clock has settled, commands come too late
		}
		c.Yaw = float32((random.Float64() - 0.4) * per)
		c.Raw = math.Round(random.Float64()*1000) / 64 // added without rounding
		c.Wheel = int8(random.IntN(5) - 2)
		c.Fire = random.IntN(20) == 0
		frames.add(c)
		return c
	})}, simtest.Seat{Up: link, Down: link, FrameRate: fps})
	require.NoError(t, err)
	m.Run(22 * time.Second)
	return frames, truth, cl, srv, cli
}

// The movements of a client's frames and of its ticks have the same sum, whatever both rates are.
// Nothing is lost between two ticks, and nothing counts twice if a frame makes several commands.
// Rounding errors are added to the next command.
func TestSumsAreWhole(t *testing.T) {
	for _, rate := range []int{30, 60} {
		for _, fps := range []int{5, 13, 30, 60, 144, 240} {
			t.Run(fmt.Sprintf("%d ticks, %d frames", rate, fps), func(t *testing.T) {
				link := sim.Link{Latency: 40 * time.Millisecond}
				frames, srv, _, _, cli := steerFor(t, rate, fps, link, uint64(fps))
				var ticks moved
				for _, c := range srv.ran {
					ticks.add(c)
				}
				require.InDelta(t, frames.yaw, ticks.yaw, 0.006, "within half a step")
				require.InDelta(t, frames.raw, ticks.raw, 1e-9)
				require.Equal(t, frames.wheel, ticks.wheel)
				require.Greater(t, frames.raw, 100.)
				require.Zero(t, cli.Stats().ValuesOutside)
			})
		}
	}
}

// Movement survives lost packets by redundancy. A command is missing only if every packet with it
// is lost. Its movement is then lost, since its replacement moves nothing.
func TestSumsSurviveLoss(t *testing.T) {
	for _, loss := range []float64{0.02, 0.05, 0.2} {
		frames, truth, cl, srv, _ := steerFor(t, 30, 60, sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: loss}, 9)
		var ticks, missed moved
		differ := 0
		for k, c := range cl.ran {
			other, both := truth.ran[k]
			if !both {
				continue // newer than the server
			}
			ticks.add(other)
			if c == other {
				continue
			}
			if differ++; c.Yaw != other.Yaw || c.Wheel != other.Wheel || c.Raw != other.Raw {
				require.Zero(t, moved{float64(other.Yaw), other.Raw, int(other.Wheel)}, "tick %d: a stand-in moves nothing", k)
			}
			missed.add(c)
		}
		missing := int(srv.Stats().InputsMissing)
		t.Logf("loss %.0f %%: %d of %d ticks without their command", loss*100, missing, len(truth.ran))
		require.LessOrEqual(t, differ, missing)
		require.LessOrEqual(t, float64(missing), (0.01+loss*loss*loss)*float64(len(truth.ran)))
		require.InDelta(t, frames.yaw, ticks.yaw+missed.yaw, 0.01)
		require.InDelta(t, frames.raw, ticks.raw+missed.raw, 1e-9)
		require.Equal(t, frames.wheel, ticks.wheel+missed.wheel)
	}
}

// The next ticks take the movement beyond the range of a tick, or of the field's type. What would take more than a
// quarter of a second is lost and counted.
func TestSumsOutOfRange(t *testing.T) {
	type turn struct {
		Ranged int8    `net:"max=100,sum"`
		Whole  int8    `net:"sum"`
		Fits   int16   `net:"max=1000,sum"`
		Angle  float32 `net:"min=-0.5,max=0.5,step=0.001,sum"`
	}
	type total struct {
		ranged, whole, fits int
		angle               float64
		ticks               int // with movement
	}
	play := func(frame turn, flick, pause int) (moved, truth, shown total, cli *client.Client) {
		var srv, cl ecs.Component[turn]
		declare := func(c *ecs.Component[turn], sum *total) *foretick.Protocol {
			p, prefab := foretick.NewProtocol("turns", 1), new(ecs.Prefab)
			p.Command(c)
			p.Prefab(prefab, "player", c)
			p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(prefab, player) })
			p.Shared("turn", func(f *foretick.Frame, rows ecs.Rows) {
				for _, c := range c.Slice(rows) {
					if f.Replay {
						continue
					}
					sum.ranged, sum.whole, sum.fits, sum.angle = sum.ranged+int(c.Ranged), sum.whole+int(c.Whole), sum.fits+int(c.Fits), sum.angle+float64(c.Angle)
					if c != (turn{}) {
						sum.ticks++
					}
				}
			}, ecs.Read(c))
			return p
		}
		m := simtest.New(3)
		_, err := m.Serve(server.Config{Protocol: declare(&srv, &truth)})
		require.NoError(t, err)
		n := 0
		cli, err = m.Join(client.Config{Protocol: declare(&cl, &shown), Sample: client.Sample(&cl, func(client.View) turn {
			n++
			if now := m.Net.Now(); now < 3*time.Second || now > 18*time.Second || n%pause >= flick {
				return turn{}
			}
			moved.ranged, moved.whole, moved.fits, moved.angle = moved.ranged+int(frame.Ranged), moved.whole+int(frame.Whole), moved.fits+int(frame.Fits), moved.angle+float64(frame.Angle)
			return frame
		})}, simtest.Seat{FrameRate: 120})
		require.NoError(t, err)
		m.Run(20 * time.Second)
		return moved, truth, shown, cli
	}
	moved, truth, shown, cli := play(turn{90, 120, -900, 0.7}, 4, 80)
	require.Greater(t, moved.ranged, 20*360)
	require.Equal(t, []int{moved.ranged, moved.whole, moved.fits}, []int{truth.ranged, truth.whole, truth.fits}, "no movement is lost")
	require.InDelta(t, moved.angle, truth.angle, 0.01)
	require.Equal(t, truth, shown, "both ends turn alike")
	require.Zero(t, cli.Stats().ValuesOutside)
	require.Empty(t, cli.Losses(nil))

	moved, truth, shown, cli = play(turn{100, 127, 1000, 0.5}, 60, 240) // half a second of four ranges a tick
	flicks := moved.ranged / 60 / 100
	require.Equal(t, truth, shown)
	require.InDelta(t, (15+7)*flicks, truth.ticks, float64(flicks), "it ends a quarter of a second after the movement")
	require.InDelta(t, 100*truth.ticks, truth.ranged, float64(100*flicks))
	counted := map[string]uint64{}
	for _, l := range cli.Losses(nil) {
		counted[l.Field] = l.Outside
	}
	for _, field := range []string{"Ranged", "Whole", "Fits", "Angle"} {
		require.GreaterOrEqual(t, counted[field], uint64(5*flicks), "%v: each field of a tick is counted", counted)
	}
	require.GreaterOrEqual(t, cli.Stats().ValuesOutside, counted["Ranged"])
	require.Less(t, cli.Stats().ValuesOutside, counted["Ranged"]+counted["Whole"], "a command counts once")
}
