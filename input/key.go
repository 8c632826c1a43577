package input

import (
	"fmt"
	"slices"
	"strings"
)

// DeviceKind is a set of kinds of devices.
type DeviceKind uint8

// The kinds of devices, and AnyDevice for all of them. A key that the game named itself belongs to
// OtherDevice. Such a name contains a colon, as in "pedal:left".
const (
	KeyboardDevice DeviceKind = 1 << iota
	MouseDevice
	GamepadDevice
	TouchDevice
	OtherDevice
	AnyDevice = KeyboardDevice | MouseDevice | GamepadDevice | TouchDevice | OtherDevice
)

// String lists the kinds: "keyboard, mouse"; "none" for no kind.
func (k DeviceKind) String() string {
	if k == 0 {
		return "none"
	}
	var names []string
	for i, name := range []string{"keyboard", "mouse", "gamepad", "touch", "other"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if rest := k &^ AnyDevice; rest != 0 {
		names = append(names, fmt.Sprintf("devices %#x", uint8(rest)))
	}
	return strings.Join(names, ", ")
}

// StandardKeys returns the names of all keys that bindings may name without a colon,
// sorted.
func StandardKeys() []string { return slices.Clone(standardNames) }

// Label returns a key's name, or a combination's, as a prompt shows it:
// "ctrl+mouse_left_button" becomes "Ctrl+Mouse Left Button".
func Label(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		if r == '_' || r == ':' {
			r = ' '
		}
		if up && r >= 'a' && r <= 'z' {
			r += 'A' - 'a'
		}
		up = r == ' ' || r == '+'
		b.WriteRune(r)
	}
	return b.String()
}

// class says which values a key has.
type class uint8

const (
	unknownKey class = iota
	button
	axis
	relativeKey
	ownKey // a key of a device that only the adapter knows
)

func classOf(name string) class {
	if strings.Contains(name, ":") {
		return ownKey
	}
	return standardClass[name]
}

// deviceOf returns the kind of device that a key belongs to.
func deviceOf(name string) DeviceKind {
	switch {
	case strings.Contains(name, ":"):
		return OtherDevice
	case strings.HasPrefix(name, "mouse_"), strings.HasPrefix(name, "wheel_"):
		return MouseDevice
	case strings.HasPrefix(name, "gamepad_"):
		return GamepadDevice
	case strings.HasPrefix(name, "touch_"):
		return TouchDevice
	}
	return KeyboardDevice
}

// canonical returns the name of the key that a part of a binding names.
func canonical(name string) string {
	if name == "ctrl" {
		return "control"
	}
	return name
}

// part says how a derived key follows another one.
type part uint8

const (
	upper part = iota // the positive half
	lower             // the negative half
	both              // the size
)

// derived lists the keys that follow other keys. The adapter may feed either.
var derived = []struct {
	name, from string
	part       part
}{
	{"control", "control_left", upper}, {"control", "control_right", upper},
	{"shift", "shift_left", upper}, {"shift", "shift_right", upper},
	{"alt", "alt_left", upper}, {"alt", "alt_right", upper},
	{"gamepad_lstick_left", "gamepad_lstick_x", lower}, {"gamepad_lstick_right", "gamepad_lstick_x", upper},
	{"gamepad_lstick_up", "gamepad_lstick_y", lower}, {"gamepad_lstick_down", "gamepad_lstick_y", upper},
	{"gamepad_rstick_left", "gamepad_rstick_x", lower}, {"gamepad_rstick_right", "gamepad_rstick_x", upper},
	{"gamepad_rstick_up", "gamepad_rstick_y", lower}, {"gamepad_rstick_down", "gamepad_rstick_y", upper},
	{"gamepad_lstick_motion", "gamepad_lstick_x", both}, {"gamepad_lstick_motion", "gamepad_lstick_y", both},
	{"gamepad_rstick_motion", "gamepad_rstick_x", both}, {"gamepad_rstick_motion", "gamepad_rstick_y", both},
	{"wheel_up", "wheel_vertical", upper}, {"wheel_down", "wheel_vertical", lower},
}

func (p part) ofValue(v float32) float32 {
	switch p {
	case upper:
		return max(v, 0)
	case lower:
		return max(-v, 0)
	}
	return max(v, -v)
}

// key is the state of one key, over all sources.
type key struct {
	name   string
	class  class
	device DeviceKind
	fed    []float32 // fed value, by source
	seen   []bool    // whether a source has fed a value
	rest   float32   // where the key rests, if that is below -pressAt, as some triggers do; or 0
	value  float32   // value over all sources and followed keys
	on     bool
	pulse  float32 // 1 or -1 if the key moved in this frame, as a wheel does
	from   []link  // keys that this key follows
	to     []*key  // keys that follow this key
}

type link struct {
	key  *key
	part part
}

// noteRest finds out where a key rests. A trigger of some gamepads has -1 until it is pressed, and so its
// first value is far below 0. Nobody pushes a stick so far at once.
func (k *key) noteRest(source int, value float32) {
	switch {
	case !k.seen[source]:
		if k.seen[source] = true; value <= -pressAt {
			k.rest = value
		}
	case value > -releaseAt:
		k.rest = 0
	}
}

// rests reports whether the key is on because it, or what it follows, rests there.
func (k *key) rests() bool {
	return k.rest != 0 || slices.ContainsFunc(k.from, func(l link) bool { return l.part.ofValue(l.key.rest) > 0 })
}

// opposes reports whether another key is the other half of the same axis.
func (k *key) opposes(other *key) bool {
	return len(k.from) == 1 && len(other.from) == 1 && k != other && k.from[0].key == other.from[0].key
}

// update computes the key's value again, and reports whether it changed.
func (k *key) update() (changed bool) {
	var s span
	for _, v := range k.fed {
		s.widen(v)
	}
	for _, l := range k.from {
		s.widen(l.part.ofValue(l.key.value))
	}
	v := s.value()
	if k.pulse != 0 {
		v = k.pulse
	}
	changed = v != k.value
	k.value = v
	k.on = crossed(max(v, -v), k.on)
	return changed
}

var standardClass, standardNames = func() (map[string]class, []string) {
	classes := map[string]class{}
	add := func(c class, prefix, names string) {
		for name := range strings.FieldsSeq(names) {
			classes[prefix+name] = c
		}
	}
	digits := "0 1 2 3 4 5 6 7 8 9 "
	add(button, "", digits+`a b c d e f g h i j k l m n o p q r s t u v w x y z
		f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 up down left right
		space enter escape tab backspace delete insert home end page_up page_down
		minus equal quote backquote backslash bracket_left bracket_right comma period
		slash semicolon control control_left control_right shift shift_left shift_right
		alt alt_left alt_right caps_lock num_lock scroll_lock pause print_screen context_menu`)
	add(button, "numpad_", digits+"add subtract multiply divide period enter")
	add(button, "mouse_", "left_button right_button middle_button back_button forward_button left_drag")
	add(relativeKey, "mouse_", "dx dy")
	add(button, "wheel_", "up down")
	add(relativeKey, "wheel_", "vertical horizontal")
	add(button, "gamepad_", "a b x y l1 l2 r1 r2 start back home up down left right lstick rstick")
	for _, stick := range []string{"gamepad_lstick_", "gamepad_rstick_"} {
		add(button, stick, "up down left right motion")
		add(axis, stick, "x y")
	}
	add(button, "touch_", "tap long_tap drag")
	names := make([]string, 0, len(classes))
	for name := range classes {
		names = append(names, name)
	}
	slices.Sort(names)
	return classes, names
}()
