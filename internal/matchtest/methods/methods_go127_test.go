//go:build go1.27

package methods_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

type place struct {
	X    float32 `net:"min=-100,max=100,step=0.01,lerp"`
	Life uint32  `net:"min=0,max=100"`
}

type pad struct {
	Push float32 `net:"min=-1,max=1,step=0.25"`
}

// game has two drones, of which one is far away, and players that shoot at the near one. It notes what
// its functions are called with.
type game struct {
	place         ecs.Component[place]
	pad           ecs.Component[pad]
	player, drone ecs.Prefab
	places        *ecs.Query
	near          ecs.Entity
	said          []string
}

func (g *game) say(format string, args ...any) { g.said = append(g.said, fmt.Sprintf(format, args...)) }

func (g *game) refuse(f *foretick.Frame, player foretick.PlayerID, cmd pad) error {
	g.say("CheckCommand %d %d %v", f.Tick, player, cmd)
	if cmd.Push == 1 {
		return errors.New("too hard")
	}
	return nil
}

func (g *game) fade(cmd *pad, missing int) {
	cmd.Push /= 2
	g.say("Decay %v %d", *cmd, missing)
}

func (g *game) between(from, to place, t float32) place {
	g.say("Interpolate %v %v %v", from, to, t)
	return from
}

func (g *game) guess(_ *foretick.Frame, _ ecs.Entity, ahead int, cmd *pad) {
	cmd.Push = 0.25
	g.say("PredictRemote %d", ahead)
}

func (g *game) at(v *place) (x, y, z float32) {
	g.say("Interest %v", *v)
	return v.X, 0, 0
}

func (g *game) ball(v *place) lagcomp.Sphere {
	g.say("Hitbox %v", *v)
	return lagcomp.Sphere{X: v.X, R: 1}
}

func (g *game) life(v *place) uint32 {
	g.say("LifeID %v", *v)
	return v.Life
}

func (g *game) box(b *foretick.HitboxBuilder, v *place) {
	g.say("HitboxField %v", *v)
	b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: v.X, Y: 5, R: 1}))
}

// protocol declares the game, by functions or by methods.
func (g *game) protocol(methods bool) *foretick.Protocol {
	p := foretick.NewProtocol("methods", 1)
	p.Component(&g.place, foretick.Predicted(), foretick.FullPrecision())
	p.Command(&g.pad)
	p.Prefab(&g.player, "player", &g.place, &g.pad)
	p.Prefab(&g.drone, "drone", &g.place)
	area := snapshot.AreaConfig{Enter: 30, Leave: 40}
	started := place{X: 3, Life: 1}
	componentAt := foretick.ComponentAt[place]
	if methods {
		componentAt = func(v foretick.HitView, c *ecs.Component[place], e ecs.Entity) (place, bool) {
			return v.Component(c, e)
		}
		p.Default(&g.drone, &g.place, started)
		p.CheckCommand(&g.pad, g.refuse)
		p.Decay(&g.pad, g.fade)
		p.Interpolate(&g.place, g.between)
		p.PredictRemote(&g.pad, g.guess, foretick.RemoteConfig{})
		p.Interest(&g.place, area, g.at)
		p.Hitbox(&g.place, g.ball)
		p.LifeID(&g.place, g.life)
		p.TrackHistory(&g.place)
		foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) { g.box(b, b.Field(&g.place)) }, &g.place)
	} else {
		foretick.Default(p, &g.drone, &g.place, started)
		foretick.CheckCommand(p, &g.pad, g.refuse)
		foretick.Decay(p, &g.pad, g.fade)
		foretick.Interpolate(p, &g.place, g.between)
		foretick.PredictRemote(p, &g.pad, g.guess, foretick.RemoteConfig{})
		foretick.Interest(p, &g.place, area, g.at)
		foretick.Hitbox(p, &g.place, g.ball)
		foretick.LifeID(p, &g.place, g.life)
		foretick.TrackHistory(p, &g.place)
		foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) { g.box(b, foretick.HitboxField(b, &g.place)) }, &g.place)
	}
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		if player == 1 {
			g.near = f.Spawn(&g.drone, ecs.Nobody)
			g.say("Default %v", *g.place.Get(f.World, g.near))
			g.place.Get(f.World, f.Spawn(&g.drone, ecs.Nobody)).X = 90
		}
		f.Spawn(&g.player, player)
	})
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		places, pads := g.place.Slice(rows), g.pad.Slice(rows)
		for i := range places {
			places[i].X += pads[i].Push * f.DT
		}
	}, ecs.Read(&g.pad), ecs.Write(&g.place))
	p.Server("shoot", func(f *foretick.ServerFrame, rows ecs.Rows) {
		at := g.place.Get(f.World, g.near)
		if at.X += 4 * f.DT; f.Tick%40 == 0 {
			*at = place{X: 3, Life: at.Life + 1} // a new life, at the place where it began
		}
		view := f.Rewind(rows.Owner())
		then, ok := componentAt(view, &g.place, g.near)
		hit, found := view.Raycast(lagcomp.Ray{X: then.X, Y: -5, DY: 1, Range: 12})
		g.say("ComponentAt %v %v %v %v", then, ok, hit.Distance, found)
	}, ecs.Read(&g.pad), ecs.WriteOther(&g.place))
	g.places = p.Query(ecs.With(&g.place))
	return p
}

