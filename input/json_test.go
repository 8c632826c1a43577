package input_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/input"
)

func saved(t testing.TB, save func(w *strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, save(&b))
	return b.String()
}

func save(t testing.TB, m *input.Map) string {
	return saved(t, func(w *strings.Builder) error { return m.Save(w) })
}

func saveAll(t testing.TB, m *input.Map) string {
	return saved(t, func(w *strings.Builder) error { return m.SaveAll(w) })
}

const edited = `{
  "future": {"fly": ["space"]},
  "play": {
    "fire": ["f", {"key": "gamepad_l2", "when": "just_pressed", "mystery": 1}, "q+nokey"],
    "move.x": [{"key":"a","scale":-1}, {"key":"gamepad_lstick_x", "dead_zone":0.25, "curve":2}],
    "menu": [],
    "turn": ["gamepad_rstick_x"],
    "roll": ["r"],
    "jump": {"key": "space"}
  },
  "quit": ["q"],
  "volume": 11
}`

func TestLoad(t *testing.T) {
	m := shooter()
	ignored, err := m.Load(strings.NewReader(edited))
	require.NoError(t, err)
	require.Equal(t, []string{
		`no set is named "future"`,
		`set "play": action "fire": {"key": "gamepad_l2", "when": "just_pressed", "mystery": 1} is no binding: write a key's name, or {"key": ..., "when", "scale", "dead_zone", "curve"}`,
		`set "play": action "fire": no key is named "nokey"`,
		`set "play": action "jump": not a list of keys, as in ["space", "gamepad_a"]`,
		`set "play": no action is named "roll"`,
		`set "play": action "turn": "gamepad_rstick_x" has a state and does not move by steps: bind it to an Analogue action, and add its value times a speed and the time`,
		`"volume" is neither a set, in braces, nor an action's list of keys`,
		`no action is named "quit"`,
	}, ignored)
	run(t, m, "+f fire?pj . -f . +escape menu? . +space jump?pj . mouse_dx~100")
	require.Equal(t, float32(1), m.Value("turn"), "a list in which nothing is understood leaves the defaults")

	const want = `{
  "play": {
    "move.x": [{"key":"a","scale":-1}, {"key":"gamepad_lstick_x","dead_zone":0.25,"curve":2}],
    "turn": [{"key":"mouse_dx","scale":0.01}, "gamepad_rstick_x"],
    "fire": ["f", {"key":"gamepad_l2","when":"just_pressed","mystery":1}, "q+nokey"],
    "menu": [],
    "roll": ["r"]
  },
  "quit": ["q"],
  "future": {"fly":["space"]}
}
`
	require.Equal(t, want, save(t, m))

	// A saved text can be loaded, and is saved again as the same text.
	again := shooter()
	_, err = again.Load(strings.NewReader(want))
	require.NoError(t, err)
	require.Equal(t, want, save(t, again))

	m.Reset()
	require.Equal(t, "{}\n", save(t, m))
	require.Equal(t, saveAll(t, shooter()), saveAll(t, m))
}

// A second file is read over the defaults instead of over the first file.
func TestLoadTwice(t *testing.T) {
	m := shooter()
	_, err := m.Load(strings.NewReader(edited))
	require.NoError(t, err)
	ignored, err := m.Load(strings.NewReader(`{"play": {"jump": ["j"]}}`))
	require.NoError(t, err)
	require.Empty(t, ignored)
	require.Equal(t, "{\n  \"play\": {\n    \"jump\": [\"j\"]\n  }\n}\n", save(t, m))
}

func TestSaveAll(t *testing.T) {
	require.Equal(t, `{
  "play": {
    "move.x": [{"key":"a","scale":-1}, "d", "gamepad_lstick_x"],
    "move.y": [{"key":"w","scale":-1}, "s", "gamepad_lstick_y"],
    "turn": [{"key":"mouse_dx","scale":0.01}],
    "fire": ["mouse_left_button", "gamepad_r2"],
    "jump": ["space", "gamepad_a"],
    "weapon.1": ["1"],
    "weapon.2": ["2"],
    "menu": ["escape", "gamepad_start"]
  },
  "menu": {
    "menu": ["escape", "gamepad_b"]
  }
}
`, saveAll(t, shooter()))
}

