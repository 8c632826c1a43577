package scene_test

import (
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/ebiten/fighter/scene"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// stage returns a world with two fighters, and their states.
func stage(t *testing.T) (*game.Game, *ecs.World, [2]*game.Fighter) {
	t.Helper()
	g, m := &game.Game{}, simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		*g.Fighter.Get(srv.World(), srv.Frame().Spawn(&g.Body, foretick.PlayerID(i+1))) = game.Fighter{X: int32(2000*i - 1000), Right: i == 1, Left: i == 1, Life: 1000}
	}
	pair, ok := g.Pair(srv.World())
	if !ok {
		t.Fatal("there are no two fighters")
	}
	return g, srv.World(), [2]*game.Fighter{g.Fighter.Get(srv.World(), pair[0]), g.Fighter.Get(srv.World(), pair[1])}
}

// find returns the boxes of a colour.
func find(s *scene.Scene, colour color.RGBA, outline bool) (found []scene.Box) {
	for _, b := range s.Boxes {
		if b.Colour == colour && b.Outline == outline {
			found = append(found, b)
		}
	}
	return found
}

// A scene has both fighters in their colours, where they are hit, their lives, and where an attack hits in its
// active ticks and in no other.
func TestSet(t *testing.T) {
	g, w, of := stage(t)
	of[1].Life, of[1].Wins = 250, 1
	var s scene.Scene
	s.Set(g, w, 2)
	if n := len(find(&s, scene.Hurt, true)); n != 2 {
		t.Errorf("%d hurtboxes", n)
	}
	if found := find(&s, scene.Hit, true); len(found) > 0 {
		t.Errorf("nobody attacks, and these hit: %v", found)
	}
	for _, want := range []scene.Box{
		{X: 275, Y: 215, W: 50, H: 165, Colour: scene.Other},
		{X: 475, Y: 215, W: 50, H: 165, Colour: scene.Own},
		{X: 470, Y: 210, W: 60, H: 170, Colour: scene.Hurt, Outline: true},
		{X: 16, Y: 10, W: 300, H: 12, Colour: scene.Other},
		{X: 484, Y: 10, W: 75, H: 12, Colour: scene.Own},
		{X: 484, Y: 26, W: 10, H: 6, Colour: scene.Own},
	} {
		if !slices.Contains(s.Boxes, want) {
			t.Errorf("no box %v in %v", want, s.Boxes)
		}
	}
	jab := game.MoveOf(game.Jab)
	of[0].Act = game.Jab
	for tick := range jab.Startup + jab.Active + jab.Recovery {
		of[0].For = tick + 1
		s.Set(g, w, 2)
		hits := find(&s, scene.Hit, true)
		if active := tick >= jab.Startup && tick < jab.Startup+jab.Active; active != (len(hits) == 1) {
			t.Fatalf("tick %d of a jab: %v", tick+1, hits)
		} else if active && hits[0] != (scene.Box{X: 325, Y: 240, W: 60, H: 25, Colour: scene.Hit, Outline: true}) {
			t.Errorf("a jab hits at %v", hits[0])
		}
	}
	// Who watches a replay is nobody: the left is drawn as the own one.
	s.Set(g, w, ecs.Nobody)
	if !slices.Contains(s.Boxes, scene.Box{X: 275, Y: 215, W: 50, H: 165, Colour: scene.Own}) {
		t.Error("a replay shows two others")
	}
}

// The frame data of an act is in its words.
func TestFrameData(t *testing.T) {
	for want, a := range map[string]game.Fighter{
		"stand":                      {Act: game.Stand, For: 300},
		"hurt, 7 ticks left":         {Act: game.Hurt, Stun: 7, For: 3},
		"jab, tick 5 of 14: active;": {Act: game.Jab, For: 5},
		"roundhouse, tick 29 of 29: recovery; +2 on hit, -5 on block": {Act: game.Roundhouse, For: 29},
		"sweep, tick 1 of 31: startup;":                               {Act: game.Sweep, For: 1},
		"air kick, until it lands":                                    {Act: game.AirKick, For: 97},
	} {
		if text := scene.FrameData(&a); !strings.HasPrefix(text, want) {
			t.Errorf("%q instead of %q", text, want)
		}
	}
}

// The line says what the network does.
func TestLine(t *testing.T) {
	v := rollback.View{State: rollback.Playing, Player: 2, Tick: 105, Settled: 101, Delay: 3, RolledBack: 4}
	line := scene.Line(v, rollback.Stats{Stalls: 1})
	for _, want := range []string{"player 2, playing", "input delay 3", "4 ticks ahead", "rolled back 4", "waited 1 times", "0 desyncs"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %q", want, line)
		}
	}
	v.Waiting = true
	if line := scene.Line(v, rollback.Stats{}); !strings.Contains(line, "waiting") {
		t.Error(line)
	}
	if line := scene.Line(rollback.View{State: rollback.Resuming}, rollback.Stats{}); line != "resuming" {
		t.Error(line)
	}
}
