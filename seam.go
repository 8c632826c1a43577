package foretick

import (
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/seam"
)

// Types that both ends use, with this package's Frame.
type (
	compiled   = game.Protocol[*Frame]
	frameState = game.State[*Frame]
)

func init() {
	seam.Protocol = func(p any) any { return &p.(*Protocol).compiled }
	seam.ForServer = func(f any) any { return f.(*Frame).forServer() }
	seam.BindFrame = func(f, s any) *game.SystemRun {
		frame := f.(*Frame)
		frame.state = s.(*frameState)
		return &frame.run
	}
}