// With one set without a name, the file is that of ebitengine-input's example: actions and their keys.
func TestSetWithoutName(t *testing.T) {
	m, err := input.New([]input.Action{{Name: "Left"}, {Name: "Restart"}}, input.Set{Keymap: input.Keymap{"Left": nil, "Restart": nil}})
	require.NoError(t, err)
	const file = "{\n  \"Left\": [\"left\", \"a\", \"gamepad_left\"],\n  \"Restart\": [\"ctrl+r\", \"gamepad_back\"],\n  \"Secret\": [\"ctrl+shift+q\"]\n}\n"
	ignored, err := m.Load(strings.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, []string{`no action is named "Secret"`}, ignored)
	require.Equal(t, file, save(t, m))
	run(t, m, "+a Left?pj +control_left +r Restart?pj")
}

func TestFilesThatAreNone(t *testing.T) {
	m := shooter()
	_, err := m.Load(strings.NewReader(edited))
	require.NoError(t, err)
	before := save(t, m)
	for _, c := range []struct{ file, want string }{
		{"", "not JSON"},
		{"[]", "not JSON"},
		{`{"play": {"jump": ["k"]}`, "not JSON"},
		{`{} {}`, "not JSON"},
		{`{"play": {"jump": ["k"]}}` + strings.Repeat(" ", 1<<20), "longer than 1 MiB"},
	} {
		_, err := m.Load(strings.NewReader(c.file))
		require.ErrorContains(t, err, c.want)
	}
	broken := errors.New("disk")
	_, err = m.Load(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.Equal(t, before, save(t, m), "nothing has changed")
}

// The numbers in a file have the same bounds as those in the program.
func TestLoadedNumbers(t *testing.T) {
	for _, one := range []string{`{"key":"d","scale":1e39}`, `{"key":"d","dead_zone":1}`, `{"key":"d","curve":-1}`, `{"key":"d","when":"soon"}`,
		`{"key":"d","when":"just_pressed"}`, `{"scale":2}`, `7`, `null`, `["d"]`, `""`} {
		m := shooter()
		ignored, err := m.Load(strings.NewReader(`{"play": {"move.x": [` + one + `]}}`))
		require.NoError(t, err)
		require.Len(t, ignored, 1, one)
		run(t, m, "+d")
		require.Equal(t, float32(1), m.Value("move.x"), one)
	}
	m := shooter()
	ignored, err := m.Load(strings.NewReader(`{"play": {"fire": [` + strings.Repeat(`"f",`, 69) + `"g"]}}`))
	require.NoError(t, err)
	require.Len(t, ignored, 6)
	require.Contains(t, ignored[0], "more than 64 bindings")
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{edited, "{}", `{"": {"a": 1}}`, `{"play": null, "menu": [1]}`, `{"play":{"fire":null}}`, `{"play":{"fire":["ctrl+f","ctrl+f"]},"menu":{"menu":[]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		m := shooter()
		if _, err := m.Load(strings.NewReader(file)); err != nil {
			require.Equal(t, "{}\n", save(t, m))
			return
		}
		for _, name := range []string{"d", "space", "escape", "f", "control_left"} {
			m.Key(name, true)
		}
		m.Move("mouse_dx", 1)
		m.EndFrame()
		first, all := save(t, m), saveAll(t, m)
		for _, text := range []string{first, all} {
			again := shooter()
			_, err := again.Load(strings.NewReader(text))
			require.NoError(t, err, "what is saved can be loaded")
			require.Equal(t, first, save(t, again))
			require.Equal(t, all, saveAll(t, again))
		}
		m.Reset()
		require.Equal(t, "{}\n", save(t, m))
	})
}

// TestFilesOfEditors: a file may begin with a byte order mark, and a key's name in capitals is answered with
// the right one.
func TestFilesOfEditors(t *testing.T) {
	m := play(t, input.Keymap{"fire": input.Keys("g")})
	ignored, err := m.Load(strings.NewReader("\uFEFF{\"play\": {\"fire\": [\"h\", \"F\", \"Space\"]}}"))
	require.NoError(t, err)
	require.Len(t, ignored, 2)
	require.Contains(t, ignored[0], `no key is named "F": do you mean "f"?`)
	require.Contains(t, ignored[1], `no key is named "Space": do you mean "space"?`)
	names, err := m.Bindings("play", "fire")
	require.NoError(t, err)
	require.Equal(t, input.Keys("h"), names)
}
