package web

import (
	"math"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/input"
)

// An event is EventSize numbers: its kind, an index, and a value. A page writes the events of a frame
// into one buffer.
const (
	EventSize = 3
	// EventsSize is the most numbers of a frame's events.
	EventsSize = 512 * EventSize
)

// The kinds of events.
const (
	eventKey     = 1 + iota // index in KeyNames; 1: down
	eventAxis               // source·8 + axis; a stick from −1 to 1
	eventButton             // source·32 + button; 0 to 1
	eventAim                // x and y of the pointer on the field
	eventSetting            // a setting and its value
	eventRelease            // the page lost the focus: all keys are released
)

// sources is the most gamepads and touch screens. The first source is the touch screen.
const sources = 5

// KeyNames names the keys, in the order of their numbers in events.
func KeyNames() []string { return input.StandardKeys() }

// axes and buttons are in the order of the browsers' standard gamepad.
var (
	axes    = [...]string{"gamepad_lstick_x", "gamepad_lstick_y", "gamepad_rstick_x", "gamepad_rstick_y"}
	buttons = [...]string{
		"gamepad_a", "gamepad_b", "gamepad_x", "gamepad_y", "gamepad_l1", "gamepad_r1", "gamepad_l2", "gamepad_r2",
		"gamepad_back", "gamepad_start", "gamepad_lstick", "gamepad_rstick",
		"gamepad_up", "gamepad_down", "gamepad_left", "gamepad_right", "gamepad_home",
	}
)

// devices feeds the controls with the events of devices.
type devices struct {
	controls *game.Controls
	keys     []string
	sources  [sources]*input.Source
	pointed  bool // the pointer aims, not a stick or key
	x, y     float32
}

func newDevices() (devices, error) {
	c, err := game.NewControls()
	if err != nil {
		return devices{}, err
	}
	d := devices{controls: c, keys: KeyNames()}
	for i := range d.sources {
		d.sources[i] = c.Map.NewSource()
	}
	// In a window there is a cursor, and every action also has a key.
	for _, b := range []struct {
		action string
		keys   []input.Binding
	}{
		{"turn", nil},
		{"aim.x", []input.Binding{{Key: "left", Scale: -1}, {Key: "right"}, {Key: "gamepad_rstick_x"}}},
		{"aim.y", []input.Binding{{Key: "down", Scale: -1}, {Key: "up"}, {Key: "gamepad_rstick_y", Scale: -1}}},
		{"fire", input.Keys("mouse_left_button", "space", "gamepad_r2")},
		{"shoot", input.Keys("mouse_left_button", "space", "gamepad_r2")},
	} {
		if err := c.Map.Bind("play", b.action, b.keys...); err != nil {
			return d, err
		}
	}
	return d, nil
}

// event handles a device's event. It returns false for any other event.
func (d *devices) event(kind, which int, v, w float32) bool {
	switch kind {
	case eventKey:
		if which >= 0 && which < len(d.keys) {
			d.controls.Map.Key(d.keys[which], v > 0)
		}
	case eventAxis:
		if which >= 0 && which/8 < sources && which%8 < len(axes) {
			d.sources[which/8].Axis(axes[which%8], v)
		}
	case eventButton:
		if which >= 0 && which/32 < sources && which%32 < len(buttons) {
			d.sources[which/32].Axis(buttons[which%32], max(v, 0)) // a trigger has values between 0 and 1
		}
	case eventAim:
		d.pointed, d.x, d.y = true, v, w
	case eventRelease:
		d.controls.Map.ReleaseAll()
	default:
		return false
	}
	return true
}

// sample returns the frame's command. The pointer aims from the body's place on the screen, until an
// aiming key or stick is used.
func (d *devices) sample(v client.View, x, y float32) game.Command {
	if d.controls.Map.Value("aim") != 0 {
		d.pointed = false
	}
	cmd := d.controls.Sample(v)
	if d.pointed && (d.x != x || d.y != y) {
		cmd.Aim = float32(math.Atan2(float64(d.y-y), float64(d.x-x)))
	}
	return cmd
}
