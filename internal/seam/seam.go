// Package seam gives the server and client packages access to unexported parts of the root package. The
// root sets these variables when the program starts. They take any, since the root imports this
// package.
package seam

import "github.com/foretick/foretick/internal/game"

var (
	// Protocol returns the *game.Protocol[*foretick.Frame] of a *foretick.Protocol.
	Protocol func(p any) any
	// BindFrame sets the *game.State[*foretick.Frame] that a *foretick.Frame calls, and returns the
	// frame's SystemRun.
	BindFrame func(frame, state any) *game.SystemRun
	// ForServer returns the *foretick.ServerFrame of a *foretick.Frame.
	ForServer func(frame any) any
)
