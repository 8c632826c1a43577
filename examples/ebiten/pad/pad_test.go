//go:build display

// Ebitengine's packages need a display already to be loaded: package screen starts one for
// these tests.
package pad

import (
	"slices"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick/examples/ebiten/keys"
	"github.com/foretick/foretick/input"
)

// Each of the keyboard's keys that a keymap may name is one of Ebitengine's keys, except the derived
// ones.
func TestEveryKeyHasItsCode(t *testing.T) {
	m, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	board := map[string]bool{}
	for _, k := range New(m).board {
		board[k.name] = true
	}
	others := []string{"control", "shift", "alt"} // they mean the left or the right key
	for _, name := range append(append(mouseButtons[:], padButtons[:]...), padAxes[:]...) {
		if !slices.Contains(input.StandardKeys(), name) {
			t.Errorf("package input has no key %q", name)
		}
	}
	for _, name := range input.StandardKeys() {
		if !board[name] && !slices.Contains(others, name) && keyboard(name) {
			t.Errorf("no code of Ebitengine is %q", name)
		}
	}
	if keyName(ebiten.KeyShiftLeft) != "shift_left" || keyName(ebiten.KeyNumpad7) != "numpad_7" || keyName(ebiten.KeyDigit1) != "1" {
		t.Error("names of keys")
	}
}

func keyboard(name string) bool {
	for _, prefix := range []string{"mouse_", "wheel_", "gamepad_", "touch_"} {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			return false
		}
	}
	return true
}
