// Package seam is how the ends reach what the root keeps to itself. The root sets its variables
// when the program starts. They take any, since the root imports this package.
package seam

import "github.com/foretick/foretick/internal/game"

var (
	// Protocol returns the *game.Protocol[*foretick.Frame] of a *foretick.Protocol.
	Protocol func(p any) any
	// BindFrame gives a *foretick.Frame the *game.State[*foretick.Frame] that it asks, and returns its
	// run of a system.
	BindFrame func(frame, state any) *game.SystemRun
)
