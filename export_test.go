package foretick

// LastTick is the last tick that a server computes, and StartAt has one that has not
// begun begin behind a tick.
const LastTick = lastTick

func (s *Server) StartAt(t Tick) { s.startAt(t) }
