package simtest_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// clicks is a game with one runner that runs straight, and with players that press in one
// frame of a tick, and aim elsewhere in all other frames.
type clicks struct {
	pos    ecs.Component[lane]
	tagged ecs.Component[click]
	plain  ecs.Component[plainClick]
	runner ecs.Prefab
	player ecs.Prefab
	shot   foretick.Event[aimed]
	find   *ecs.Query

	speed  float32
	me     foretick.PlayerID
	judged func(f *foretick.Frame, by foretick.PlayerID, a aimed)
	drawn  func(f *foretick.Frame, a aimed) // called on a client when the tick is predicted
}

type (
	lane struct {
		X float32 `net:"min=-4096,max=4096,step=0.001,lerp"`
	}
	aimed struct {
		X    float32
		Held int32
	}
	click struct {
		X    float32 `net:"min=-4096,max=4096,step=0.001,press"`
		Held int32
		Jump bool `net:"oneshot"`
		Fire bool `net:"oneshot,press"`
	}
	plainClick struct {
		X    float32 `net:"min=-4096,max=4096,step=0.001"`
		Fire bool    `net:"oneshot"`
	}
)

func (g *clicks) protocol(rate int, tagged bool) *foretick.Protocol {
	p := foretick.NewProtocol("clicks", 1)
	p.SetTickRate(rate)
	p.Component(&g.pos)
	command, fire := ecs.Handle(&g.plain), func(f *foretick.Frame, rows ecs.Rows) {
		for i, c := range g.plain.Slice(rows) {
			if c.Fire {
				g.shot.Raise(f, rows.Entity(i), aimed{X: c.X})
			}
		}
	}
	if tagged {
		command, fire = &g.tagged, func(f *foretick.Frame, rows ecs.Rows) {
			for i, c := range g.tagged.Slice(rows) {
				if c.Fire {
					g.shot.Raise(f, rows.Entity(i), aimed{c.X, c.Held})
				}
			}
		}
	}
	p.Command(command)
	p.Prefab(&g.player, "player", command)
	p.Prefab(&g.runner, "runner", &g.pos)
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: foretick.HitboxField(b, &g.pos).X, R: 0.5}))
	}, &g.pos)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Server("run", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos := g.pos.Slice(rows)
		for i := range pos {
			pos[i].X += g.speed * f.DT
		}
	}, ecs.Write(&g.pos))
	p.Shared("fire", fire, ecs.Read(command))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, a aimed) {
		if g.judged != nil {
			g.judged(f.Frame, by.Player, a)
		}
	}, ecs.ReadOther(&g.pos))
	g.shot.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, a aimed) {
		if g.drawn != nil {
			g.drawn(f, a)
		}
	})
	g.find = p.Query(ecs.With(&g.pos))
	return p
}

func (g *clicks) target(w *ecs.World) ecs.Entity {
	for _, rows := range g.find.All(w) {
		return rows.Entity(0)
	}
	return ecs.None
}

type clickRow struct {
	rate, fps int
	speed     float32
	tagged    bool

	delay, above time.Duration // InputDelay and DelayAbove of the client's configuration
}

// play lets a client press in each of a tick's frames in turn. It returns by how much the
// server's judgement of each press was off.
func (row clickRow) play(t *testing.T, link sim.Link) (off []float64) {
	t.Helper()
	srv, cl := &clicks{speed: row.speed}, &clicks{}
	m := simtest.New(11)
	s, err := m.Serve(server.Config{Protocol: srv.protocol(row.rate, row.tagged)})
	require.NoError(t, err)
	s.Frame().Spawn(&srv.runner, ecs.Nobody)
	late := 0
	srv.judged = func(f *foretick.Frame, by foretick.PlayerID, a aimed) {
		seen := f.Rewind(by)
		v, ok := seen.Hitbox(srv.target(f.World), 0)
		require.True(t, ok)
		ball, _ := v.Sphere()
		off = append(off, float64(max(a.X-ball.X, ball.X-a.X)))
		if seen.Reason != lagcomp.OK {
			late++
		}
		if row.tagged && a.Held == 0 {
			t.Errorf("what is held is of the last frame")
		}
	}
	random, presses, wait, kept := rand.New(rand.NewPCG(1, 2)), 0, 0, float32(0)
	sample := func(v client.View) (c click) {
		e := cl.target(v.World)
		wait--
		// The aim is elsewhere before and after the press, and the player jumps at times.
		// Without tags the game keeps the aim, as in a click of the mouse without a move.
		c = click{X: -1000, Held: int32(presses), Jump: random.IntN(3) == 0}
		if !row.tagged {
			c.X = kept
		}
		if e != ecs.None && m.Net.Now() > 6*time.Second && wait <= 0 {
			wait = 3*row.fps/row.rate + 1 // another frame within the tick each time
			presses++
			c.X, c.Fire, c.Held = cl.pos.Get(v.World, e).X, true, int32(presses)
			kept = c.X
		}
		return c
	}
	cl.drawn = func(f *foretick.Frame, a aimed) {
		v, ok := f.Rewind(cl.me).Hitbox(cl.target(f.World), 0)
		require.True(t, ok)
		ball, _ := v.Sphere()
		require.InDelta(t, a.X, ball.X, 0.01, "what its frame showed, however much later the tick is predicted")
	}
	cfg := client.Config{InputDelay: row.delay, DelayAbove: row.above, Protocol: cl.protocol(row.rate, row.tagged), Sample: client.Sample(&cl.tagged, sample)}
	if !row.tagged {
		cfg.Sample = client.Sample(&cl.plain, func(v client.View) plainClick {
			c := sample(v)
			return plainClick{c.X, c.Fire}
		})
	}
	c, err := m.Join(cfg, simtest.Seat{Up: link, Down: link, FrameRate: row.fps, After: func(v client.View) { cl.me = v.Player }})
	require.NoError(t, err)
	m.Run(20 * time.Second)
	require.Equal(t, row.delay > 0 || row.above > 0, c.View().InputDelay > 0)
	require.GreaterOrEqual(t, c.View().InputDelay, row.delay*9/10)
	require.GreaterOrEqual(t, len(off), presses-3)
	require.LessOrEqual(t, late, len(off)/50)
	return off
}

// A shot is judged at the frame in which the trigger was pressed, with the aim of that frame,
// whichever of a tick's frames it is.
func TestPressIsJudgedAtItsFrame(t *testing.T) {
	for _, row := range []clickRow{
		{rate: 30, fps: 240, speed: 10, tagged: true}, {rate: 30, fps: 240, speed: 10},
		{rate: 60, fps: 240, speed: 20, tagged: true}, {rate: 31, fps: 240, speed: 10, tagged: true},
		{rate: 30, fps: 60, speed: 10, tagged: true}, {rate: 30, fps: 20, speed: 10, tagged: true},
		{rate: 30, fps: 240, speed: 10, tagged: true, delay: 100 * time.Millisecond},
		{rate: 30, fps: 240, speed: 10, tagged: true, delay: 350 * time.Millisecond},
		{rate: 60, fps: 60, speed: 20, tagged: true, above: 80 * time.Millisecond},
	} {
		for _, link := range []sim.Link{{Latency: 50 * time.Millisecond}, {Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}} {
			off := row.play(t, link)
			most := 0.0
			for _, x := range off {
				most = max(most, x)
			}
			t.Logf("%+v, jitter %v: %d presses, at most %.4f m off", row, link.Jitter, len(off), most)
			require.Greater(t, len(off), 60)
			require.LessOrEqual(t, most, 0.01)
		}
	}
}
