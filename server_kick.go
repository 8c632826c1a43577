package foretick

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// maxKickText limits the text sent to a kicked player, in bytes.
const maxKickText = 120

// kickPlayer is what Frame.Kick does.
func (s *Server) kickPlayer(player PlayerID, code transport.Code, text string) bool {
	s.outside(tape.Call{Op: tape.Kick, Player: uint16(player), Number: uint64(code), Text: text})
	p := s.sessions.player(player)
	if p == nil {
		return false
	}
	if code != transport.None && code != transport.Kicked && code < transport.FirstUserCode {
		s.cfg.Logger.Error("Kick with a code that is not a game's: use transport.Kicked, or transport.FirstUserCode and up; kicked as Kicked", append(p.who(), "code", code)...)
		code = transport.Kicked
	}
	if code == transport.None {
		code = transport.Kicked
	}
	s.sessions.kick(p, code, text)
	return true
}

// banPlayer is what Frame.Ban does.
func (s *Server) banPlayer(player PlayerID, until time.Time, text string) bool {
	s.outside(tape.Call{Op: tape.BanPlayer, Player: uint16(player), Until: until, Text: text})
	p := s.sessions.player(player)
	if p == nil {
		return false
	}
	s.sessions.kick(p, transport.Kicked, text)
	return s.ban(p.session.identity, until, text)
}

// kick marks a player, which leaves at the end of the tick.
func (s *sessions) kick(p *player, code transport.Code, text string) {
	if p.session.kicked {
		return
	}
	p.session.kicked, p.session.kickCode, p.session.kickText = true, code, cutText(text, maxKickText)
	s.kicks = append(s.kicks, p)
}

// Identity returns a player's identity, which the transport's accept hook made of the
// token that the client sent: for example the identity in a connect ticket. It is empty
// for players that the transport does not know, and where there is no such player. It
// stays known while the player's place is held.
func (s *Server) Identity(player PlayerID) []byte {
	if p := s.sessions.player(player); p != nil {
		return slices.Clone(p.session.identity)
	}
	return nil
}

// KickIdentity kicks every player of an identity with [transport.Kicked], as [Frame.Kick]
// does: at the end of the tick. Absent players whose place is held are included. It
// reports whether there was one. An empty identity matches no player.
func (s *Server) KickIdentity(identity []byte, detail string) bool {
	s.outside(tape.Call{Op: tape.KickIdentity, Data: identity, Text: detail})
	return s.kickIdentity(identity, detail)
}

func (s *Server) kickIdentity(identity []byte, detail string) bool {
	if len(identity) == 0 {
		return false
	}
	found := false
	for _, p := range s.sessions.players {
		if bytes.Equal(p.session.identity, identity) {
			found = true
			s.sessions.kick(p, transport.Kicked, detail)
		}
	}
	return found
}

// Ban calls KickIdentity, and keeps the identity out until a time of the clock that Step
// is given. The zero time means forever. Banned clients receive [transport.Refused] and
// the detail. A transport that is a [transport.BanList] gets the ban, and refuses them
// before they cost anything. With any other transport the server drops them when they
// arrive.
//
// Ban returns false for an empty identity: a player without an identity can be kicked, but
// not banned. An expired ban is removed within a minute of Steps. All bans end with the
// Server: keep a list elsewhere and pass it to each new one.
func (s *Server) Ban(identity []byte, until time.Time, detail string) bool {
	s.outside(tape.Call{Op: tape.Ban, Data: identity, Until: until, Text: detail})
	return s.ban(identity, until, detail)
}

func (s *Server) ban(identity []byte, until time.Time, detail string) bool {
	if len(identity) == 0 {
		return false
	}
	s.admission.ban(identity, until, detail)
	s.kickIdentity(identity, detail)
	return true
}

// Unban lets an identity in again that [Server.Ban] or [Frame.Ban] keeps out. Without such a
// ban it does nothing.
func (s *Server) Unban(identity []byte) {
	s.outside(tape.Call{Op: tape.Unban, Data: identity})
	delete(s.admission.bans, string(identity))
	if d, ok := transport.As[transport.BanList](s.endpoint); ok {
		d.Unban(identity)
	}
}

