package foretick

import "github.com/foretick/foretick/internal/rewind"

// DrawnPart returns how much of this tick a player's screen showed of its own movement when
// the player gave the tick's command: 0 for the state before the tick, up to 1 for the one
// after it. Both ends return the same. A shot leaves the place where the screen showed the
// muzzle if a system keeps where the body was before it moved:
//
//	part := f.DrawnPart(rows.Owner())
//	eye := before.X + float32((after.X-before.X)*part)
//
// It is above 0 only for clients with [ClientConfig].PartialTicks: without them no frame
// shows any of a tick whose command is still to come. It is 0 where the command is missing.
// The client states it, so a cheater can choose it, within the way of its own body in one tick.
func (f *Frame) DrawnPart(player PlayerID) float32 {
	offset := f.end().shownBefore(player)
	if offset == 0 {
		return 0
	}
	return max(0, 1-float32(offset)/rewind.OffsetSteps)
}
