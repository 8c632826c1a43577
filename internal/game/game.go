// Package game has the parts that both ends of a match run: the compiled protocol with the game's functions, the
// state of a frame, the queues of events, and the search for values that rounding or ranges change. It
// is generic over the frame, which it only passes on to the game's functions. It does not know its end:
// frames call theirs through [End] and the interfaces around it.
package game

import "github.com/foretick/foretick/ecs"

// Tick is the number of a simulation step, counted from the server's start.
type Tick = uint32

// PlayerID identifies a player while the server holds its place.
type PlayerID = ecs.Owner

// MaxCatchUp is the most ticks that one Step runs. Time beyond that is skipped.
const MaxCatchUp = 4
