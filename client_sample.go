package foretick

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// Sampler reads a player's input into a command; make one with [Sample].
type Sampler interface {
	sample(v View, dst unsafe.Pointer)
	handle() ecs.Handle
	fault() string // what is missing; "": nothing
}

type sampler[T any] struct {
	c  *ecs.Component[T]
	fn func(View) T
}

func (s sampler[T]) sample(v View, dst unsafe.Pointer) { *(*T)(dst) = s.fn(v) }

func (s sampler[T]) handle() ecs.Handle { return s.c }

func (s sampler[T]) fault() string {
	switch {
	case s.c == nil:
		return "Sample is given a nil component: pass the address of the command's"
	case s.fn == nil:
		return "Sample has no function: give it one that reads the input"
	}
	return ""
}

// interrupted is a sampler that is silent at times.
type interrupted struct {
	Sampler
	wanted func() bool
}

func (s interrupted) sample(v View, dst unsafe.Pointer) {
	if s.wanted() {
		s.Sampler.sample(v, dst)
	}
}

// Sample makes a Sampler from a function that reads the player's input. fn is called once a
// frame, with the View on the screen. The next tick takes the last value read, and every
// one-shot field (tag oneshot) that was set in any frame since the last tick. So a press
// and release between two ticks acts once. Fields of movement (tag sum, as for a mouse) are
// added up over all frames since the last tick, whatever the frame rate. A tick takes as
// much as the field's range holds; the rest is counted in Client.Losses. Where one frame makes
// several commands, because frames are slower than ticks, the next of them takes it. While
// a menu is open, return the zero command.
//
// Tag the fields of an aim with press, as in `net:"angle,bits=16,press"`. The tick takes
// them from the last frame that set a one-shot, and judges a shot by the values shown in
// that frame. All other fields are of the last frame. If some one-shots do not aim (a
// jump), tag the one that aims with press too: then only that one counts. Without such a
// tag a shot is judged by the last frame before the tick. It is judged by the frame of the
// press if the rest of the command has not changed since.
func Sample[T any](c *ecs.Component[T], fn func(v View) T) Sampler { return sampler[T]{c, fn} }
