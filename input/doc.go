// Package input turns keys, buttons, sticks and the mouse into the actions of a game,
// and actions into a command.
//
// A [Map] holds the actions, and the sets of bindings that say which keys do what:
//
//	m, err := input.New(
//		[]input.Action{
//			{Name: "move.x", Kind: input.Analogue},
//			{Name: "move.y", Kind: input.Analogue},
//			{Name: "turn", Kind: input.Relative},
//			{Name: "fire"}, // Digital
//			{Name: "menu"},
//		},
//		input.Set{Name: "play", Group: "mode", Keymap: input.Keymap{
//			"move.x": {{Key: "a", Scale: -1}, {Key: "d"}, {Key: "gamepad_lstick_x"}},
//			"move.y": {{Key: "w", Scale: -1}, {Key: "s"}, {Key: "gamepad_lstick_y"}},
//			"turn":   {{Key: "mouse_dx", Scale: 0.003}},
//			"fire":   input.Keys("mouse_left_button", "gamepad_r2"),
//			"menu":   input.Keys("escape", "gamepad_start"),
//		}},
//		input.Set{Name: "menu", Group: "mode", Keymap: input.Keymap{
//			"menu": input.Keys("escape", "gamepad_b"),
//		}},
//	)
//
// # A frame
//
// Each frame, in this order:
//
//  1. The adapter feeds the devices' input: [Map.Key], [Map.Axis] and [Map.Move].
//     It may poll every key each frame, or pass events on as they come.
//  2. The game reads actions: [Map.Pressed], [Map.JustPressed], [Map.JustReleased] and
//     [Map.Value], or steps a client whose Sample function [Fill] made.
//  3. [Map.EndFrame] ends the frame: nothing counts as just pressed or released any more,
//     and relative actions start again at 0.
//
// # From a key to an action
//
//	Key, Axis, Move          of each Source
//	  → the key's value      the strongest source counts, in each direction
//	  → derived keys         "ctrl" from its two sides, "gamepad_lstick_up" from the stick
//	  → each Binding         of the active sets: all keys held, dead zone, curve, scale
//	  → the Action           the strongest binding counts, in each direction
//	  → Pressed, JustPressed, JustReleased, Value
//
// Names join actions. "move.x" and "move.y" are a vector, no longer than 1 and with a round
// dead zone. "weapon.1" and "weapon.2" are the choices of "weapon". See [Action].
//
// [Map.Emit] joins at the action: an on-screen button, auto-fire or a bot.
//
// # Sets
//
// The first set given to [New] is on at the start. [Map.Enable] and [Map.Disable]
// switch sets at run time. Sets of one group exclude each other: only the one enabled
// last is active. When it is disabled, the one before it is active again. Sets without
// a group are active whenever they are on. An action that no active set lists is
// released and reads 0.
//
// Keys held when a set becomes active do nothing in that set until they are released. So the press that
// closes a menu does not fire a gun. If keys are held together, one of them must be released.
//
// # Keys
//
// Keys have the names that github.com/quasilyte/ebitengine-input gives them, so that
// config files look alike:
//
//	keyboard  0-9 a-z f1-f12 up down left right space enter escape tab backspace delete
//	          insert home end page_up page_down minus equal quote backquote backslash
//	          bracket_left bracket_right comma period slash semicolon
//	          control control_left control_right shift shift_left shift_right
//	          alt alt_left alt_right caps_lock num_lock scroll_lock pause print_screen
//	          context_menu numpad_0-numpad_9 numpad_add numpad_subtract numpad_multiply
//	          numpad_divide numpad_period numpad_enter
//	mouse     mouse_left_button mouse_right_button mouse_middle_button
//	          mouse_back_button mouse_forward_button mouse_left_drag
//	          wheel_up wheel_down; relative: wheel_vertical wheel_horizontal
//	          mouse_dx mouse_dy
//	gamepad   gamepad_a gamepad_b gamepad_x gamepad_y gamepad_l1 gamepad_l2 gamepad_r1
//	          gamepad_r2 gamepad_start gamepad_back gamepad_home gamepad_up gamepad_down
//	          gamepad_left gamepad_right gamepad_lstick gamepad_rstick (pushed in)
//	          gamepad_lstick_up (_down, _left, _right, _motion), gamepad_rstick_up ...;
//	          axes: gamepad_lstick_x gamepad_lstick_y gamepad_rstick_x gamepad_rstick_y
//	touch     touch_tap touch_long_tap touch_drag
//
// Stick axes grow to the right and down, as on browsers and in Ebitengine. Wheels grow
// up and to the right. Join keys that are held together with a plus: "ctrl+shift+q",
// "gamepad_l1+gamepad_a". Modifiers are ctrl, shift and alt, of either side. A
// combination does not hide its keys from other bindings.
//
// A name with a colon is a key of the game's own and is not checked: "hotas:throttle". The adapter
// decides its meaning.
//
// # Rebinding
//
// [Map.Load] reads a player's JSON file over the sets given to [New]. [Map.Save] writes
// what differs from them. [Map.Scan] waits for the keys of a rebinding screen,
// [Map.Bind] sets them, and [Map.KeyNames] names them for prompts.
//
// A Map is not safe for concurrent use: feed it from the goroutine that steps the
// client. A frame allocates nothing. The package uses the standard library only, and
// nothing else of this module needs it.
//
// Compatibility: promised. See docs/COMPATIBILITY.md.
package input
