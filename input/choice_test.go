package input_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/input"
)

func arsenal(t *testing.T, more ...input.Binding) *input.Map {
	t.Helper()
	keymap := input.Keymap{"weapon.1": input.Keys("1", "gamepad_up"), "weapon.2": input.Keys("2"), "weapon.3": input.Keys("3"), "weapon.5": more, "weapon.9": nil}
	m, err := input.New([]input.Action{{Name: "weapon.9"}, {Name: "weapon.1"}, {Name: "weapon.2"}, {Name: "weapon.3"}, {Name: "weapon.5"}}, input.Set{Name: "play", Keymap: keymap})
	require.NoError(t, err)
	return m
}

type holding struct {
	Held uint8 `input:"weapon"`
	Any  bool  `input:"weapon"`
	Just int8  `net:"oneshot,max=9" input:"weapon,just_pressed"`
}

// The key that was pressed last decides, and one that is still held after it.
func TestChoices(t *testing.T) {
	m := arsenal(t)
	read, err := input.Fill[holding, client.View](m)
	require.NoError(t, err)
	second := m.NewSource()
	step := func(what string, held uint8, just int8, do func()) {
		do()
		require.Equal(t, holding{held, held != 0, just}, read(client.View{}), what)
		require.Equal(t, float32(held), m.Value("weapon"), what)
		require.Equal(t, []bool{held != 0, just != 0}, []bool{m.Pressed("weapon"), m.JustPressed("weapon")}, what)
		m.EndFrame()
	}
	step("nothing", 0, 0, func() {})
	step("2", 2, 2, func() { m.Key("2", true) })
	step("2 held", 2, 0, func() {})
	step("1 while 2 is held", 1, 1, func() { second.Key("1", true) })
	step("both held", 1, 0, func() {})
	step("3 within a frame", 3, 3, func() { m.Key("3", true); m.Key("3", false) })
	step("1 again", 1, 0, func() {})
	step("1 is released", 2, 0, func() { second.Key("1", false) })
	step("all are released", 0, 0, func() {
		m.Key("2", false)
		require.True(t, m.JustReleased("weapon"))
	})
	step("two within a frame", 1, 1, func() { m.Key("3", true); m.Key("3", false); m.Key("gamepad_up", true); m.Key("gamepad_up", false) })
	step("nothing", 0, 0, func() {})
	step("emitted", 5, 5, func() { m.Emit("weapon.5", 1) })
	step("emitted beside a key", 2, 2, func() { m.Key("2", true) })
	step("emitted again", 9, 9, func() { m.Emit("weapon.9", 1) })
	step("released", 2, 0, func() { m.Emit("weapon.9", 0); m.Emit("weapon.5", 0) })
	step("the set is off", 0, 0, func() { require.NoError(t, m.Disable("play")) })
	step("a held key waits", 0, 0, func() { require.NoError(t, m.Enable("play")) })
	step("pressed again", 2, 2, func() { m.Key("2", false); m.Key("2", true) })
	step("focus lost", 0, 0, func() { m.ReleaseAll() })
	require.Zero(t, testing.AllocsPerRun(10, func() { m.Key("3", true); read(client.View{}); m.Key("3", false); m.EndFrame() }))
}

// Bindings for JustPressed choose in one frame, so a field needs oneshot.
func TestChoicesForAFrame(t *testing.T) {
	m := arsenal(t, input.Binding{Key: "q", When: input.JustPressed})
	_, err := input.Fill[holding, int](m)
	require.ErrorContains(t, err, "holding.Held: \"weapon\" is bound to just_pressed of \"q\"")
	type once struct {
		Weapon int32 `net:"oneshot,max=9" input:"weapon"`
	}
	read, err := input.Fill[once, int](m)
	require.NoError(t, err)
	m.Key("q", true)
	require.Equal(t, once{5}, read(0))
	m.EndFrame()
	require.Equal(t, once{}, read(0))

	m = arsenal(t)
	type lasting struct {
		Weapon int32 `input:"weapon"`
	}
	_, err = input.Fill[lasting, int](m)
	require.NoError(t, err)
	require.ErrorContains(t, m.Bind("play", "weapon.5", input.Binding{Key: "q", When: input.JustPressed}), "the field lasting.Weapon")
}

// Each fault of an action with choices is named.
func TestFaultsOfChoices(t *testing.T) {
	m := arsenal(t)
	type wrong struct {
		A float32 `input:"weapon"`
		B uint8   `net:"oneshot" input:"weapon,just_released"`
		C uint8   `net:"max=8" input:"weapon"`
		D int8    `net:"min=1,max=9" input:"weapon"`
		E uint8   `input:"weapon,just_pressed"`
	}
	_, err := input.Fill[wrong, int](m)
	require.EqualError(t, err, `input: wrong.A: "weapon" is digital: make the field a bool, or a uint8 for its choices, not float32
input: wrong.B: a release chooses nothing: use just_pressed, or make the field a bool
input: wrong.C: the field does not hold the choices 0 to 9 of "weapon": use a larger type or range
input: wrong.D: the field does not hold the choices 0 to 9 of "weapon": use a larger type or range
input: wrong.E: just_pressed lasts one frame, and a tick may miss it: add oneshot, as in `+"`net:\"oneshot\"`")
	require.PanicsWithError(t, `input: Emit of "weapon", which has parts: emit these, such as "weapon.9"`, func() { m.Emit("weapon", 1) })
}
