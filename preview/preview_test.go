package preview_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

type (
	stagePlace struct {
		X float32 `net:"min=-512,max=512,step=0.25,lerp"`
	}
	stageLabel struct {
		Text string  `net:"max=30"`
		Tilt float32 `net:"min=-8,max=8,step=0.5,lerp"`
	}
	stageLocal struct{ Frames int }
	stageScore struct{ N int32 }
	stageInput struct {
		Go   bool
		Fire bool  `net:"oneshot"`
		Turn int16 `net:"min=-1000,max=1000,sum"`
	}
	stageShot struct{ N int }
	stageTalk struct {
		Text string `net:"max=40"`
	}
)

// stageGame has every kind of hook that a game can have, and logs each call.
type stageGame struct {
	place  ecs.Component[stagePlace]
	label  ecs.Component[stageLabel]
	local  ecs.Component[stageLocal]
	input  ecs.Component[stageInput]
	score  ecs.Singleton[stageScore]
	avatar ecs.Prefab
	shot   ecs.Prefab
	target ecs.Prefab
	fired  foretick.Event[stageShot]
	silent foretick.Event[stageShot]
	talk   foretick.Request[stageTalk]
	said   foretick.Message[stageTalk]

	me     ecs.Entity
	turned int
	aimed  []ecs.Entity
	now    stageInput // the player's input
	log    []string
	drawn  []float32 // the avatar's X in each frame
	drawDT []float32
	mess   bool // the render system writes a component that it must not
	refuse bool
}

func (g *stageGame) note(format string, a ...any) { g.log = append(g.log, fmt.Sprintf(format, a...)) }

func (g *stageGame) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("stage", 1)
	p.SetTickRate(10)
	p.Component(&g.place, foretick.Predicted())
	p.Component(&g.label)
	p.LocalComponent(&g.local)
	p.Singleton(&g.score)
	p.Command(&g.input)
	p.Prefab(&g.avatar, "avatar", &g.place, &g.label, &g.input)
	p.Prefab(&g.shot, "shot", &g.place)
	p.Prefab(&g.target, "target", &g.place)
	p.Spawns(&g.shot, foretick.SpawnConfig{
		OnPredicted: func(f *foretick.Frame, _ ecs.Entity) { g.note("%d spawn %v", f.Tick, f.IsServer()) },
		OnConfirmed: func(*foretick.Frame, ecs.Entity) { g.note("confirmed") },
	})
	foretick.Hitbox(p, &g.place, func(at *stagePlace) lagcomp.Sphere { return lagcomp.Sphere{X: at.X, R: 0.25} })
	foretick.CheckCommand(p, &g.input, func(*foretick.Frame, foretick.PlayerID, stageInput) error {
		if g.refuse {
			return errors.New("not now")
		}
		return nil
	})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.note("%d join %d %v", f.Tick, player, f.IsServer())
		g.me = f.Spawn(&g.avatar, player)
		g.label.Get(f.World, g.me).Text = "me"
	})
	p.OnLeave(func(f *foretick.ServerFrame, player foretick.PlayerID) { g.note("leave %d", player) })
	p.OnLevel(func(f *foretick.Frame, data []byte) { g.note("level %s %v", data, f.IsServer()) })
	p.OnAppear(func(f *foretick.Frame, e ecs.Entity) {
		g.note("appear %v", f.IsServer())
		g.local.Add(f.World, e, stageLocal{})
	}, foretick.OfPrefab(&g.avatar))
	p.OnVanish(func(*foretick.Frame, ecs.Entity) { g.note("vanish") }, foretick.OfPrefab(&g.avatar))
	g.talk.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v stageTalk) {
		g.note("%d asked %s", f.Tick, v.Text)
		_ = g.said.Send(f, player, stageTalk{v.Text + "!"})
	})
	g.said.OnClient(p, func(f *foretick.Frame, t foretick.Tick, v stageTalk) {
		g.note("%d said %s %v", t, v.Text, f.IsServer())
	})
	p.Shared("move", g.move, ecs.Read(&g.input), ecs.Write(&g.place), ecs.Create(&g.place))
	p.Server("tilt", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range g.label.Slice(rows) {
			g.label.Slice(rows)[i].Tilt += 0.3 // in steps that are too fine to be sent, but are not rounded here
		}
		g.score.Get(f.World).N++
	}, ecs.Write(&g.label), ecs.Write(&g.score))
	p.Shared("mine", func(*foretick.Frame, ecs.Rows) { g.log = append(g.log, "client's") }, ecs.Once(), ecs.Tags(foretick.TagClient))
	p.Render("paint", g.paint, ecs.Once(), ecs.WriteOther(&g.place, &g.label, &g.local), ecs.Write(&g.score), ecs.Create(&g.label))
	g.fired.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, v stageShot) {
		g.note("%d server %d", f.Tick, v.N)
		if hit, ok := f.Rewind(by.Player).Nearest(lagcomp.Vec{}, 1000); ok {
			g.aimed = append(g.aimed, hit.Entity)
		}
	})
	g.fired.OnPredicted(p, func(f *foretick.Frame, _ foretick.By, v stageShot) {
		g.note("%d predicted %d %v", f.Tick, v.N, f.IsServer())
	})
	g.fired.OnConfirmed(p, func(_ *foretick.Frame, _ foretick.By, v stageShot) { g.note("confirmed %d", v.N) })
	g.silent.OnPredicted(p, func(_ *foretick.Frame, _ foretick.By, v stageShot) { g.note("silent %d", v.N) })
	return p
}

