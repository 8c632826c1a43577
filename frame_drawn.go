package foretick

import "github.com/foretick/foretick/internal/rewind"

// DrawnPart returns the part of this tick's movement that a player's screen already showed
// when the player gave the tick's command: 0 for the state before the tick, up to 1 for the
// state after it. Both ends return the same. To start a shot where the screen showed the
// muzzle, keep the position that the body had before it moved:
//
//	part := f.DrawnPart(rows.Owner())
//	eye := before.X + float32((after.X-before.X)*part)
//
// It is above 0 only for clients with [ClientConfig].PartialTicks: without them no frame
// shows any of a tick whose command is still to come. It is 0 where the command is missing.
// The client reports it, so a cheater can choose any value: it gains at most the distance
// that its own body moves in one tick.
func (f *Frame) DrawnPart(player PlayerID) float32 {
	offset := f.end().shownBefore(player)
	if offset == 0 {
		return 0
	}
	return max(0, 1-float32(offset)/rewind.OffsetSteps)
}
