package input_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/input"
)

// play makes a Map with one set. Its actions are those that the keymap names: x is analogue, r is
// relative, and all others are digital.
func play(t testing.TB, keymap input.Keymap, more ...input.Set) *input.Map {
	t.Helper()
	sets := append([]input.Set{{Name: "play", Group: "mode", Keymap: keymap}}, more...)
	m, err := input.New(actionsOf(sets), sets...)
	require.NoError(t, err)
	return m
}

func actionsOf(sets []input.Set) (actions []input.Action) {
	seen := map[string]bool{}
	for _, s := range sets {
		for name := range s.Keymap {
			if !seen[name] {
				seen[name] = true
				actions = append(actions, input.Action{Name: name, Kind: map[string]input.Kind{"x": input.Analogue, "r": input.Relative}[name]})
			}
		}
	}
	return actions
}

// run plays a script of words. "+k" and "-k" press and release the key k, "k=0.5" sets an axis, "k~3"
// is a movement, "!a=1" an Emit, ">s" and "<s" switch a set on and off, "." ends the frame, "0"
// releases all, and "2" before + and - means a second source. "a?" requires of the action a what
// follows the question mark: p, j, l for pressed, just pressed, just released, or nothing for none of
// them; for x and r the value.
func run(t testing.TB, m *input.Map, script string) {
	t.Helper()
	second := m.NewSource()
	for i, w := range strings.Fields(script) {
		at := fmt.Sprintf("word %d, %s, of %s", i, w, script)
		split := func(by string) (string, float32) {
			name, text, _ := strings.Cut(w, by)
			v, err := strconv.ParseFloat(text, 32)
			require.NoError(t, err, at)
			return name, float32(v)
		}
		switch {
		case w == ".":
			m.EndFrame()
		case w == "0":
			m.ReleaseAll()
		case w == "20":
			second.ReleaseAll()
		case strings.HasPrefix(w, ">"):
			require.NoError(t, m.Enable(w[1:]), at)
		case strings.HasPrefix(w, "<"):
			require.NoError(t, m.Disable(w[1:]), at)
		case strings.HasPrefix(w, "2+"):
			second.Key(w[2:], true)
		case strings.HasPrefix(w, "2-"):
			second.Key(w[2:], false)
		case w[0] == '+':
			m.Key(w[1:], true)
		case w[0] == '-':
			m.Key(w[1:], false)
		case strings.Contains(w, "?"):
			name, want, _ := strings.Cut(w, "?")
			require.Equal(t, want, state(m, name), at)
		case w[0] == '!':
			name, v := split("=")
			m.Emit(name[1:], v)
		case strings.Contains(w, "~"):
			m.Move(split("~"))
		default:
			m.Axis(split("="))
		}
	}
}

func state(m *input.Map, name string) (s string) {
	if name == "x" || name == "r" {
		return strconv.FormatFloat(math.Round(float64(m.Value(name))*1000)/1000, 'g', -1, 32)
	}
	for _, c := range []struct {
		is   bool
		name string
	}{{m.Pressed(name), "p"}, {m.JustPressed(name), "j"}, {m.JustReleased(name), "l"}} {
		if c.is {
			s += c.name
		}
	}
	return s
}

