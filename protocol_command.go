package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// CheckCommand calls fn on the server for every received command before its tick runs, to
// refuse commands against the rules of the game: a move, or an item that the player does not
// have. fn sees the world as of the end of the tick before, and must not change it. A
// player who joins in this tick owns nothing in it yet. fn is not called in a tick without a
// command of the player.
//
// If fn returns an error, the tick runs as if the command were missing: with the last
// command repeated (see ServerConfig.RepeatInput and [Decay]). The refusal is counted
// (stats.Player.InputsRejected), and the client receives the error's text, cut to 200 bytes
// (ClientConfig.OnRefused). Ranges need no check: a command with a value outside of a
// field's tag is refused before fn is called.
func CheckCommand[T any](p *Protocol, c *ecs.Component[T], fn func(f *Frame, player PlayerID, cmd T) error) {
	if !p.able("CheckCommand", fn != nil) {
		return
	}
	if p.isCommand("CheckCommand", c) {
		if p.compiled.handlers.check != nil {
			p.faultf("CheckCommand was declared twice: ask everything in one function")
		}
		p.compiled.handlers.check = func(f *Frame, player PlayerID, at unsafe.Pointer) error { return fn(f, player, *(*T)(at)) }
	}
}

// Decay calls fn on the server once a tick on the command that replaces a missing one, to
// let it fade: a ship that lets go of the throttle slowly, for example. The last command is
// repeated for ServerConfig.RepeatInput first. fn then runs for ServerConfig.DecayInput.
// cmd is the command of the tick before, with its one-shot fields false and its sums 0.
// missing counts the ticks since the last command received, from 1. Without Decay the
// command is zero at once.
func Decay[T any](p *Protocol, c *ecs.Component[T], fn func(cmd *T, missing int)) {
	if !p.able("Decay", fn != nil) {
		return
	}
	if p.isCommand("Decay", c) {
		if p.compiled.handlers.decay != nil {
			p.faultf("Decay was declared twice: do everything in one function")
		}
		p.compiled.handlers.decay = func(at unsafe.Pointer, missing int) { fn((*T)(at), missing) }
	}
}

// isCommand reports whether a component is the protocol's command, and notes a fault if not.
func (p *Protocol) isCommand(caller string, h ecs.Handle) bool {
	if !p.given(caller, h) {
		return false
	}
	if p.compiled.Command == nil || !p.compiled.Types.Has(h) || p.compiled.Command.ID != h.ID() {
		if !p.spoils(h) {
			p.faultf("%s of %s, which is not the protocol's command: call Command first", caller, typeName(h.Type()))
		}
		return false
	}
	return true
}
