// Package scene says what a window shows of a match: boxes and texts. It does not import Ebitengine, so its tests
// need no display.
package scene

import (
	"fmt"
	"image/color"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
)

// The window, in pixels. A pixel is a centimetre of the stage.
const (
	Width, Height = 800, 440

	floor = 380 // floor is where the stage's floor is, from the top.
	life  = 300 // life is the width of the bar of a fighter that has lost nothing.
)

// The colours of a scene.
var (
	Ground = color.RGBA{24, 28, 36, 255}
	Floor  = color.RGBA{52, 60, 74, 255}
	Own    = color.RGBA{90, 200, 120, 255}
	Other  = color.RGBA{220, 110, 90, 255}
	Ball   = color.RGBA{250, 240, 160, 255}
	Hurt   = color.RGBA{120, 170, 255, 255} // Hurt is where a fighter is hit.
	Hit    = color.RGBA{255, 60, 60, 255}   // Hit is where an attack hits in this tick.
)

// Box is a rectangle in pixels. Y points down.
type Box struct {
	X, Y, W, H float32
	Colour     color.RGBA
	Outline    bool
}

// Text is a line of text, with its left upper corner in pixels.
type Text struct {
	X, Y int
	Text string
}

// Scene is what a frame shows. Boxes later in the list cover earlier ones.
type Scene struct {
	Boxes []Box
	Texts []Text
}

// Set makes the scene of a world, as a player sees it. The player of a replay is ecs.Nobody.
func (s *Scene) Set(g *game.Game, w *ecs.World, player foretick.PlayerID) {
	s.Boxes, s.Texts = append(s.Boxes[:0], Box{0, floor, Width, Height - floor, Floor, false}), s.Texts[:0]
	round := g.Round.Get(w)
	s.say(Width/2-60, 8, "%v", round.Phase)
	pair, ok := g.Pair(w)
	if !ok {
		return
	}
	s.say(Width/2-60, 24, "round %d, %d s", round.Number, round.Clock/game.TickRate)
	for i, e := range pair {
		a := g.Fighter.Get(w, e)
		colour := Other
		if w.Owner(e) == player || player == ecs.Nobody && i == 0 {
			colour = Own
		}
		s.addFighter(a, colour)
		s.addFigures(a, colour, i == 1)
	}
	for _, rows := range g.Balls().All(w) {
		for _, ball := range g.Fireball.Slice(rows) {
			s.add(ball.Hitbox(), Ball, false)
			s.add(ball.Hitbox(), Hit, true)
		}
	}
}

// add adds a box of the stage.
func (s *Scene) add(b game.Box, colour color.RGBA, outline bool) {
	s.Boxes = append(s.Boxes, Box{Width/2 + float32(b.X0)/10, floor - float32(b.Y1)/10, float32(b.X1-b.X0) / 10, float32(b.Y1-b.Y0) / 10, colour, outline})
}

func (s *Scene) say(x, y int, format string, args ...any) {
	s.Texts = append(s.Texts, Text{x, y, fmt.Sprintf(format, args...)})
}

// addFighter adds a fighter: its body, where it looks, where it is hit and where it hits.
func (s *Scene) addFighter(a *game.Fighter, colour color.RGBA) {
	body := game.Box{X0: a.X - 250, Y0: a.Y, X1: a.X + 250, Y1: a.Y + 1650}
	switch a.Act {
	case game.Crouch, game.Sweep:
		body.Y1 = a.Y + 1050
	case game.Down:
		body = game.Box{X0: a.X - 800, Y0: a.Y, X1: a.X + 800, Y1: a.Y + 350}
	}
	s.add(body, colour, false)
	face := game.Box{X0: a.X + 150, Y0: body.Y1 - 300, X1: a.X + 330, Y1: body.Y1 - 120}
	if a.Left {
		face.X0, face.X1 = a.X-330, a.X-150
	}
	s.add(face, colour, false)
	if box, ok := a.Hurtbox(); ok {
		s.add(box, Hurt, true)
	}
	if box, ok := a.Hitbox(); ok {
		s.add(box, Hit, true)
	}
}

// addFigures adds a fighter's life, the rounds that it won, and the frame data of what it does.
func (s *Scene) addFigures(a *game.Fighter, colour color.RGBA, right bool) {
	x := float32(16)
	if right {
		x = Width - 16 - life
	}
	s.Boxes = append(s.Boxes, Box{x, 10, life, 12, Floor, false}, Box{x, 10, life * float32(a.Life) / 1000, 12, colour, false})
	for n := range int(a.Wins) {
		s.Boxes = append(s.Boxes, Box{x + 14*float32(n), 26, 10, 6, colour, false})
	}
	s.say(int(x), 36, "%s", FrameData(a))
}

// FrameData returns what a fighter does, in words and ticks, such as "jab, tick 5 of 14: active; +4 on hit, +1 on
// block".
func FrameData(a *game.Fighter) string {
	text := a.Act.String()
	m := game.MoveOf(a.Act)
	switch total := m.Startup + m.Active + m.Recovery; {
	case a.Stun > 0:
		return fmt.Sprintf("%s, %d ticks left", text, a.Stun)
	case total == 0:
		return text
	case a.For > total:
		return text + ", until it lands"
	default:
		hit, block := m.Advantage()
		return fmt.Sprintf("%s, tick %d of %d: %s; %+d on hit, %+d on block", text, a.For, total, part(&m, a.For), hit, block)
	}
}

// part names the part of a move that a tick is in.
func part(m *game.Move, tick uint16) string {
	switch {
	case tick <= m.Startup:
		return "startup"
	case tick <= m.Startup+m.Active:
		return "active"
	}
	return "recovery"
}

// Line returns what a player may want to know of the network, such as "player 1, playing | input delay 2 ticks |
// 4 ticks ahead of the inputs | rolled back 3 ticks | waited 0 times | 0 desyncs".
func Line(v rollback.View, s rollback.Stats) string {
	if v.State != rollback.Playing {
		return v.State.String()
	}
	state := v.State.String()
	if v.Waiting {
		state = "waiting for the other's input"
	}
	return fmt.Sprintf("player %d, %s | input delay %d ticks | %d ticks ahead of the inputs | rolled back %d ticks | waited %d times | %d desyncs",
		v.Player, state, v.Delay, int32(v.Tick-v.Settled), v.RolledBack, s.Stalls, s.Desyncs)
}