func TestDigital(t *testing.T) {
	for _, c := range []struct {
		name   string
		a      []input.Binding
		script string
	}{
		{"a press and its release", input.Keys("k"), "a? +k a?pj . a?p . -k a?l . a?"},
		{"said again", input.Keys("k"), "+k . +k a?p . -k -k a?l . -k a?"},
		{"a tap within a frame", input.Keys("k"), "+k -k a?pjl . a?"},
		{"let go and pressed again within a frame", input.Keys("k"), "+k . -k +k a?pjl . a?p"},
		{"the second key is no second press", input.Keys("k", "l"), "+k . +l a?p . -k a?p . -l a?l"},
		{"two sources", input.Keys("k"), "+k 2+k . -k a?p . 2-k a?l"},
		{"one source released", input.Keys("k", "l"), "+k 2+l . 20 a?p . 0 a?l . a?"},
		{"held together", input.Keys("q+e"), "+q a? +e a?pj . -q a?l . +q a?pj"},
		{"a modifier of either side", input.Keys("ctrl+r"), "+control_right +r a?pj . -control_right a?l . +control_left a?pj +control_right -control_left a?pj"},
		{"a modifier as the engine merges it", input.Keys("ctrl+r"), "+control +r a?pj"},
		{"modifiers in any order", input.Keys("shift+ctrl+alt+r"), "+alt_left +shift_right +r a? +control a?pj"},
		{"a combination hides nothing", input.Keys("r"), "+control +r a?pj"},
		{"a stick's half", input.Keys("gamepad_lstick_up"), "gamepad_lstick_y=1 a? gamepad_lstick_y=-1 a?pj . gamepad_lstick_y=0 a?l"},
		{"a stick's motion", input.Keys("gamepad_lstick_motion"), "gamepad_lstick_x=-0.9 a?pj . gamepad_lstick_x=0.1 a?l"},
		{"a trembling stick", input.Keys("gamepad_r2"), "gamepad_r2=0.56 a?pj . gamepad_r2=0.5 a?p gamepad_r2=0.56 a?p gamepad_r2=0.3 a?l"},
		{"an axis the other way", []input.Binding{{Key: "gamepad_lstick_x", Scale: -1}}, "gamepad_lstick_x=1 a? gamepad_lstick_x=-1 a?pj"},
		{"a wheel up", input.Keys("wheel_up"), "wheel_vertical~-1 a? . wheel_vertical~2 a?pj . a?l . a? wheel_vertical~0.1 a?pj"},
		{"a wheel down, fed as a key", input.Keys("wheel_down"), "+wheel_down a?pj"},
		{"a wheel either way", input.Keys("wheel_vertical"), "wheel_vertical~-1 a?pj . a?l wheel_vertical~1 a?pjl"},
		{"a wheel in two frames", input.Keys("wheel_up"), "wheel_vertical~1 . wheel_vertical~1 a?pjl"},
		{"not a number", input.Keys("gamepad_r2"), "gamepad_r2=NaN a? gamepad_r2=1 . gamepad_r2=NaN a?l"},
		{"out of range", input.Keys("gamepad_r2"), "gamepad_r2=+Inf a?pj . gamepad_r2=-5 a?l"},
		{"a device of the game's own", input.Keys("hotas:trigger"), "+hotas:trigger a?pj . +hotas:other -hotas:trigger a?l"},
		{"when just pressed", []input.Binding{{Key: "k", When: input.JustPressed}}, "+k a?pj . a?l . a? -k a? . a?"},
		{"when just released", []input.Binding{{Key: "k", When: input.JustReleased}}, "+k a? . -k a?pj . a?l . a?"},
		{"just released is not what focus takes", []input.Binding{{Key: "k", When: input.JustReleased}}, "+k . 0 a? . a? +k . -k a?pj"},
		{"nor what a set takes", []input.Binding{{Key: "k", When: input.JustReleased}}, "+k . <play a? . -k a? . >play a?"},
		{"emitted", nil, "!a=1 a?pj . !a=1 a?p . !a=0 a?l . a?"},
		{"emitted and held", input.Keys("k"), "!a=1 +k a?pj . !a=0 a?p . -k a?l"},
		{"emitted backwards", nil, "!a=-1 a?"},
		{"a set off", input.Keys("k"), "+k a?pj . <play a?l . a? >play a? -k a? +k a?pj"},
		{"a set off and on in a frame", input.Keys("k"), "+k . <play >play a?l . a? -k +k a?pj"},
		{"emitted to a set that is off", nil, "<play !a=1 a? >play a? !a=1 a? !a=0 !a=1 a?pj"},
		{"emitted while a set goes off", nil, "!a=1 . <play a?l . >play a? !a=0.7 a? !a=0 . !a=1 a?pj"},
		{"released in the dark", input.Keys("k"), "+k . <play . -k . >play a? +k a?pj"},
		{"focus", input.Keys("k", "q+e"), "+q +e . 0 a?l . a? +k a?pj"},
	} {
		t.Run(c.name, func(t *testing.T) { run(t, play(t, input.Keymap{"a": c.a}), c.script) })
	}
}

