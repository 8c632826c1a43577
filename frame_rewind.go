package foretick

import "github.com/foretick/foretick/ecs"

// RewindTo returns the world at a moment that the game names: the tick t and a fraction
// above 0 and below 1 of the way to the next. Use it for a trap
// that is judged by when it was triggered. [Frame.Rewind] is for shots. The moment
// is judged on the player's screen as in [Frame.RewindBehind], with the same bounds: the
// server's MaxRewind, the recorded ticks, and the newest complete tick. Used has the moment of
// the view. [HitView.Only] names the targets.
//
// With [ecs.Nobody] it returns the whole tick t as the server computed it, with the
// entities of all players. On a client it is the same as Rewind.
func (f *Frame) RewindTo(by PlayerID, t Tick, fraction float32) HitView {
	f.shared.refuseView()
	switch {
	case f.server == nil:
		return f.client.seen(f.Tick)
	case by == ecs.Nobody:
		return f.server.moment(t)
	}
	return f.server.rewindBehind(by, float32(int32(f.Tick-t))-fraction)
}

// moment is what Frame.RewindTo returns without a player.
func (s *Server) moment(t Tick) HitView { return s.hitView(s.past.Moment(s.sim.frame.Tick, t)) }
