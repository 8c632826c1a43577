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

// overheard is a sampler whose commands something looks at, or changes.
type overheard struct {
	Sampler
	fn func(shown Tick, command unsafe.Pointer)
}

func (s overheard) sample(v View, dst unsafe.Pointer) {
	s.Sampler.sample(v, dst)
	s.fn(v.Tick, dst)
}

// Sample makes a Sampler from a function that reads the player's input. fn is called once a
// frame, with the View that the screen shows: its World holds the entities where they were
// drawn, so fn may aim by them. The next tick takes the values read last, and sets every
// one-shot field (tag oneshot) that was set in any frame since the last tick. So a press
// and release between two ticks acts once. Fields with the tag sum, such as the travel of a
// mouse, are added up over all frames since the last tick, whatever the frame rate. A tick
// takes at most what the field's range holds. If frames are slower than ticks, one frame
// makes several commands, and the next of these commands takes the rest. A rest that no
// command takes is lost, and counted in expert.ClientLosses. While a menu is open, return the
// zero command.
//
// Tag the fields of an aim with press, as in `net:"angle,bits=16,press"`. The tick takes
// them from the last frame that set a one-shot, and the server judges the shot by what the
// screen showed in that frame. All other fields come from the last frame before the tick. If
// some one-shots do not aim (a jump), tag the one that aims with press too: then only that
// one counts.
//
// Without any press tag, the server judges a shot by the last frame before the tick. If the
// command in that frame is still the same as in the frame of the press, it judges by the
// frame of the press.
func Sample[T any](c *ecs.Component[T], fn func(v View) T) Sampler { return sampler[T]{c, fn} }