func TestAnalogue(t *testing.T) {
	wasd := []input.Binding{{Key: "a", Scale: -1}, {Key: "d"}, {Key: "left", Scale: -1}, {Key: "right"}, {Key: "gamepad_lstick_x"}}
	for _, c := range []struct {
		name   string
		x      []input.Binding
		script string
	}{
		{"keys", wasd, "x?0 +d x?1 . x?1 -d x?0 +a x?-1"},
		{"two keys are no faster", wasd, "+d +right x?1 -d x?1"},
		{"both ways stand still", wasd, "+a +d x?0 -a x?1"},
		{"a stick", wasd, "gamepad_lstick_x=0.55 x?0.5 +d x?1 -d +a x?-0.5"},
		{"two pads", wasd, "gamepad_lstick_x=0.55 2+d x?1 20 x?0.5"},
		{"the dead zone", wasd, "gamepad_lstick_x=0.1 x?0 gamepad_lstick_x=-0.1 x?0 gamepad_lstick_x=1 x?1 gamepad_lstick_x=-1 x?-1"},
		{"no dead zone", []input.Binding{{Key: "gamepad_lstick_x", DeadZone: -1}}, "gamepad_lstick_x=0.05 x?0.05"},
		{"a wide dead zone", []input.Binding{{Key: "gamepad_lstick_x", DeadZone: 0.5}}, "gamepad_lstick_x=0.5 x?0 gamepad_lstick_x=-0.75 x?-0.5"},
		{"a curve", []input.Binding{{Key: "gamepad_lstick_x", DeadZone: -1, Curve: 2}}, "gamepad_lstick_x=0.5 x?0.25 gamepad_lstick_x=-0.5 x?-0.25"},
		{"a scale", []input.Binding{{Key: "gamepad_lstick_x", DeadZone: -1, Scale: -3}}, "gamepad_lstick_x=0.25 x?-0.75 gamepad_lstick_x=1 x?-1"},
		{"halves of a stick", []input.Binding{{Key: "gamepad_lstick_left", Scale: -1, DeadZone: -1}, {Key: "gamepad_lstick_right", DeadZone: -1}}, "gamepad_lstick_x=-0.4 x?-0.4 gamepad_lstick_x=0.8 x?0.8"},
		{"while a button is held", input.Keys("gamepad_l1+gamepad_rstick_x"), "gamepad_rstick_x=1 x?0 +gamepad_l1 x?1"},
		{"emitted", wasd, "!x=-0.25 x?-0.25 +d x?0.75 !x=0 x?1 !x=7 x?1 !x=NaN x?1"},
		{"a set comes on", wasd, "+d gamepad_lstick_x=-1 x?0 <play x?0 >play x?0 -d x?0 +d x?1 gamepad_lstick_x=-0.5 x?1 gamepad_lstick_x=0 gamepad_lstick_x=-1 x?0"},
	} {
		t.Run(c.name, func(t *testing.T) { run(t, play(t, input.Keymap{"x": c.x}), c.script) })
	}
	m := play(t, input.Keymap{"x": wasd})
	m.Key("a", true)
	require.True(t, m.JustPressed("x"), "an analogue action is pressed either way")
}

func TestRelative(t *testing.T) {
	mouse := []input.Binding{{Key: "mouse_dx", Scale: 0.5}}
	for _, c := range []struct {
		name   string
		r      []input.Binding
		script string
	}{
		{"adds up", mouse, "mouse_dx~3 mouse_dx~-1 r?1 . r?0 mouse_dx~2 r?1"},
		{"of all sources", mouse, "mouse_dx~3 !r=0.25 r?1.75"},
		{"only while a button is held", input.Keys("mouse_right_button+mouse_dx"), "mouse_dx~3 r?0 +mouse_right_button mouse_dx~2 r?2"},
		{"only while its set is on", mouse, "mouse_dx~3 <play r?0 mouse_dx~2 !r=1 r?0 >play r?0 mouse_dx~1 r?0.5"},
		{"a held button waits", input.Keys("mouse_right_button+mouse_dx"), "+mouse_right_button <play >play mouse_dx~1 r?0 -mouse_right_button +mouse_right_button mouse_dx~1 r?1"},
		{"a device of the game's own", input.Keys("spaceball:yaw"), "spaceball:yaw~1.5 r?1.5"},
		{"not a number", mouse, "mouse_dx~NaN mouse_dx~2 r?1 !r=NaN r?1"},
		{"endless", mouse, "mouse_dx~+Inf mouse_dx~+Inf mouse_dx~-Inf mouse_dx~-Inf mouse_dx~-Inf r?-5e+08"},
		{"focus", mouse, "mouse_dx~2 0 r?1 . r?0"},
	} {
		t.Run(c.name, func(t *testing.T) { run(t, play(t, input.Keymap{"r": c.r}), c.script) })
	}
}

