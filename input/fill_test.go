package input_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/input"
)

type aim struct {
	Turn  float32 `input:"r"`
	Turn2 float64 `input:"r"`
}

func TestFill(t *testing.T) {
	type command struct {
		Untouched int32
		F32       float32 `input:"x"`
		F64       float64 `input:"x"`
		I8        int8    `input:"x"`
		I16       int16   `input:"x"`
		I32       int32   `input:"x"`
		I64       int64   `input:"x"`
		Held      bool    `net:"oneshot" input:"a"`
		Press     bool    `net:"press, oneshot" input:"a,just_pressed"`
		Release   bool    `net:"oneshot" input:"a,just_released"`
		Same      bool    `input:"a,pressed"`
		Aim       aim     `net:"sum"`
	}
	m := play(t, input.Keymap{"a": input.Keys("k"), "x": input.Keys("gamepad_lstick_x"), "r": input.Keys("mouse_dx")})
	read, err := input.Fill[command, client.View](m)
	require.NoError(t, err)
	c := new(ecs.Component[command])
	_ = client.Sample(c, read) // fits

	require.Zero(t, read(client.View{}))
	m.Axis("gamepad_lstick_x", -1)
	m.Key("k", true)
	m.Move("mouse_dx", 2)
	want := command{F32: -1, F64: -1, I8: -1, I16: -1, I32: -1, I64: -1, Held: true, Same: true, Press: true, Aim: aim{2, 2}}
	require.Equal(t, want, read(client.View{}))
	require.Equal(t, want, read(client.View{}), "reading takes nothing away")
	m.EndFrame()
	m.Axis("gamepad_lstick_x", 0.55)
	m.Key("k", false)
	require.Equal(t, command{F32: 0.5, F64: 0.5, I8: 1, I16: 1, I32: 1, I64: 1, Release: true}, func() command {
		c := read(client.View{})
		c.F32, c.F64 = 0.5, 0.5 // rounded: see TestAnalogue
		return c
	}())
}

func TestFaultsOfFill(t *testing.T) {
	m := play(t, input.Keymap{"fire": nil, "x": nil, "r": nil})
	fill := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	type wrong struct {
		A float32            `input:"fier"`
		B bool               `input:"fire,just_hit"`
		C float32            `input:"x,just_pressed"`
		D float32            `input:"fire"`
		E int32              `net:"sum" input:"r"`
		F bool               `input:"x"`
		G uint8              `input:"x"`
		H float32            `input:"r"`
		I float32            `net:"min=0,max=1;sum" input:"r"`
		J float32            `net:"sum" input:"x"`
		K bool               `input:"fire,just_pressed"`
		L struct{ X string } `input:"x"`
	}
	_, err := input.Fill[wrong, int](m)
	require.Equal(t, `input: wrong.A: no action is named "fier": do you mean "fire"?
input: wrong.B: unknown option "just_hit": use just_pressed or just_released
input: wrong.C: just_pressed is for digital actions, and "x" is analogue
input: wrong.D: "fire" is digital: make the field a bool, not float32
input: wrong.E: "r" is relative: make the field a float32, not int32
input: wrong.F: "x" is analogue: make the field a float32 or an int8, not bool
input: wrong.G: "x" is analogue: make the field a float32 or an int8, not uint8
input: wrong.H: "r" is relative, and a tick would take the last frame's movement only: add sum, as in `+"`net:\"sum\"`"+`
input: wrong.I: "r" is relative, and a tick would take the last frame's movement only: add sum, as in `+"`net:\"sum\"`"+`
input: wrong.J: "x" is analogue, and sum would add its state up once a frame: leave sum out
input: wrong.K: just_pressed lasts one frame, and a tick may miss it: add oneshot, as in `+"`net:\"oneshot\"`"+`
input: wrong.L: "x" is analogue: make the field a float32 or an int8, not struct { X string }`, fill(err))

	_, err = input.Fill[int, int](m)
	require.EqualError(t, err, "input: Fill makes a struct, not int")
	type none struct{ A int }
	_, err = input.Fill[none, int](m)
	require.EqualError(t, err, "input: none: no field has the tag input: write `input:\"move.x\"`")
	type hidden struct {
		a bool `input:"fire"`
	}
	_, err = input.Fill[hidden, int](m)
	require.NoError(t, err, "what a package keeps to itself is filled too: %v", hidden{}.a)
}

// TestMomentaryBindings: a field without oneshot takes no binding that acts for one frame only, whichever
// comes first.
func TestMomentaryBindings(t *testing.T) {
	type lasting struct {
		Fire bool `input:"fire"`
	}
	type once struct {
		Fire bool `net:"oneshot" input:"fire"`
	}
	just := []input.Binding{{Key: "f", When: input.JustPressed}}
	m := play(t, input.Keymap{"fire": just})
	_, err := input.Fill[lasting, int](m)
	require.EqualError(t, err, "input: lasting.Fire: \"fire\" is bound to just_pressed of \"f\" in set \"play\", which lasts one frame, and a tick may miss it: add oneshot, as in `net:\"oneshot\"`")
	_, err = input.Fill[once, int](m)
	require.NoError(t, err)

	m = play(t, input.Keymap{"fire": input.Keys("g")})
	_, err = input.Fill[lasting, int](m)
	require.NoError(t, err)
	require.ErrorContains(t, m.Bind("play", "fire", just...), "the field lasting.Fire, which takes \"fire\", needs the tag oneshot")
	ignored, err := m.Load(strings.NewReader(`{"play": {"fire": [{"key": "f", "when": "just_released"}, "h"]}}`))
	require.NoError(t, err)
	require.Len(t, ignored, 1)
	require.Contains(t, ignored[0], "needs the tag oneshot")
	names, err := m.Bindings("play", "fire")
	require.NoError(t, err)
	require.Equal(t, input.Keys("h"), names)
}