func (g *stageGame) move(f *foretick.Frame, rows ecs.Rows) {
	at, in := g.place.Slice(rows), g.input.Slice(rows)
	for i := range at {
		if in[i].Go {
			at[i].X += 1
		}
		g.turned += int(in[i].Turn)
		if in[i].Fire {
			g.fired.Raise(f, rows.Entity(i), stageShot{int(f.Tick)})
			g.silent.Raise(f, rows.Entity(i), stageShot{int(f.Tick)})
			f.SpawnBy(rows.Entity(i), &g.shot)
		}
	}
}

func (g *stageGame) paint(f *foretick.Frame, _ ecs.Rows) {
	at := g.place.Find(f.World, g.me)
	if at == nil {
		return
	}
	g.drawn, g.drawDT = append(g.drawn, at.X), append(g.drawDT, f.DT)
	if l := g.local.Find(f.World, g.me); l != nil {
		l.Frames++
	}
	if g.mess {
		at.X = -99
		g.label.Get(f.World, g.me).Text += "?"
		g.score.Get(f.World).N = -1
		g.label.Remove(f.World, g.me)
	}
}

// preview makes a preview of the game, and a function that steps it by a time.
func (g *stageGame) preview(t *testing.T) (*preview.Preview, func(time.Duration) client.View) {
	p, err := preview.New(server.Config{Protocol: g.Protocol()}, client.Config{
		Sample: client.Sample(&g.input, func(client.View) stageInput {
			in := g.now
			g.now.Fire, g.now.Turn = false, 0
			return in
		}),
		OnSession: func(s client.Session) { g.note("session %v", s.Kind) },
		OnRefused: func(t foretick.Tick, why string) { g.note("%d refused %s", t, why) },
	})
	require.NoError(t, err)
	at := time.Unix(1000, 0)
	return p, func(by time.Duration) client.View {
		at = at.Add(by)
		return p.Step(at)
	}
}

const stageTick = 100 * time.Millisecond

func stripped(log []string, what string) (n int, rest []string) {
	for _, line := range log {
		if line == what {
			n++
		} else {
			rest = append(rest, line)
		}
	}
	return n, rest
}