// Panic is a panic in a function of the game that ran for one player: an event handler, a
// request handler, a hook such as OnJoin, or a CheckCommand.
type Panic struct {
	Player  PlayerID // the player that the function ran for; Nobody for the event of an entity that no player owns
	Handler string   // the function: "OnJoin" or "CheckCommand"; for events and requests the word and the name of the Go type, as in "event Shot" or "request Buy"
	Value   any      // the value that recover returned
	Stack   []byte   // the stack of the panic, as [runtime/debug.Stack] formats it
}

// contain recovers a panic in code that ran for one player. That player is dropped at the
// end of the tick, and the match continues. It must be deferred directly.
func (s *Server) contain(player PlayerID, handler string) {
	v := recover()
	if v == nil {
		return
	}
	p := s.sessions.player(player)
	s.reportPanic(player, p, handler, v, debug.Stack())
	if p != nil {
		s.sessions.kick(p, transport.Kicked, failedText)
	}
}

const failedText = "the server failed at what it did for this player"

// stackEvery is the time between two stacks of one function in the log.
const stackEvery = time.Hour

// reportPanic counts a panic in a function of the game, and tells the game and the tape. One an hour of each
// function is logged, with its stack. p may be nil.
func (s *Server) reportPanic(of PlayerID, p *player, handler string, v any, stack []byte) {
	s.stats.Panics++
	if skipped, due := s.logs.limits.allowEach(stackEvery, "panic in "+function(handler), s.clock.now); due {
		line := []any{"player", of}
		if p != nil {
			line = p.who()
		}
		s.cfg.Logger.Error("panic", append(line, "handler", handler, "value", v, "skipped", skipped, "stack", string(stack))...)
	}
	s.tellPanic(Panic{Player: of, Handler: handler, Value: v, Stack: stack})
	for _, fn := range s.hooks.panicked {
		fn(probe.Panicked{Player: of, Handler: handler, Value: v, Stack: stack})
	}
	if r := s.sink; r != nil {
		r.Report(fmt.Sprintf("panic in %s for player %d: %v", handler, of, v))
	}
}

// function is the name under which a handler's panics are counted in the log: calls of Do share one, for their names
// are the caller's.
func function(handler string) string {
	if strings.HasPrefix(handler, callHandler) {
		return callHandler
	}
	return handler
}

// tellPanic calls ServerConfig.OnPanic. A panic in that is counted and logged, too.
func (s *Server) tellPanic(p Panic) {
	if s.cfg.OnPanic == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			s.stats.Panics++
			if skipped, due := s.logs.limits.allowEach(stackEvery, "panic in OnPanic", s.clock.now); due {
				s.cfg.Logger.Error("panic in ServerConfig.OnPanic", "player", p.Player, "handler", p.Handler, "value", v, "skipped", skipped, "stack", string(debug.Stack()))
			}
		}
	}()
	s.cfg.OnPanic(p)
}

// closeAfterExit closes the server if Run's Step did not return and nothing panicked: then the game
// called runtime.Goexit, and nobody is left to close it. It must be deferred directly.
func (s *Server) closeAfterExit(stepping *bool) {
	if !*stepping {
		return
	}
	if v := recover(); v != nil {
		panic(v) // the caller's
	}
	s.stats.Panics++
	s.cfg.Logger.Error("the game ended the server's goroutine: the match is over", "tick", s.sim.frame.Tick, "value", contain.Goexit, "stack", string(debug.Stack()))
	_ = s.Close("the match failed")
}

// contained calls a handler for a player.
func (s *Server) contained(player PlayerID, handler string, fn func(*Frame, PlayerID)) {
	defer s.contain(player, handler)
	fn(&s.sim.frame, player)
}

// containCore must be deferred directly.
func (s *Server) containCore(p *player, b []byte) {
	v := recover()
	if v == nil {
		return
	}
	s.stats.CorePanics++
	p.session.poisoned = true
	if r := s.sink; r != nil {
		r.Report(fmt.Sprintf("panic in decoding what a peer sent: %v", v))
	}
	s.logs.abuse(s.clock.now, "panic in decoding what a peer sent; please report it", p, "value", v, "packet", hex.EncodeToString(b), "stack", string(debug.Stack()))
}

const poisonedText = "the server failed at decoding what this client sent"

// dropPoisoned ends the connection of a peer whose state can no longer be trusted.
func (s *Server) dropPoisoned(p *player) {
	s.drop(p, transport.Malformed, poisonedText)
}
