package input

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// When says when a binding of a digital action acts.
type When uint8

// When a binding acts.
const (
	Pressed      When = iota // as long as its keys are held
	JustPressed              // in the frame in which they are pressed
	JustReleased             // in the frame in which the player lets go
)

var whens = []string{"pressed", "just_pressed", "just_released"}

// String returns the name that JSON files and the tags of [Fill] use.
func (w When) String() string {
	if int(w) < len(whens) {
		return whens[w]
	}
	return fmt.Sprintf("When(%d)", uint8(w))
}

// Binding is one way to do an action.
type Binding struct {
	// Key is a key's name, or several joined with a plus that are held together:
	// "w", "ctrl+r", "gamepad_l1+gamepad_a". The value is the last key's.
	Key string
	// When says when a digital action is pressed. Actions of other kinds have Pressed.
	When When
	// Scale multiplies the value. A key that is down is 1, so -1 makes it go the other
	// way. 0 means 1.
	Scale float32
	// DeadZone is the part around 0 that an axis ignores, from 0 to below 1. Beyond it
	// the value grows from 0. 0 means 0.1; negative means none. For a vector it is round, and
	// Curve too applies to how far the stick is pushed. The axes of a stick are keys whose names
	// end in _x and _y.
	DeadZone float32
	// Curve is the exponent of an axis: 2 makes small movements finer. 0 means 1;
	// negative is an error. At most 10.
	Curve float32
}

// Keys returns one plain binding for each name. Each of them triggers the action alone.
func Keys(names ...string) []Binding {
	all := make([]Binding, len(names))
	for i, name := range names {
		all[i].Key = name
	}
	return all
}

const (
	defaultDeadZone = 0.1
	maxCurve        = 10
	maxHeld         = 4  // keys in one binding
	maxBindings     = 64 // of one action in one set
)

// checkFor returns the fault of a binding of an action, or "".
func (b *Binding) checkFor(of Action) string {
	names, fault := b.split()
	if fault != "" {
		return fault
	}
	class := classOf(names[len(names)-1])
	switch {
	case of.Kind == Analogue && class == relativeKey:
		return fmt.Sprintf("%q moves by steps and has no state: make the action Relative", b.Key)
	case of.Kind == Relative && class != relativeKey && class != ownKey:
		return fmt.Sprintf("%q has a state and does not move by steps: bind it to an Analogue action, and add its value times a speed and the time", b.Key)
	case b.When > JustReleased:
		return fmt.Sprintf("%v is no When: use Pressed, JustPressed or JustReleased", b.When)
	case b.When != Pressed && of.Kind != Digital:
		return fmt.Sprintf("%v is for digital actions, and this one is %v: leave When out", b.When, of.Kind)
	case !finite(b.Scale) || !finite(b.DeadZone) || !finite(b.Curve):
		return "Scale, DeadZone and Curve must be finite numbers"
	case of.Kind == Digital && (class == button || class == relativeKey) && b.scale() < pressAt:
		return fmt.Sprintf("Scale %g leaves %q too weak to press a digital action: leave Scale out", b.Scale, b.Key)
	case b.DeadZone >= 1:
		return fmt.Sprintf("DeadZone %g leaves nothing of the axis: use less than 1", b.DeadZone)
	case b.Curve < 0 || b.Curve > maxCurve:
		return fmt.Sprintf("Curve %g is out of range: use 0 to %d", b.Curve, maxCurve)
	}
	return ""
}

// checkIn returns the fault of a binding of an action that a command may take already, or "".
func (b *Binding) checkIn(a *action) string {
	if why := b.checkFor(a.Action); why != "" {
		return why
	}
	if b.When != Pressed && a.lasting != "" {
		return fmt.Sprintf("%v lasts one frame, and a tick may miss it: the field %s, which takes %q, needs the tag oneshot, as in `net:\"oneshot\"`", b.When, a.lasting, a.Name)
	}
	return ""
}

// split returns the names of the keys that must be held together, or a fault.
func (b *Binding) split() (names []string, fault string) {
	names = strings.Split(b.Key, "+")
	if len(names) > maxHeld {
		return nil, fmt.Sprintf("%q holds %d keys: %d can be held together", b.Key, len(names), maxHeld)
	}
	for i, name := range names {
		names[i] = canonical(name)
		switch {
		case name == "":
			return nil, fmt.Sprintf("%q names no key: write a name, or several joined with a plus", b.Key)
		case classOf(names[i]) == unknownKey:
			return nil, fmt.Sprintf("no key is named %q%s", name, nearest(name, append(StandardKeys(), "ctrl")))
		case slices.Contains(names[:i], names[i]):
			return nil, fmt.Sprintf("%q holds %q twice", b.Key, name)
		case i < len(names)-1 && classOf(names[i]) == relativeKey:
			return nil, fmt.Sprintf("%q cannot be held: it stands last", name)
		}
	}
	return names, ""
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

// shape applies the dead zone, the curve and Scale to a key's value. size is how far the key, or the stick
// of which it is one axis, is pushed.
func (b *Binding) shape(v, size float32) float32 {
	dead := b.DeadZone
	if dead == 0 {
		dead = defaultDeadZone
	}
	dead = max(dead, 0)
	if size <= dead {
		return 0
	}
	part := v / size
	size = (min(size, 1) - dead) / (1 - dead)
	if b.Curve != 0 && b.Curve != 1 {
		size = float32(math.Pow(float64(size), float64(b.Curve)))
	}
	return clamp(part*size*b.scale(), 1)
}

func (b *Binding) scale() float32 {
	if b.Scale == 0 {
		return 1
	}
	return b.Scale
}

// bound is a Binding in a Map, with its state.
type bound struct {
	Binding
	keys  []*key // keys held together; the last one has the value
	other *key   // the other axis of a stick that moves a vector
	on    bool   // held, for a Digital action
	waits bool   // held since before its set became active
	acts  bool   // held, and not waiting
	pulse bool   // acts until the frame ends
}

// modifiersHeld reports whether all keys except the last are held.
func (b *bound) modifiersHeld() bool {
	for _, k := range b.keys[:len(b.keys)-1] {
		if !k.on {
			return false
		}
	}
	return true
}

// readLevel returns the binding's present contribution to its action's level. A relative action has no
// level; for it, a held binding is one whose keys before the last are held.
func (b *bound) readLevel(of Kind) float32 {
	if of == Relative {
		b.waits = b.waits && len(b.keys) > 1 && b.modifiersHeld()
		return 0
	}
	v := float32(0)
	if b.modifiersHeld() {
		last := b.keys[len(b.keys)-1]
		if v = last.value; of == Digital && last.class == relativeKey {
			v = max(v, -v)
		}
		size := max(v, -v)
		if b.other != nil {
			size = length(v, b.other.value)
		}
		v = b.shape(v, size)
	}
	if of == Digital {
		b.on = crossed(v, b.on)
		if v = 0; b.on {
			v = 1
		}
	}
	if b.waits = b.waits && v != 0; b.waits {
		v = 0
	}
	if of != Digital {
		return v
	}
	was := b.acts
	b.acts = v != 0
	switch b.When {
	case JustPressed:
		b.pulse = b.pulse || b.acts && !was
	case JustReleased:
		b.pulse = b.pulse || was && !b.acts
	default:
		return v
	}
	if b.pulse {
		return 1
	}
	return 0
}

// forgetNoted clears the binding's state, without a release.
func (b *bound) forgetNoted() { b.on, b.waits, b.acts, b.pulse = false, false, false, false }
