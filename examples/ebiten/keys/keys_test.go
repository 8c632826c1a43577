package keys_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretick/foretick/examples/ebiten/keys"
	"github.com/foretick/foretick/input"
)

// frames has a window's devices. In each frame it feeds the keys that are down, as the window does.
type frames struct {
	m *input.Map
	r *keys.Rebinding
}

func open(t *testing.T, file string) frames {
	t.Helper()
	m, err := keys.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return frames{m, &keys.Rebinding{Map: m, File: file}}
}

// frame runs a frame with keys down, and reports whether fire was pressed in it.
func (f frames) frame(down ...string) (fired bool) {
	for _, name := range input.StandardKeys() {
		f.m.Key(name, slices.Contains(down, name))
	}
	f.r.Frame()
	fired = f.m.JustPressed("fire")
	f.m.EndFrame()
	return fired
}

// press holds a key for two frames.
func (f frames) press(key string) (fired bool) {
	fired = f.frame(key)
	f.frame(key)
	f.frame()
	return fired
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A player edited the file: other keys walk and fire, and all other actions have their default keys.
func TestEditedFile(t *testing.T) {
	f := open(t, write(t, `{"fire": ["ctrl+g", "mouse_right_button"], "move.x": [{"key": "j", "scale": -1}, "l"]}`))
	if f.press("space") || f.press("g") || !f.press("mouse_right_button") {
		t.Error("fire has the keys of before")
	}
	f.frame("control_left")
	if f.m.Key("g", true); !f.m.JustPressed("fire") {
		t.Error("ctrl+g does not fire")
	}
	f.frame()
	if f.frame("j"); f.m.Value("move.x") != -1 {
		t.Errorf("j moves by %v", f.m.Value("move.x"))
	}
	if f.frame("w"); f.m.Value("move.y") != -1 {
		t.Errorf("w moves by %v", f.m.Value("move.y"))
	}
}

// The error names a mistake in the file, and the game does not start without the player's keys.
func TestWrongFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"fire": ["mouse_midle_button"]}`:           `action "fire"`,
		`{"fire": ["mouse_midle_button", "g"]}`:      `"mouse_middle_button"`,
		`{"jump": ["g"]}`:                            `"jump"`,
		`{"fire": "g"}`:                              "fire",
		`{"move.x": [{"key": "j", "skale": -1}]}`:    `action "move.x"`,
		`{"fire": ["g"}`:                             "not JSON",
		`{"fire": ["spce"], "move.y": [{"key": "x"}`: "keys.json",
	} {
		_, err := keys.Load(write(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "keys.json") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := keys.Load(t.TempDir()); err == nil {
		t.Error("a directory is no file of bindings")
	}
}

// F1, then a key: it fires, those of before do not, and the file has it for the next time.
func TestRebind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	f := open(t, file)
	if !f.press("space") {
		t.Fatal("space does not fire")
	}
	f.press("f1")
	if !strings.Contains(f.r.Text, "press a key for fire") || !f.m.Scanning() {
		t.Fatalf("%q", f.r.Text)
	}
	if f.press("g") {
		t.Error("the key that is chosen fires")
	}
	if f.r.Text != "fire: G" || f.m.Scanning() {
		t.Errorf("%q", f.r.Text)
	}
	for _, f := range []frames{f, open(t, file)} {
		if f.press("space") || f.press("mouse_left_button") || !f.press("g") || !f.press("gamepad_r2") {
			t.Errorf("%v", f.m.KeyNames("fire", input.AnyDevice))
		}
	}
	f.press("f1")
	f.press("gamepad_a")
	if again := open(t, file); again.press("gamepad_r2") || !again.press("gamepad_a") || !again.press("g") {
		t.Errorf("%v", again.m.KeyNames("fire", input.AnyDevice))
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// Escape leaves the key as it is, another action's key is refused, and without a file or with
// one that cannot be written the key holds until the game ends.
func TestRebindThatChangesNothing(t *testing.T) {
	f := open(t, "")
	f.press("f1")
	f.press("escape")
	if f.r.Text != "" || !f.press("space") {
		t.Errorf("%q", f.r.Text)
	}
	for key, action := range map[string]string{"w": "move.y", "f3": "figures", "f1": "rebind"} {
		f.press("f1")
		f.press(key)
		if !strings.Contains(f.r.Text, "is for "+action+" already") || !f.press("space") || key != "f1" && f.press(key) {
			t.Errorf("%s: %q", key, f.r.Text)
		}
	}
	f.press("f1")
	f.press("g")
	if !strings.Contains(f.r.Text, "until the game ends") || !f.press("g") {
		t.Errorf("%q", f.r.Text)
	}
	f.r.File = filepath.Join(t.TempDir(), "missing", "keys.json")
	f.press("f1")
	f.press("h")
	if !strings.Contains(f.r.Text, "not saved: ") || !f.press("h") {
		t.Errorf("%q", f.r.Text)
	}
}
