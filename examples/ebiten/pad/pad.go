// Package pad is the adapter from Ebitengine's devices to package input: copy it into your game.
package pad

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick/input"
)

// Pad reads the devices with Ebitengine and feeds an input.Map.
type Pad struct {
	keys     *input.Map
	board    []boardKey                         // the keys of a keyboard that package input knows
	pads     map[ebiten.GamepadID]*input.Source // one for each gamepad that was used
	ids      []ebiten.GamepadID                 // the gamepads that are connected now
	x, y     int                                // where the cursor was in the last frame
	wasThere bool                               // the window had the focus in the last frame
}

type boardKey struct {
	code ebiten.Key
	name string
}

// New returns the adapter that feeds keys.
func New(keys *input.Map) *Pad {
	p := &Pad{keys: keys, pads: map[ebiten.GamepadID]*input.Source{}}
	known := input.StandardKeys()
	for code := range ebiten.KeyMax + 1 {
		if name := keyName(code); slices.Contains(known, name) {
			p.board = append(p.board, boardKey{code, name})
		}
	}
	return p
}

// keyName converts Ebitengine's name of a key into that of package input: "ShiftLeft" into
// "shift_left", "Digit1" into "1".
func keyName(k ebiten.Key) string {
	if k == ebiten.KeyNumpadDecimal {
		return "numpad_period"
	}
	name := strings.TrimPrefix(strings.TrimPrefix(k.String(), "Digit"), "Arrow")
	if rest, ok := strings.CutPrefix(name, "Numpad"); ok && rest != "" {
		name = "Numpad_" + rest
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !strings.HasSuffix(b.String(), "_") {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

var mouseButtons = [...]string{
	ebiten.MouseButtonLeft: "mouse_left_button", ebiten.MouseButtonRight: "mouse_right_button", ebiten.MouseButtonMiddle: "mouse_middle_button",
	ebiten.MouseButton3: "mouse_back_button", ebiten.MouseButton4: "mouse_forward_button",
}

var padButtons = [...]string{
	ebiten.StandardGamepadButtonRightBottom: "gamepad_a", ebiten.StandardGamepadButtonRightRight: "gamepad_b",
	ebiten.StandardGamepadButtonRightLeft: "gamepad_x", ebiten.StandardGamepadButtonRightTop: "gamepad_y",
	ebiten.StandardGamepadButtonFrontTopLeft: "gamepad_l1", ebiten.StandardGamepadButtonFrontTopRight: "gamepad_r1",
	ebiten.StandardGamepadButtonFrontBottomLeft: "gamepad_l2", ebiten.StandardGamepadButtonFrontBottomRight: "gamepad_r2",
	ebiten.StandardGamepadButtonCenterLeft: "gamepad_back", ebiten.StandardGamepadButtonCenterRight: "gamepad_start",
	ebiten.StandardGamepadButtonLeftStick: "gamepad_lstick", ebiten.StandardGamepadButtonRightStick: "gamepad_rstick",
	ebiten.StandardGamepadButtonLeftTop: "gamepad_up", ebiten.StandardGamepadButtonLeftBottom: "gamepad_down",
	ebiten.StandardGamepadButtonLeftLeft: "gamepad_left", ebiten.StandardGamepadButtonLeftRight: "gamepad_right",
	ebiten.StandardGamepadButtonCenterCenter: "gamepad_home",
}

var padAxes = [...]string{
	ebiten.StandardGamepadAxisLeftStickHorizontal: "gamepad_lstick_x", ebiten.StandardGamepadAxisLeftStickVertical: "gamepad_lstick_y",
	ebiten.StandardGamepadAxisRightStickHorizontal: "gamepad_rstick_x", ebiten.StandardGamepadAxisRightStickVertical: "gamepad_rstick_y",
}

// Poll feeds the state of every device. Call it once a frame, before the game reads the Map.
func (p *Pad) Poll() {
	if !ebiten.IsFocused() {
		if p.wasThere {
			p.keys.ReleaseAll()
			p.wasThere = false
		}
		return
	}
	for _, k := range p.board {
		p.keys.Key(k.name, ebiten.IsKeyPressed(k.code))
	}
	for i, name := range mouseButtons {
		p.keys.Key(name, ebiten.IsMouseButtonPressed(ebiten.MouseButton(i)))
	}
	x, y := ebiten.CursorPosition()
	if p.wasThere {
		p.keys.Move("mouse_dx", float32(x-p.x))
		p.keys.Move("mouse_dy", float32(y-p.y))
	}
	p.x, p.y, p.wasThere = x, y, true
	dx, dy := ebiten.Wheel()
	p.keys.Move("wheel_horizontal", float32(dx))
	p.keys.Move("wheel_vertical", float32(dy))
	p.gamepads()
}

// gamepads feeds each gamepad into a Source of its own, so that releasing a button on one does
// not release that of another.
func (p *Pad) gamepads() {
	p.ids = ebiten.AppendGamepadIDs(p.ids[:0])
	for id, source := range p.pads {
		if !slices.Contains(p.ids, id) {
			source.ReleaseAll()
		}
	}
	for _, id := range p.ids {
		if !ebiten.IsStandardGamepadLayoutAvailable(id) {
			continue
		}
		source := p.pads[id]
		if source == nil {
			source = p.keys.NewSource()
			p.pads[id] = source
		}
		for i, name := range padButtons {
			source.Key(name, ebiten.IsStandardGamepadButtonPressed(id, ebiten.StandardGamepadButton(i)))
		}
		for i, name := range padAxes {
			source.Axis(name, float32(ebiten.StandardGamepadAxisValue(id, ebiten.StandardGamepadAxis(i))))
		}
	}
}
