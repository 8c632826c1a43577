package server

import (
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// panics handles panics in the game's functions that run for one player, and in the decoding of what
// one peer sent. The match goes on without that player.
type panics struct {
	sessions *sessions
	stats    *stats.Counters
	logs     *peerLog
	hooks    *peerHooks
	// sink is the recorder's. It is nil if nothing is recorded.
	sink tape.Sink
	// onPanic is Config.OnPanic, which may be nil.
	onPanic func(Panic)
}

// Panic is a panic in a function of the game that ran for one player: an event handler, a
// request handler, a hook such as OnJoin, or a CheckCommand.
type Panic struct {
	Player  foretick.PlayerID // the player that the function ran for; Nobody for the event of an entity that no player owns
	Handler string            // the function: "OnJoin" or "CheckCommand"; for events and requests the word and the name of the Go type, as in "event Shot" or "request Buy"
	Value   any               // the value that recover returned
	Stack   []byte            // the stack of the panic, as [runtime/debug.Stack] formats it
}

// Contain recovers a panic in code that ran for one player. That player is dropped at the
// end of the tick, and the match continues. It must be deferred directly.
func (c *panics) Contain(player foretick.PlayerID, handler string) {
	v := recover()
	if v == nil {
		return
	}
	c.reportPanic(player, c.sessions.player(player), handler, v, debug.Stack())
}

const failedText = "the server failed at what it did for this player"

// stackEvery is how often the log has a panic in the same function, with its stack.
const stackEvery = time.Hour

// reportPanic counts a panic in a function of the game, reports it to the game and the tape, and kicks
// the player that the function ran for, which may be nil. For each function it logs one panic an hour,
// with its stack.
func (c *panics) reportPanic(of foretick.PlayerID, p *player, handler string, v any, stack []byte) {
	c.stats.Panics++
	if skipped, due := c.logs.allowEach(stackEvery, "panic in "+function(handler)); due {
		line := []any{"player", of}
		if p != nil {
			line = p.who()
		}
		c.logs.Logger.Error("panic", append(line, "handler", handler, "value", v, "skipped", skipped, "stack", string(stack))...)
	}
	c.tellPanic(Panic{Player: of, Handler: handler, Value: v, Stack: stack})
	for _, fn := range c.hooks.panicked {
		fn(probe.Panicked{Player: of, Handler: handler, Value: v, Stack: stack})
	}
	if r := c.sink; r != nil {
		r.Report(fmt.Sprintf("panic in %s for player %d: %v", handler, of, v))
	}
	if p != nil {
		c.sessions.kick(p, transport.Kicked, failedText)
	}
}

// function returns the name under which the log counts a handler's panics. All calls of Do share one,
// because their callers choose their names.
func function(handler string) string {
	if strings.HasPrefix(handler, callHandler) {
		return callHandler
	}
	return handler
}

// tellPanic calls Config.OnPanic. A panic in that is counted and logged, too.
func (c *panics) tellPanic(p Panic) {
	if c.onPanic == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			c.stats.Panics++
			if skipped, due := c.logs.allowEach(stackEvery, "panic in OnPanic"); due {
				c.logs.Logger.Error("panic in server.Config.OnPanic", "player", p.Player, "handler", p.Handler, "value", v, "skipped", skipped, "stack", string(debug.Stack()))
			}
		}
	}()
	c.onPanic(p)
}

// closeAfterExit closes the server if Run's Step did not return and nothing panicked: then the game
// called runtime.Goexit, and nothing else would close the server. It must be deferred directly.
func (s *Server) closeAfterExit(stepping *bool) {
	if !*stepping {
		return
	}
	if v := recover(); v != nil { // it is for Run's caller
		panic(v) // the caller's
	}
	s.stats.Panics++
	s.logs.Logger.Error("the game ended the server's goroutine: the match is over", "tick", s.sim.frame.Tick, "value", contain.Goexit, "stack", string(debug.Stack()))
	_ = s.Close("the match failed")
}

// runHooks calls all hooks of one kind for a player.
func (c *panics) runHooks(f *foretick.Frame, player foretick.PlayerID, name string, hooks []func(*foretick.Frame, foretick.PlayerID)) {
	for _, fn := range hooks {
		c.runHook(f, player, name, fn)
	}
}

func (c *panics) runHook(f *foretick.Frame, player foretick.PlayerID, name string, fn func(*foretick.Frame, foretick.PlayerID)) {
	defer c.Contain(player, name)
	fn(f, player)
}

// containDecoding recovers a panic in decoding the packet b of a peer. Nothing more of that peer is
// read. It must be deferred directly.
func (c *panics) containDecoding(p *player, b []byte) {
	v := recover()
	if v == nil {
		return
	}
	c.stats.CorePanics++
	p.session.poisoned = true
	if r := c.sink; r != nil {
		r.Report(fmt.Sprintf("panic in decoding what a peer sent: %v", v))
	}
	c.logs.abuse("panic in decoding what a peer sent; please report it", p, "value", v, "packet", hex.EncodeToString(b), "stack", string(debug.Stack()))
}

const poisonedText = "the server failed at decoding what this client sent"

// decodePeer calls a decoder of a peer's bytes. A panic in it is a fault of this library. It ends only
// that peer's connection, because fn uses nothing but the peer's own state. Debug builds panic again.
func (c *panics) decodePeer(p *player, b []byte, fn func() error) error {
	if !game.DebugBuild {
		defer c.containDecoding(p, b)
	}
	return fn()
}