func TestSets(t *testing.T) {
	keys := input.Keymap{"a": input.Keys("k"), "b": input.Keys("l")}
	m := play(t, keys,
		input.Set{Name: "menu", Group: "mode", Keymap: input.Keymap{"c": input.Keys("k")}},
		input.Set{Name: "dialog", Group: "mode", Keymap: input.Keymap{"c": input.Keys("l")}},
		input.Set{Name: "talk", Keymap: input.Keymap{"d": input.Keys("k")}})
	run(t, m, `+k a?pj c? d? . -k .
		>talk +k a?pj d?pj . >menu a?l c? d?p . -k d?l . +k c?pj a? . -k .
		>dialog +k c? a? -k +l c?pj b? . <dialog c?l . +k c?pj . -k -l . <menu c? +k a?pj . -k .
		>menu >play +k a?pj c? . <play a?l c? -k +k c?pj`)
	require.True(t, m.Active("menu"))
	require.True(t, m.Active("talk"), "a set without a group is not excluded")
	require.False(t, m.Active("play"))
	require.False(t, m.Active("none"))
	require.EqualError(t, m.Enable("meno"), `input: no set is named "meno": do you mean "menu"?`)
	require.EqualError(t, m.Disable("x"), `input: no set is named "x"`)
}

// A set that is enabled already stays as it is: no key has to be released.
func TestEnableAgain(t *testing.T) {
	run(t, play(t, input.Keymap{"a": input.Keys("k")}), "+k . >play a?p . -k a?l")
}

