package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
)

// editor runs the game in one world, as an editor's play button does: it pauses, steps tick by
// tick, and moves things. Nothing is predicted, so nothing is corrected.
type editor struct {
	game *Game
	play *preview.Preview
	ball ecs.Entity
	now  time.Time
	view client.View // the last frame
}

// newEditor returns a paused game with one car, which a bot drives.
func newEditor(seed uint64) (*editor, error) {
	g := &Game{heard: func(foretick.Tick, foretick.PlayerID, foretick.PlayerID) {}}
	b := &bot{Game: g, rand: rand.New(rand.NewPCG(seed, 0))}
	play, err := preview.New(server.Config{Protocol: g.Protocol()}, client.Config{Sample: client.Sample(&g.Cmd, b.steer)})
	if err != nil {
		return nil, err
	}
	e := &editor{game: g, play: play, ball: play.Server().Frame().Spawn(&g.Ball, ecs.Nobody), now: time.Unix(0, 0)}
	e.step(1)
	return e, nil
}

// step computes some ticks, one for each frame, and stays paused.
func (e *editor) step(ticks int) {
	for range ticks {
		e.play.StepTick()
		e.now = e.now.Add(time.Second / 60)
		e.view = e.play.Step(e.now)
	}
}

// kick moves the ball, though the game is paused.
func (e *editor) kick() {
	e.play.Edit(func(f *foretick.ServerFrame) { *e.game.Body.Get(f.World, e.ball) = Body{VX: 20} })
	e.view = e.play.Step(e.now) // shows the change; no time passes
}

// run executes commands, one on each line of in, until in ends.
func (e *editor) run(in io.Reader, out io.Writer) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	say("an empty line steps a tick, a number so many, kick moves the ball\n")
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch line := strings.TrimSpace(lines.Text()); line {
		case "":
			e.step(1)
		case "kick":
			e.kick()
		default:
			n, err := strconv.Atoi(line)
			if err != nil || n < 1 || n > 3600 {
				say("%q is no command: use a number from 1 to 3600, kick, or an empty line\n", line)
				continue
			}
			e.step(n)
		}
		say("tick %d:", e.view.Tick)
		e.game.places(e.view.World, func(player foretick.PlayerID, at place) { say(" %d at %.2f %.2f", player, at.x, at.y) })
		say("\n")
	}
	return e.play.Close()
}