// play plays a match of two players on a network that loses packets. It returns what each end noted, the
// server first, and a hash of all packets.
func play(t *testing.T, methods bool) (said [3]string, packets [32]byte) {
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var ends [3]game
	match := simtest.New(1)
	_, err := match.Serve(server.Config{Protocol: ends[0].protocol(methods), RepeatInput: 50 * time.Millisecond})
	check(err)
	for i := range ends[1:] {
		g := &ends[1+i]
		sample := client.Sample(&g.pad, func(v client.View) pad { return pad{Push: float32(v.Tick/20%5) / 4} })
		link := sim.Link{Latency: 60 * time.Millisecond, Loss: 0.4}
		_, err := match.Join(client.Config{Protocol: g.protocol(methods), Sample: sample}, simtest.Seat{Up: link, Down: link})
		check(err)
	}
	match.Run(6 * time.Second)
	for i, c := range match.Clients(nil) {
		g := &ends[1+i]
		g.say("places %d", g.places.Count(c.View().World))
	}
	for i := range ends {
		said[i] = strings.Join(ends[i].said, "\n")
	}
	return said, match.Trace()
}

// TestMethods: a game that is declared by methods plays the match that it plays when it is declared by
// functions, and each of them has an effect there. It imports little, because .ci/run compiles all of that
// for this test alone.
func TestMethods(t *testing.T) {
	want, packets := play(t, false)
	got, same := play(t, true)
	if packets != same {
		t.Error("the packets differ")
	}
	for end := range want {
		was, is := strings.Split(want[end], "\n"), strings.Split(got[end], "\n")
		for i := range max(len(was), len(is)) {
			if i >= min(len(was), len(is)) || was[i] != is[i] {
				t.Errorf("end %d, %d and %d calls: functions and methods differ from call %d on:\n%q\n%q", end, len(was), len(is), i, was[min(i, len(was)):min(i+1, len(was))], is[min(i, len(is)):min(i+1, len(is))])
				break
			}
		}
	}
	for _, seen := range []string{`Default \{3 1\}`, `ComponentAt \{\S+ \d\} true 4 true`, "CheckCommand", "Decay", "Interest", "Hitbox", "HitboxField", "LifeID"} {
		if !regexp.MustCompile(`(?m)^` + seen + `( |$)`).MatchString(got[0]) {
			t.Errorf("the server has not seen %s", seen)
		}
	}
	for _, seen := range []string{"Interpolate", "PredictRemote", "places 3$"} { // the far drone is not sent
		if !regexp.MustCompile(`(?m)^` + seen).MatchString(got[1]) {
			t.Errorf("a client has not seen %s", seen)
		}
	}
}
