package input_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/input"
)

// shooter returns the actions and sets of a small shooter.
func shooter() *input.Map {
	m, err := input.New(
		[]input.Action{
			{Name: "move.x", Kind: input.Analogue},
			{Name: "move.y", Kind: input.Analogue},
			{Name: "turn", Kind: input.Relative},
			{Name: "fire"},
			{Name: "jump"},
			{Name: "weapon.1"},
			{Name: "weapon.2"},
			{Name: "menu"},
		},
		input.Set{Name: "play", Group: "mode", Keymap: input.Keymap{
			"move.x":   {{Key: "a", Scale: -1}, {Key: "d"}, {Key: "gamepad_lstick_x"}},
			"move.y":   {{Key: "w", Scale: -1}, {Key: "s"}, {Key: "gamepad_lstick_y"}},
			"turn":     {{Key: "mouse_dx", Scale: 0.01}},
			"fire":     input.Keys("mouse_left_button", "gamepad_r2"),
			"jump":     input.Keys("space", "gamepad_a"),
			"weapon.1": input.Keys("1"),
			"weapon.2": input.Keys("2"),
			"menu":     input.Keys("escape", "gamepad_start"),
		}},
		input.Set{Name: "menu", Group: "mode", Keymap: input.Keymap{
			"menu": input.Keys("escape", "gamepad_b"),
		}},
	)
	if err != nil {
		panic(err) // the error names every fault
	}
	return m
}

// A frame: feed the state of the devices, read the actions, end the frame.
func Example() {
	m := shooter()
	for frame := range 3 {
		m.Key("d", true)
		m.Key("space", frame == 1)
		m.Move("mouse_dx", 25)
		fmt.Println(m.Value("move.x"), m.Value("turn"), m.JustPressed("jump"), m.JustReleased("jump"))
		m.EndFrame()
	}
	// Output:
	// 1 0.25 false false
	// 1 0.25 true false
	// 1 0.25 false true
}

func ExampleFill() {
	type Command struct {
		X      float32 `net:"min=-1,max=1,step=0.0078125" input:"move.x"`
		Y      float32 `net:"min=-1,max=1,step=0.0078125" input:"move.y"`
		Turn   float32 `net:"sum" input:"turn"`
		Fire   bool    `net:"oneshot" input:"fire"`
		Jump   bool    `net:"oneshot" input:"jump,just_pressed"`
		Weapon uint8   `net:"oneshot,max=2" input:"weapon,just_pressed"`
	}
	m := shooter()
	read, err := input.Fill[Command, client.View](m)
	if err != nil {
		panic(err)
	}
	// A client reads with client.Sample(&game.Command, read).
	m.Axis("gamepad_lstick_x", 1)
	m.Move("mouse_dx", -50)
	m.Key("mouse_left_button", true)
	m.Key("2", true)
	fmt.Printf("%+v\n", read(client.View{}))
	// Output: {X:1 Y:0 Turn:-0.5 Fire:true Jump:false Weapon:2}
}

// While the menu is open the game's keys do nothing, and the press that closes it does not fire.
func ExampleMap_Enable() {
	m := shooter()
	_ = m.Enable("menu")
	m.Key("mouse_left_button", true)
	fmt.Println(m.Active("play"), m.Pressed("fire"))

	_ = m.Disable("menu")
	fmt.Println(m.Active("play"), m.Pressed("fire"))

	m.Key("mouse_left_button", false)
	m.Key("mouse_left_button", true)
	fmt.Println(m.Pressed("fire"))
	// Output:
	// false false
	// true false
	// true
}

// Auto-fire presses the action instead of a key, in every other frame.
func ExampleMap_Emit() {
	m := shooter()
	for frame := range 4 {
		m.Emit("fire", float32((frame+1)%2))
		fmt.Print(m.JustPressed("fire"), " ")
		m.EndFrame()
	}
	// Output: true false true false
}

// Two gamepads drive one player: each is a source of its own.
func ExampleMap_NewSource() {
	m := shooter()
	first, second := m.NewSource(), m.NewSource()
	first.Key("gamepad_a", true)
	second.Key("gamepad_a", true)
	second.ReleaseAll() // unplugged
	fmt.Println(m.Pressed("jump"))
	// Output: true
}

// A rebinding screen waits for keys, and saves them to a file.
func ExampleMap_Scan() {
	m := shooter()
	m.Scan(func(key string) {
		if err := m.Bind("play", "jump", input.Keys(key, "gamepad_a")...); err != nil {
			fmt.Println(err)
		}
	})
	m.Key("control_left", true)
	m.Key("k", true)
	m.Key("k", false)

	for _, key := range m.KeyNames("jump", input.AnyDevice) {
		fmt.Println(input.Label(key))
	}
	_ = m.Save(os.Stdout)
	// Output:
	// Ctrl+K
	// Gamepad A
	// {
	//   "play": {
	//     "jump": ["ctrl+k", "gamepad_a"]
	//   }
	// }
}

func ExampleMap_Load() {
	m := shooter()
	ignored, err := m.Load(strings.NewReader(`{
		"play": {
			"fire": ["f", "mouse_left_buton"],
			"move.x": [{"key": "left", "scale": -1}, "right"]
		}
	}`))
	fmt.Println(err)
	for _, why := range ignored {
		fmt.Println(why)
	}
	fmt.Println(m.KeyNames("fire", input.AnyDevice), m.KeyNames("jump", input.AnyDevice))
	// Output:
	// <nil>
	// set "play": action "fire": no key is named "mouse_left_buton": do you mean "mouse_left_button"?
	// [f] [space gamepad_a]
}
