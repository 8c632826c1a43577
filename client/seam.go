package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/seam"
)

// The types that both ends use, for the frames of the root package.
type (
	compiled   = game.Protocol[*foretick.Frame]
	frameState = game.State[*foretick.Frame]
	requestBox = game.Asker
)

// compiledOf returns a game's protocol in the form that the ends use.
func compiledOf(p *foretick.Protocol) *compiled { return seam.Protocol(p).(*compiled) }

// bindFrame connects a frame with its state, and returns its run of a system.
func bindFrame(f *foretick.Frame, s *frameState) *game.SystemRun { return seam.BindFrame(f, s) }