// In a preview every hook of a server or a client is called once, in the order of a match.
func TestPreviewTellsEverything(t *testing.T) {
	g := &stageGame{}
	p, step := g.preview(t)
	require.ErrorIs(t, g.talk.Send(p, stageTalk{"early"}), foretick.ErrNotPlaying)
	v := step(0)
	require.Equal(t, client.Playing, v.State)
	require.Equal(t, foretick.Tick(1), v.Tick)
	require.Equal(t, foretick.PlayerID(1), v.Player)
	require.Equal(t, []string{"session joined", "1 join 1 true", "client's", "appear false"}, g.log)
	require.NoError(t, g.talk.Send(p, stageTalk{"hello"}))
	g.log = nil
	g.now = stageInput{Fire: true}
	step(stageTick / 2) // no tick has the press yet
	require.Empty(t, g.log)
	step(stageTick / 2)
	require.Equal(t, []string{"2 asked hello", "client's", "2 server 2", "2 said hello! false", "2 spawn false", "confirmed", "2 predicted 2 false", "confirmed 2", "silent 2"}, g.log)
	g.log = nil
	for range 20 {
		step(stageTick / 2)
	}
	n, rest := stripped(g.log, "client's")
	require.Equal(t, 10, n)
	require.Empty(t, rest)
	g.log, g.refuse = nil, true
	step(stageTick)
	_, rest = stripped(g.log, "client's")
	require.Equal(t, []string{"13 refused not now"}, rest)
	g.log, g.refuse = nil, false
	require.NoError(t, p.Server().NextLevel([]byte("two"), func(f *foretick.ServerFrame) { g.me = f.Spawn(&g.avatar, 1) }))
	step(stageTick)
	_, rest = stripped(g.log, "client's")
	require.Equal(t, []string{"level two false", "vanish", "appear false"}, rest)
	g.log = nil
	p.Edit(func(f *foretick.ServerFrame) { f.Kick(1, transport.FirstUserCode, "enough") })
	v = step(stageTick)
	require.Equal(t, client.Closed, v.State)
	var why *transport.DisconnectError
	require.ErrorAs(t, v.Err, &why)
	require.Equal(t, transport.FirstUserCode, why.Code)
	require.ErrorIs(t, g.talk.Send(p, stageTalk{"late"}), foretick.ErrNotPlaying)
	_, rest = stripped(g.log, "client's")
	require.Equal(t, []string{"leave 1"}, rest, "a kicked player leaves at once")
	require.NoError(t, p.Close())
	_, rest = stripped(g.log, "client's")
	require.Equal(t, []string{"leave 1"}, rest)
}

// Frames are drawn between the newest two ticks. A tick computes the same as without frames, and writes
// to the client's local components stay.
func TestPreviewDrawsBetweenTicks(t *testing.T) {
	g := &stageGame{mess: true}
	p, step := g.preview(t)
	step(0)
	g.now.Go = true
	step(stageTick)
	g.drawn, g.drawDT = nil, nil
	for range 8 {
		step(stageTick / 4)
	}
	require.Equal(t, []float32{0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2}, g.drawn)
	for _, dt := range g.drawDT {
		require.InDelta(t, 0.025, dt, 1e-6)
	}
	p.Edit(func(f *foretick.ServerFrame) {
		require.Equal(t, float32(3), g.place.Get(f.World, g.me).X)
		require.Equal(t, "me", g.label.Get(f.World, g.me).Text)
		require.InDelta(t, 1.2, g.label.Get(f.World, g.me).Tilt, 1e-6)
		require.Equal(t, int32(4), g.score.Get(f.World).N)
		require.Equal(t, 10, g.local.Get(f.World, g.me).Frames)
	})
}

// A teleport is not drawn as a movement.
func TestPreviewDrawsNoWayAcrossATeleport(t *testing.T) {
	g := &stageGame{}
	p, step := g.preview(t)
	step(0)
	step(stageTick)
	require.NoError(t, p.Server().Do("test", func(f *foretick.ServerFrame) {
		g.place.Get(f.World, g.me).X = 100
		f.Teleport(g.me)
	}))
	g.drawn = nil
	step(stageTick)
	step(stageTick / 2)
	require.Equal(t, []float32{100, 100}, g.drawn)
}

