package client

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/seam"
)

// What both ends run, for the root's frames.
type (
	compiled   = game.Protocol[*foretick.Frame]
	frameState = game.State[*foretick.Frame]
	requestBox = game.Asker
)

// compiledOf is a game's protocol as the ends run it.
func compiledOf(p *foretick.Protocol) *compiled { return seam.Protocol(p).(*compiled) }

// bindFrame gives a frame what it asks, and returns its run of a system.
func bindFrame(f *foretick.Frame, s *frameState) *game.SystemRun { return seam.BindFrame(f, s) }
