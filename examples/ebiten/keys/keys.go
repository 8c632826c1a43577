// Package keys has the game's actions and their keys, the player's file of bindings, and the
// rebinding of a key. It does not import Ebitengine, so its tests need no display.
package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foretick/foretick/input"
)

// actions are what players can do. An analogue action has a value from -1 to 1. With .x and .y at the end of
// their names, two of them are a vector, whose length is at most 1.
var actions = []input.Action{
	{Name: "move.x", Kind: input.Analogue},
	{Name: "move.y", Kind: input.Analogue},
	{Name: "aim.x", Kind: input.Analogue},
	{Name: "aim.y", Kind: input.Analogue},
	{Name: "fire"},
	{Name: "rebind"},
	{Name: "figures"},
	{Name: "network"},
	{Name: "server"},
}

// New returns the actions with their default keys.
func New() (*input.Map, error) {
	return input.New(actions, input.Set{Keymap: input.Keymap{
		"move.x":  {{Key: "a", Scale: -1}, {Key: "d"}, {Key: "left", Scale: -1}, {Key: "right"}, {Key: "gamepad_lstick_x"}},
		"move.y":  {{Key: "w", Scale: -1}, {Key: "s"}, {Key: "up", Scale: -1}, {Key: "down"}, {Key: "gamepad_lstick_y"}},
		"aim.x":   input.Keys("gamepad_rstick_x"),
		"aim.y":   input.Keys("gamepad_rstick_y"),
		"fire":    input.Keys("mouse_left_button", "space", "gamepad_r2"),
		"rebind":  input.Keys("f1"),
		"figures": input.Keys("f3", "gamepad_back"),
		"network": input.Keys("f4"),
		"server":  input.Keys("f5"),
	}})
}

// Load returns the actions with their default keys, except those that the player's file binds
// to other keys. An empty name means no file. A file that does not exist yet has no bindings:
// the first rebinding writes it. The error names every entry that is wrong.
func Load(name string) (*input.Map, error) {
	m, err := New()
	if err != nil || name == "" {
		return m, err
	}
	in, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	ignored, err := m.Load(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(ignored) > 0 {
		return nil, fmt.Errorf("%s: %s", name, strings.Join(ignored, "; "))
	}
	return m, nil
}

// Rebinding lets the player choose another key for fire.
type Rebinding struct {
	Map  *input.Map
	File string // where the bindings are saved; empty: they are not
	Text string // what the window should show; empty: nothing
}

// Frame starts a rebinding if its key was pressed. Call it once a frame, when the devices'
// state has been fed.
func (r *Rebinding) Frame() {
	if !r.Map.JustPressed("rebind") {
		return
	}
	r.Text = "press a key for fire, or escape to leave it"
	r.Map.Scan(r.bind) // until then no key does anything else
}

// bind handles the key that the player pressed.
func (r *Rebinding) bind(key string) {
	if key == "escape" {
		r.Text = ""
		return
	}
	if other := r.taken(key); other != "" {
		r.Text = fmt.Sprintf("%s is for %s already: fire keeps its keys", input.Label(key), other)
		return
	}
	if err := r.replace(key); err != nil {
		r.Text = err.Error()
		return
	}
	r.Text = "fire: " + input.Label(key)
	if r.File == "" {
		r.Text += ", until the game ends (-bindings FILE keeps it)"
	} else if err := save(r.Map, r.File); err != nil {
		r.Text += ", not saved: " + err.Error()
	}
}

// taken returns the action other than fire that has a key already, or "".
func (r *Rebinding) taken(key string) string {
	for _, a := range actions {
		list, _ := r.Map.Bindings("", a.Name)
		for _, b := range list {
			if b.Key == key && a.Name != "fire" {
				return a.Name
			}
		}
	}
	return ""
}

// replace binds fire to a key. A key of a gamepad replaces only gamepad keys, and any other
// only keys that are not a gamepad's, so that both devices keep working.
func (r *Rebinding) replace(key string) error {
	list := input.Keys(key)
	before, err := r.Map.Bindings("", "fire")
	if err != nil {
		return err
	}
	for _, b := range before {
		if gamepad(b.Key) != gamepad(key) {
			list = append(list, b)
		}
	}
	return r.Map.Bind("", "fire", list...)
}

func gamepad(key string) bool { return strings.HasPrefix(key, "gamepad_") }

// save writes the player's bindings to a new file, and then renames it: if the disk is full,
// the old file stays.
func save(m *input.Map, name string) error {
	var text bytes.Buffer
	if err := m.Save(&text); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = out.Write(text.Bytes())
	err = errors.Join(err, out.Close())
	if err == nil {
		err = os.Rename(out.Name(), name)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}
