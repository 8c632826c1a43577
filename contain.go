package foretick

import (
	"encoding/hex"
	"runtime/debug"

	"github.com/foretick/foretick/transport"
)

// maxNesting is how deep handlers may raise the very event that they handle, within
// one tick; what is raised deeper is dropped and counted.
const maxNesting = 8

// Panic is a panic of the game's, in what it does for one player: a handler of an
// event or a request, of joining and leaving, or of a command.
type Panic struct {
	Who     PlayerID // for whom; Nobody for what nobody's entity raised
	Handler string   // which: "join", or "event Shot" and "request Buy", by the type
	Value   any      // what it panicked with
	Stack   []byte
}

// contain ends a panic in what was done for one player, which is dropped for it at
// the end of the tick; the match goes on. It must be deferred directly.
func (s *Server) contain(player PlayerID, handler string) {
	v := recover()
	if v == nil {
		return
	}
	s.stats.Panics++
	stack := debug.Stack()
	line := []any{"player", player}
	if p := s.player(player); p != nil {
		line = s.who(p)
	}
	s.cfg.Logger.Error("panic", append(line, "handler", handler, "value", v, "stack", string(stack))...)
	if s.cfg.OnPanic != nil {
		s.cfg.OnPanic(Panic{Who: player, Handler: handler, Value: v, Stack: stack})
	}
	if p := s.player(player); p != nil {
		s.kick(p, transport.Kicked, "the server failed at what it did for this player")
	}
}

// contained calls a handler for a player.
func (s *Server) contained(player PlayerID, handler string, fn func(*Frame, PlayerID)) {
	defer s.contain(player, handler)
	fn(&s.frame, player)
}

// decode calls what decodes a peer's bytes. A panic in it is a fault of this library's:
// it costs that peer its connection and nobody else anything, because fn touches
// nothing but the peer's own state. Debug builds panic on.
func (s *Server) decode(p *player, b []byte, fn func() error) error {
	if !debugBuild {
		defer s.containCore(p, b)
	}
	return fn()
}

// containCore must be deferred directly.
func (s *Server) containCore(p *player, b []byte) {
	v := recover()
	if v == nil {
		return
	}
	s.stats.CorePanics++
	p.poisoned = true
	s.logAbuse("panic in decoding what a peer sent; please report it", p, "value", v, "packet", hex.EncodeToString(b), "stack", string(debug.Stack()))
}

const poisonedText = "the server failed at decoding what this client sent"

// dropPoisoned ends the connection of a peer of which no state can be relied on.
func (s *Server) dropPoisoned(p *player) {
	s.drop(p, transport.Malformed, poisonedText)
}
