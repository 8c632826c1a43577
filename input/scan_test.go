package input_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/input"
)

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"a key", "+f -f", "f"},
		{"with a modifier", "+control_left +r -r", "ctrl+r"},
		{"with a modifier, let go first", "+control +control_right +r -control_right", "ctrl+r"},
		{"with several", "+r +shift_left +control_left -r", "ctrl+shift+r"},
		{"a modifier alone", "+control +control_right -control -control_right", "control_right"},
		{"a modifier that has no side", "+shift -shift", "shift"},
		{"two buttons, in their order", "+gamepad_r1 +gamepad_a -gamepad_r1", "gamepad_r1+gamepad_a"},
		{"a stick", "gamepad_lstick_x=-0.3 gamepad_lstick_x=-0.9 gamepad_lstick_x=0", "gamepad_lstick_left"},
		{"a trigger", "gamepad_r2=0.9 gamepad_r2=0.2", "gamepad_r2"},
		{"a wheel", "mouse_dx~3 wheel_vertical~-1 .", "wheel_down"},
		{"not what was held before", "-enter +f -f", "f"},
		{"a device of the game's own", "+pedal:left -pedal:left", "pedal:left"},
		{"not what no binding can name", "+pedal:+ -pedal:+ +f -f", "f"},
		{"five fingers", "+a +s +d +f +g -g", "a+s+d+f"},
		{"focus", "+alt +tab 0 +f -f", "f"},
		{"a trigger that rests at -1", "gamepad_lstick_x=-1 gamepad_lstick_x=0 gamepad_lstick_x=1 gamepad_lstick_x=-1", "gamepad_lstick_right"},
		{"a trigger that rests, and a key", "gamepad_l2=-1 gamepad_l2=-0.9 +f -f", "f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := play(t, input.Keymap{"a": input.Keys("enter", "f", "r")})
			got := ""
			run(t, m, "+enter a?pj .")
			m.Scan(func(key string) {
				require.Empty(t, got)
				require.False(t, m.Scanning())
				got = key
			})
			require.True(t, m.JustReleased("a"), "while it waits all actions are released")
			run(t, m, c.script)
			require.Equal(t, c.want, got)
			require.False(t, m.Pressed("a"))
			if got != "pedal:left" {
				require.NoError(t, m.Bind("play", "a", input.Keys(got)...))
			}
		})
	}
}

// A key that is held when a scan ends does nothing until it is released.
func TestAfterScan(t *testing.T) {
	m := play(t, input.Keymap{"a": input.Keys("f"), "b": input.Keys("g")})
	m.Scan(func(key string) { require.NoError(t, m.Bind("play", "a", input.Keys(key)...)) })
	run(t, m, "+f +g -f a? b? . +f a?pj b? . -g +g a?pjl b?pj")
	names, err := m.Bindings("play", "a")
	require.NoError(t, err)
	require.Equal(t, input.Keys("f+g"), names)
}

func TestCancelScan(t *testing.T) {
	m := play(t, input.Keymap{"a": input.Keys("f")})
	m.CancelScan()
	m.Scan(func(string) { t.Error("called") })
	require.True(t, m.Scanning())
	run(t, m, "+f a?")
	m.CancelScan()
	require.False(t, m.Scanning())
	run(t, m, "a? -f a? +f a?pj")
}

func TestBind(t *testing.T) {
	m := shooter()
	require.NoError(t, m.Bind("play", "fire", input.Binding{Key: "g"}))
	run(t, m, "+mouse_left_button fire? +g fire?pj .")
	require.NoError(t, m.Bind("play", "fire"))
	run(t, m, "fire?l . !fire=1 fire?pj")
	require.EqualError(t, m.Bind("plya", "fire"), `input: no set is named "plya": do you mean "play"?`)
	require.EqualError(t, m.Bind("play", "fier"), `input: no action is named "fier": do you mean "fire"?`)
	require.EqualError(t, m.Bind("menu", "fire"), `input: set "menu" does not list action "fire": give it to New in the set's Keymap`)
	require.EqualError(t, m.Bind("play", "fire", input.Keys("a", "nokey")...), `input: set "play", action "fire": no key is named "nokey"`)
	require.ErrorContains(t, m.Bind("play", "fire", make([]input.Binding, 65)...), "too many")
	list, err := m.Bindings("play", "fire")
	require.NoError(t, err)
	require.Empty(t, list, "after an error nothing has changed")
	_, err = m.Bindings("play", "none")
	require.Error(t, err)
}