func TestFaultsOfNew(t *testing.T) {
	many := make([]input.Binding, 65)
	for i := range many {
		many[i].Key = "k"
	}
	of := func(kind input.Kind, b ...input.Binding) ([]input.Action, input.Set) {
		return []input.Action{{Name: "jump", Kind: kind}}, input.Set{Name: "play", Keymap: input.Keymap{"jump": b}}
	}
	bound := func(kind input.Kind, b ...input.Binding) error {
		actions, set := of(kind, b...)
		_, err := input.New(actions, set)
		return err
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		err  error
		want string
	}{
		{bound(input.Digital, input.Binding{Key: "spcae"}), `no key is named "spcae": do you mean "space"?`},
		{bound(input.Digital, input.Binding{Key: "ctlr+q"}), `no key is named "ctlr": do you mean "ctrl"?`},
		{bound(input.Digital, input.Binding{Key: "zzzzzzz"}), `no key is named "zzzzzzz"`},
		{bound(input.Digital, input.Binding{}), `"" names no key: write a name, or several joined with a plus`},
		{bound(input.Digital, input.Binding{Key: "a+"}), `"a+" names no key`},
		{bound(input.Digital, input.Binding{Key: "a+b+c+d+e"}), `holds 5 keys: 4 can be held together`},
		{bound(input.Digital, input.Binding{Key: "ctrl+control"}), `holds "control" twice`},
		{bound(input.Relative, input.Binding{Key: "mouse_dx+a"}), `"mouse_dx" cannot be held: it stands last`},
		{bound(input.Analogue, input.Binding{Key: "mouse_dx"}), `make the action Relative`},
		{bound(input.Relative, input.Binding{Key: "gamepad_rstick_x"}), `bind it to an Analogue action`},
		{bound(input.Digital, input.Binding{Key: "a", When: 3}), `When(3) is no When`},
		{bound(input.Analogue, input.Binding{Key: "a", When: input.JustPressed}), `just_pressed is for digital actions, and this one is analogue`},
		{bound(input.Analogue, input.Binding{Key: "a", Scale: nan}), "must be finite"},
		{bound(input.Analogue, input.Binding{Key: "a", DeadZone: nan}), "must be finite"},
		{bound(input.Analogue, input.Binding{Key: "a", Curve: float32(math.Inf(1))}), "must be finite"},
		{bound(input.Analogue, input.Binding{Key: "a", DeadZone: 1}), "DeadZone 1 leaves nothing"},
		{bound(input.Analogue, input.Binding{Key: "a", Curve: -1}), "Curve -1 is out of range: use 0 to 10"},
		{bound(input.Analogue, input.Binding{Key: "a", Curve: 11}), "Curve 11 is out of range"},
		{bound(input.Digital, input.Binding{Key: "a", Scale: -1}), `Scale -1 leaves "a" too weak`},
		{bound(input.Digital, many...), "65 bindings are too many"},
		{bound(input.Kind(9)), `action "jump" is of Kind(9)`},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
	two := input.Keymap{"jump": nil, "jmup": nil}
	_, err := input.New([]input.Action{{Name: "jump"}, {Name: "jump"}, {Name: "a,b"}, {}, {Name: "idle"}, {Name: "menu"}},
		input.Set{Keymap: input.Keymap{"menu": nil}}, input.Set{Name: "menu", Keymap: two}, input.Set{Name: "menu"})
	require.EqualError(t, err, strings.Join([]string{
		`input: two actions are named "jump"`,
		`input: an action is named "a,b": use a name without a comma`,
		`input: an action is named "": use a name without a comma`,
		`input: set "menu" binds "jmup", which is no action: do you mean "jump"?`,
		`input: two sets are named "menu"`,
		`input: action "idle" is in no set: list it in a Keymap, with no bindings if only Emit drives it`,
		`input: "menu" is an action of the set without a name, and a set: rename one`,
	}, "\n"))
}

func TestUnknownActionPanics(t *testing.T) {
	m := play(t, input.Keymap{"fire": nil})
	const want = `input: no action is named "fier": do you mean "fire"?`
	require.PanicsWithError(t, want, func() { m.Pressed("fier") })
	require.PanicsWithError(t, want, func() { m.JustPressed("fier") })
	require.PanicsWithError(t, want, func() { m.JustReleased("fier") })
	require.PanicsWithError(t, want, func() { m.Value("fier") })
	require.PanicsWithError(t, want, func() { m.Emit("fier", 1) })
	require.PanicsWithError(t, want, func() { m.KeyNames("fier", input.AnyDevice) })
}

func TestKeysAndPrompts(t *testing.T) {
	names := input.StandardKeys()
	require.Len(t, names, 151)
	for _, name := range names {
		_, err := input.New([]input.Action{{Name: "a"}}, input.Set{Keymap: input.Keymap{"a": {{Key: name}}}})
		require.NoError(t, err)
	}
	require.Equal(t, "Ctrl+Mouse Left Button", input.Label("ctrl+mouse_left_button"))
	require.Equal(t, "Hotas Throttle", input.Label("hotas:throttle"))

	m := play(t, input.Keymap{"a": input.Keys("e", "ctrl+mouse_left_button", "gamepad_x", "touch_tap", "hotas:a", "e")},
		input.Set{Name: "car", Group: "mode", Keymap: input.Keymap{"a": input.Keys("f", "gamepad_x")}})
	desk := input.KeyboardDevice | input.MouseDevice
	require.Equal(t, desk, m.LastDevice())
	require.Equal(t, []string{"e", "ctrl+mouse_left_button"}, m.KeyNames("a", m.LastDevice()))
	require.Equal(t, []string{"e"}, m.KeyNames("a", input.KeyboardDevice))
	require.Equal(t, []string{"touch_tap", "hotas:a"}, m.KeyNames("a", input.TouchDevice|input.OtherDevice))
	m.Axis("gamepad_lstick_x", 0.3)
	require.Equal(t, []string{"gamepad_x"}, m.KeyNames("a", m.LastDevice()))
	m.Move("mouse_dy", 1)
	require.Equal(t, desk, m.LastDevice())
	require.NoError(t, m.Enable("car"))
	require.Equal(t, []string{"f", "gamepad_x"}, m.KeyNames("a", input.AnyDevice))
	require.NoError(t, m.Disable("car"))
	require.NoError(t, m.Disable("play"))
	require.Equal(t, []string{"e", "ctrl+mouse_left_button", "gamepad_x", "touch_tap", "hotas:a", "f"}, m.KeyNames("a", input.AnyDevice))
}

func TestStrings(t *testing.T) {
	require.Equal(t, "digital analogue relative Kind(3)", fmt.Sprint(input.Digital, input.Analogue, input.Relative, input.Kind(3)))
	require.Equal(t, "pressed just_pressed just_released When(3)", fmt.Sprint(input.Pressed, input.JustPressed, input.JustReleased, input.When(3)))
}

// A frame allocates nothing, with polling and with events.
func TestAllocatesNothing(t *testing.T) {
	m := shooter()
	type command struct {
		X    float32 `input:"move.x"`
		Turn float32 `net:"sum" input:"turn"`
		Fire bool    `net:"oneshot" input:"fire,just_pressed"`
	}
	read, err := input.Fill[command, int](m)
	require.NoError(t, err)
	names, n := input.StandardKeys(), 0
	var last command
	frame := func() {
		n++
		for i, name := range names {
			m.Key(name, (i+n)%3 == 0)
		}
		m.Axis("gamepad_lstick_x", float32(n%5)/4)
		m.Move("mouse_dx", 3)
		m.Move("wheel_vertical", 1)
		m.Emit("fire", float32(n%2))
		last = read(n)
		if n%7 == 0 {
			_ = m.Enable("menu")
		} else {
			_ = m.Disable("menu")
		}
		m.EndFrame()
	}
	frame()
	require.Zero(t, testing.AllocsPerRun(200, frame))
	require.NotZero(t, last.Turn)
}

func BenchmarkFrame(b *testing.B) {
	m := shooter()
	names := input.StandardKeys()
	for i := range b.N {
		for _, name := range names {
			m.Key(name, name == "d" && i%8 < 4)
		}
		m.Move("mouse_dx", 3)
		m.EndFrame()
	}
}