// What an edit changes is drawn there from the next frame on, also while the match is paused in the middle of a tick.
// All else is drawn between two ticks as before.
func TestPreviewDrawsAnEditAtOnce(t *testing.T) {
	g := &stageGame{}
	p, step := g.preview(t)
	step(0)
	step(stageTick)
	g.now.Go = true
	step(stageTick)
	step(stageTick / 2)
	require.Equal(t, float32(0.5), g.drawn[len(g.drawn)-1])
	p.Pause(true)
	p.Edit(func(f *foretick.ServerFrame) { g.label.Get(f.World, g.me).Text = "you" })
	step(stageTick)
	require.Equal(t, float32(0.5), g.drawn[len(g.drawn)-1], "it was not moved")
	for _, x := range []float32{40, -20} {
		p.Edit(func(f *foretick.ServerFrame) { g.place.Get(f.World, g.me).X = x })
		step(stageTick)
		step(stageTick)
		require.Equal(t, []float32{x, x}, g.drawn[len(g.drawn)-2:])
	}
	p.Pause(false)
	step(stageTick / 2)
	step(stageTick / 2)
	require.Equal(t, []float32{-20, -19.5}, g.drawn[len(g.drawn)-2:], "it goes on from there")
}

// A paused match does not tick, but is drawn. StepTick computes one tick and shows its state. The time
// scale changes how often ticks come, but not what they do.
func TestPreviewTime(t *testing.T) {
	g := &stageGame{}
	p, step := g.preview(t)
	step(0)
	g.now.Go = true
	step(stageTick)
	p.Pause(true)
	g.drawn, g.drawDT = nil, nil
	for range 3 {
		require.Equal(t, foretick.Tick(2), step(stageTick).Tick)
	}
	require.Equal(t, []float32{0, 0, 0}, g.drawn)
	require.Equal(t, []float32{0, 0, 0}, g.drawDT)
	g.now.Turn = 5 // pressed while no time passes: for the editor, not for the game
	step(stageTick)
	p.StepTick()
	v := step(stageTick)
	require.Equal(t, foretick.Tick(3), v.Tick)
	require.Equal(t, float32(1), v.Fraction)
	require.Equal(t, float32(2), g.drawn[len(g.drawn)-1])
	p.StepTick()
	p.StepTick()
	require.Equal(t, foretick.Tick(5), step(time.Hour).Tick)
	p.Edit(func(f *foretick.ServerFrame) { g.place.Get(f.World, g.me).X = 40.3 })
	step(stageTick)
	require.InDelta(t, 40.3, g.drawn[len(g.drawn)-1], 0.02)
	p.Edit(func(f *foretick.ServerFrame) {
		require.NotEqual(t, float32(40.3), g.place.Get(f.World, g.me).X, "it is rounded to the simulation step")
	})
	p.Pause(false)
	p.SetTimeScale(0.25)
	was := step(0).Tick
	for range 8 {
		step(stageTick)
	}
	require.Equal(t, was+2, step(0).Tick)
	p.SetTimeScale(10)
	require.Equal(t, was+12, step(stageTick).Tick)
	p.SetTimeScale(1)
	require.Equal(t, was+16, step(time.Hour).Tick, "a halt of the program is no time of the match")
	require.Equal(t, 5, g.turned)
	for _, scale := range []float64{0, -1, 101, nan()} {
		require.Panics(t, func() { p.SetTimeScale(scale) })
	}
	require.Panics(t, func() { p.Server().Step(time.Now()) })
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// Presses in all frames since the last tick count once, and sums are added up. A frame that makes
// several commands gives its press to the first one.
func TestPreviewGathersInput(t *testing.T) {
	g := &stageGame{}
	_, step := g.preview(t)
	step(0)
	for range 10 {
		g.now = stageInput{Fire: true, Turn: 3}
		step(stageTick / 10)
	}
	step(stageTick)
	g.now = stageInput{Fire: true, Turn: 1500}
	step(3 * stageTick)
	shots := 0
	for _, line := range g.log {
		if len(line) > 8 && line[2:8] == "server" {
			shots++
		}
	}
	require.Equal(t, 2, shots)
	require.Equal(t, 1530, g.turned)
}

// A shot is judged by what the player's frame showed, as in a match.
func TestPreviewJudgesWhatWasDrawn(t *testing.T) {
	g := &stageGame{}
	p, step := g.preview(t)
	target := p.Server().Frame().Spawn(&g.target, ecs.Nobody)
	step(0)
	step(stageTick)
	g.now.Fire = true
	step(stageTick)
	require.Equal(t, []ecs.Entity{target}, g.aimed)
}
