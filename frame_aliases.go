package foretick

import "github.com/foretick/foretick/internal/game"

// What both ends run, for frames of this package.
type (
	compiled   = game.Protocol[*Frame]
	frameState = game.State[*Frame]
	eventQueue = game.EventQueue[*Frame]
	requestBox = game.Asker
)
