package orchard

import (
	"errors"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/mathf"
)

func (g *Game) declareChecks(p *foretick.Protocol) {
	foretick.CheckCommand(p, &g.Cmd, g.check)
}

// check refuses what no honest client sends: Steer never makes such a command.
func (g *Game) check(_ *foretick.Frame, _ foretick.PlayerID, c Command) error {
	if c.X*c.X+c.Y*c.Y > 1.02 { // the step of the tag rounds
		return errors.New("faster than anyone walks")
	}
	return nil
}

// Steer is the command of a direction, at most at full speed: keys and sticks pass
// through it.
func Steer(x, y float32) Command {
	if far := mathf.Hypot(x, y); far > 1 {
		x, y = x/far, y/far
	}
	return Command{X: x, Y: y}
}
