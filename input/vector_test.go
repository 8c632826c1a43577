package input_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/input"
)

var planeKeys = input.Keymap{
	"move.x": {{Key: "a", Scale: -1}, {Key: "d"}, {Key: "gamepad_lstick_x"}},
	"move.y": {{Key: "w", Scale: -1}, {Key: "s"}, {Key: "gamepad_lstick_y"}},
}

func plane(t *testing.T, keymap input.Keymap) *input.Map {
	t.Helper()
	m, err := input.New([]input.Action{{Name: "move.x", Kind: input.Analogue}, {Name: "move.y", Kind: input.Analogue}}, input.Set{Name: "play", Keymap: keymap})
	require.NoError(t, err)
	return m
}

func at(m *input.Map) [2]float64 {
	return [2]float64{math.Round(float64(m.Value("move.x"))*1000) / 1000, math.Round(float64(m.Value("move.y"))*1000) / 1000}
}

// A stick has a round dead zone and reaches length 1 in every direction, and keys are no faster on the diagonal.
func TestVectorsAreRound(t *testing.T) {
	m := plane(t, planeKeys)
	for degree := range 360 {
		way := float64(degree) * math.Pi / 180
		for _, c := range []struct{ pushed, length float64 }{{1, 1}, {0.55, 0.5}, {0.1, 0}, {0.05, 0}, {1.3, 1}} {
			x, y := c.pushed*math.Cos(way), c.pushed*math.Sin(way)
			if math.Abs(x) > 1 || math.Abs(y) > 1 {
				continue // no stick goes there
			}
			m.Axis("gamepad_lstick_x", float32(x))
			m.Axis("gamepad_lstick_y", float32(y))
			require.InDelta(t, c.length, m.Value("move"), 1e-5, "%d degrees", degree)
			require.InDelta(t, c.length*math.Cos(way), m.Value("move.x"), 1e-5, "%d degrees", degree)
			require.InDelta(t, c.length*math.Sin(way), m.Value("move.y"), 1e-5, "%d degrees", degree)
		}
	}
	m.ReleaseAll()
	m.Key("a", true)
	require.Equal(t, [2]float64{-1, 0}, at(m))
	m.Key("w", true)
	require.Equal(t, [2]float64{-0.707, -0.707}, at(m))
	m.Key("d", true)
	require.Equal(t, [2]float64{0, -1}, at(m), "left and right cancel out")
	m.Axis("gamepad_lstick_x", 1)
	require.Equal(t, [2]float64{0, -1}, at(m), "the strongest counts")
}

// One axis of a stick knows of the other, also if that is not bound or is a key of the game's own. Curve and
// DeadZone apply to the way of the stick.
func TestVectorOfOneAxis(t *testing.T) {
	m := plane(t, input.Keymap{"move.x": {{Key: "hotas:left_x", Scale: 2, DeadZone: -1, Curve: 2}, {Key: "hotas:pedal"}}, "move.y": nil})
	m.Axis("hotas:left_y", 0.8)
	m.Axis("hotas:left_x", 0.6)
	require.Equal(t, [2]float64{1, 0}, at(m))
	m.Axis("hotas:left_y", 0.3)
	m.Axis("hotas:left_x", -0.4)
	require.Equal(t, [2]float64{-0.4, 0}, at(m), "0.5² of 0.5, the part 0.8 of it, twice")
	m.Axis("hotas:left_x", 0)
	m.Axis("hotas:pedal", 1)
	require.Equal(t, [2]float64{1, 0}, at(m))
}

// The parts of a vector are actions: they are pressed, emitted, named and filled.
func TestPartsOfAVector(t *testing.T) {
	m := plane(t, planeKeys)
	m.Key("s", true)
	require.True(t, m.JustPressed("move.y") && m.Pressed("move.y") && m.JustPressed("move"))
	require.False(t, m.Pressed("move.x"))
	m.EndFrame()
	m.Key("s", false)
	require.True(t, m.JustReleased("move.y") && m.JustReleased("move"))
	m.Emit("move.x", -1)
	m.Emit("move.y", 1)
	require.Equal(t, [2]float64{-0.707, 0.707}, at(m))
	require.PanicsWithError(t, `input: Emit of "move", which has parts: emit these, such as "move.x"`, func() { m.Emit("move", 1) })
	require.NoError(t, m.Disable("play"))
	require.Equal(t, [2]float64{}, at(m))
	require.NoError(t, m.Enable("play"))
	require.Equal(t, [2]float64{}, at(m), "it waits for a new Emit")
	require.Equal(t, []string{"a", "d"}, m.KeyNames("move.x", input.KeyboardDevice))

	type command struct {
		X float32 `input:"move.x"`
		Y int8    `input:"move.y"`
	}
	read, err := input.Fill[command, client.View](m)
	require.NoError(t, err)
	m.Key("a", true)
	m.Key("w", true)
	got := read(client.View{})
	require.InDelta(t, -math.Sqrt2/2, got.X, 1e-6)
	require.Equal(t, int8(-1), got.Y)
	require.Zero(t, testing.AllocsPerRun(10, func() { m.Key("a", false); m.Key("a", true); read(client.View{}); m.EndFrame() }))

	type wrong struct {
		A float32 `input:"move"`
	}
	_, err = input.Fill[wrong, int](m)
	require.EqualError(t, err, `input: wrong.A: "move" is a vector: take "move.x" and "move.y" in two fields`)
}

// A whole is no action to bind, and its name is free. Parts of another kind are actions like any others.
func TestFaultsOfWholes(t *testing.T) {
	m := plane(t, planeKeys)
	require.EqualError(t, m.Bind("play", "move", input.Keys("a")...), `input: "move" has parts: bind these, such as "move.x"`)
	ignored, err := m.Load(strings.NewReader(`{"play": {"move": ["a"], "move.x": [{"key":"j","scale":-1}]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{`set "play": no action is named "move"`}, ignored)
	m.Key("j", true)
	m.Key("s", true)
	require.Equal(t, [2]float64{-0.707, 0.707}, at(m))

	_, err = input.New(
		[]input.Action{{Name: "a.x", Kind: input.Analogue}, {Name: "a.y", Kind: input.Analogue}, {Name: "a"}, {Name: "b.1"}, {Name: "b"}, {Name: "c.1"}},
		input.Set{Keymap: input.Keymap{"a": nil, "a.x": nil, "a.y": nil, "b": nil, "b.1": nil, "c.1": nil, "c": nil}})
	require.EqualError(t, err, `input: "a" is an action, and others are its parts by their names: rename it
input: "b" is an action, and others are its parts by their names: rename it
input: set "" binds "c": bind its parts, such as "c.1"`)
	m, err = input.New([]input.Action{{Name: "d.x"}, {Name: "d.y"}, {Name: "e.0"}, {Name: "e.01"}, {Name: "e.256"}, {Name: "f.x", Kind: input.Analogue}, {Name: ".1"}},
		input.Set{Keymap: input.Keymap{"d.x": nil, "d.y": nil, "e.0": nil, "e.01": nil, "e.256": nil, "f.x": input.Keys("f"), ".1": nil}})
	require.NoError(t, err)
	for _, name := range []string{"d", "e", "f", ""} {
		require.Panics(t, func() { m.Value(name) })
	}
	m.Key("f", true)
	require.Equal(t, float32(1), m.Value("f.x"))
}
