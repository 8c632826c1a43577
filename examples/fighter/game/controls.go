package game

import "github.com/foretick/foretick/input"

// Controls returns the actions with their keys, for a keyboard and a pad. Package input has more:
// players may choose other keys. [input.Fill] makes commands of it.
func Controls() (*input.Map, error) {
	return input.New([]input.Action{
		{Name: "move.x", Kind: input.Analogue},
		{Name: "move.y", Kind: input.Analogue},
		{Name: "punch"},
		{Name: "kick"},
		{Name: "special"},
	}, input.Set{Keymap: input.Keymap{
		"move.x":  {{Key: "a", Scale: -1}, {Key: "d"}, {Key: "left", Scale: -1}, {Key: "right"}, {Key: "gamepad_left", Scale: -1}, {Key: "gamepad_right"}, {Key: "gamepad_lstick_x"}},
		"move.y":  {{Key: "s", Scale: -1}, {Key: "w"}, {Key: "down", Scale: -1}, {Key: "up"}, {Key: "gamepad_down", Scale: -1}, {Key: "gamepad_up"}, {Key: "gamepad_lstick_y", Scale: -1}},
		"punch":   input.Keys("u", "gamepad_x"),
		"kick":    input.Keys("i", "gamepad_a"),
		"special": input.Keys("o", "gamepad_b"),
	}})
}
