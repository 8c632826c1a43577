package input

import "fmt"

// Kind says what an action's value is.
type Kind uint8

// The kinds of actions.
const (
	Digital  Kind = iota // pressed or not
	Analogue             // a state from -1 to 1, such as a stick
	Relative             // movement, added up over a frame, such as the mouse's
)

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case Digital:
		return "digital"
	case Analogue:
		return "analogue"
	case Relative:
		return "relative"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Action is something that a player does: "fire", "move.x". Keymaps, JSON files
// and the tags that [Fill] reads use its name. It holds no comma.
//
// Two Analogue actions like "move.x" and "move.y" are the parts of a vector: its length is
// at most 1, and its sticks have a round dead zone. Digital actions like "weapon.1" and
// "weapon.2", up to 255, are the choices of "weapon": its value is the number of the one
// that was pressed last, and 0 while none is pressed. Wholes are in no [Keymap].
type Action struct {
	Name string
	// Kind is Digital if not set.
	Kind Kind
}

// A key or an action becomes pressed at pressAt and stays pressed down to releaseAt, so that a
// trembling stick does not press it twice.
const (
	pressAt   = 0.5
	releaseAt = 0.4
)

// crossed reports whether a value counts as pressed, given whether it did before.
func crossed(v float32, before bool) bool {
	return v >= pressAt || before && v >= releaseAt
}

// action is the state of one Action.
type action struct {
	Action
	whole   *whole    // what this is a part of
	number  int       // which choice of its whole this is
	since   uint64    // how many choices its whole had when this one was pressed
	live    bool      // an active set lists it
	lasting string    // a field of a command that takes whether it is pressed, without oneshot; or empty
	emitted []float32 // value of the newest Emit, by source
	// waits is true, by source, if the value was emitted before the action's set became active.
	waits []bool

	on                        bool
	justPressed, justReleased bool
	level                     span    // strongest value over all bindings and sources
	moved                     float32 // movement of a Relative action in this frame
}

// span holds the strongest value in each direction. So two keys that both mean right do not go right
// twice as fast, and left and right together cancel out.
type span struct{ low, high float32 }

func (s *span) widen(v float32) { s.low, s.high = min(s.low, v), max(s.high, v) }
func (s span) value() float32   { return s.low + s.high }

// settleLevel finds from the new level whether the action is pressed, and whether that changed.
func (a *action) settleLevel() {
	v := a.level.value()
	on := crossed(v, a.on) || a.Kind == Analogue && crossed(-v, a.on)
	if on && !a.on && a.number > 0 {
		a.whole.choose(a)
	}
	a.justPressed = a.justPressed || on && !a.on
	a.justReleased = a.justReleased || a.on && !on
	a.on = on
}

// addMovement adds to a relative action's movement in this frame.
func (a *action) addMovement(by float32) { a.moved = clamp(a.moved+by, farthest) }

// farthest bounds a frame's movement, so that sums stay finite.
const farthest = 1e9

// clamp bounds v by limit in both directions. NaN becomes 0.
func clamp(v, limit float32) float32 {
	if v != v {
		return 0
	}
	return max(-limit, min(v, limit))
}
