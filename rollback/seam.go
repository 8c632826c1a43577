package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/seam"
)

// The types that all ends use, with the root's frames.
type (
	compiled   = game.Protocol[*foretick.Frame]
	frameState = game.State[*foretick.Frame]
)

// compiledOf returns a game's protocol in the form that the ends run.
func compiledOf(p *foretick.Protocol) *compiled { return seam.Protocol(p).(*compiled) }

// bindFrame sets what implements a frame, and returns the frame's run of a system.
func bindFrame(f *foretick.Frame, s *frameState) *game.SystemRun { return seam.BindFrame(f, s) }
