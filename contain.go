package foretick

import (
	"runtime/debug"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport"
)

// maxNesting is how deep handlers may raise the very event that they handle, within
// one tick; what is raised deeper is dropped and counted.
const maxNesting = 8

// Panic is a panic of the game's, in what it does for one player: a handler of an
// event or a request, of joining and leaving, or of a command.
type Panic struct {
	Who     ecs.Owner // for whom; Nobody for what nobody's entity raised
	Handler string    // which: "join", or "event Shot" and "request Buy", by the type
	Value   any       // what it panicked with
	Stack   []byte
}

// contain ends a panic in what was done for one player, which is dropped for it at
// the end of the tick; the match goes on. It must be deferred directly.
func (s *Server) contain(who ecs.Owner, handler string) {
	v := recover()
	if v == nil {
		return
	}
	s.stats.Panics++
	stack := debug.Stack()
	s.cfg.Logger.Error("panic", "handler", handler, "owner", who, "value", v, "stack", string(stack))
	if s.cfg.OnPanic != nil {
		s.cfg.OnPanic(Panic{Who: who, Handler: handler, Value: v, Stack: stack})
	}
	if p := s.player(who); p != nil {
		p.broken = true
	}
}

// contained calls a handler for a player.
func (s *Server) contained(who ecs.Owner, handler string, fn func(*Frame, ecs.Owner)) {
	defer s.contain(who, handler)
	fn(&s.frame, who)
}

// dropBroken ends the places of players for whom a handler panicked: what it left
// half done is theirs.
func (s *Server) dropBroken() {
	for i := len(s.players) - 1; i >= 0; i-- {
		p := s.players[i]
		if !p.broken {
			continue
		}
		p.broken = false
		const why = "the server failed at what it did for this player"
		if p.state == away {
			s.leave(p, transport.Kicked, why)
		} else {
			s.drop(p, transport.Kicked, why)
		}
	}
}
