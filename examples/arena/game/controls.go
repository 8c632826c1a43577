package game

import (
	"io"
	"math"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/input"
)

// Controls are a person's keys, mouse and gamepad. An adapter feeds Map each frame, and
// Sample reads the command.
type Controls struct {
	Map *input.Map

	read    func(client.View) sticks
	aim     float64
	weapon  uint8
	autoing bool
	frames  int
}

// sticks are the values that Map fills in once a frame.
type sticks struct {
	MoveX float32 `input:"move.x"`
	MoveY float32 `input:"move.y"`
	AimX  float32 `input:"aim.x"`
	AimY  float32 `input:"aim.y"`
	Fire  bool    `input:"fire"`
	Shoot bool    `net:"oneshot" input:"shoot,just_pressed"`
}

// The sets of bindings exclude each other.
const (
	setPlay = "play"
	setMenu = "menu"
)

// autoEvery is how many rendered frames there are from one shot of auto-fire to the next.
const autoEvery = 6

// NewControls returns the controls with their default keys.
func NewControls() (*Controls, error) {
	m, err := input.New(
		[]input.Action{
			{Name: "move.x", Kind: input.Analogue}, {Name: "move.y", Kind: input.Analogue},
			{Name: "aim.x", Kind: input.Analogue}, {Name: "aim.y", Kind: input.Analogue},
			{Name: "turn", Kind: input.Relative},
			{Name: "fire"}, {Name: "shoot"}, {Name: "auto"}, {Name: "weapon"}, {Name: "menu"},
		},
		input.Set{Name: setPlay, Group: "mode", Keymap: input.Keymap{
			"move.x": {{Key: "a", Scale: -1}, {Key: "d"}, {Key: "gamepad_lstick_x"}},
			"move.y": {{Key: "s", Scale: -1}, {Key: "w"}, {Key: "gamepad_lstick_y", Scale: -1}},
			"aim.x":  {{Key: "gamepad_rstick_x"}},
			"aim.y":  {{Key: "gamepad_rstick_y", Scale: -1}},
			"turn":   {{Key: "mouse_dx", Scale: -0.003}},
			"fire":   input.Keys("mouse_left_button", "gamepad_r2"),
			"shoot":  input.Keys("mouse_left_button", "gamepad_r2"),
			"auto":   input.Keys("mouse_middle_button", "gamepad_l1"),
			"weapon": input.Keys("q", "gamepad_y"),
			"menu":   input.Keys("escape", "gamepad_start"),
		}},
		input.Set{Name: setMenu, Group: "mode", Keymap: input.Keymap{
			"menu": input.Keys("escape", "gamepad_start", "gamepad_b"),
		}},
	)
	if err != nil {
		return nil, err
	}
	c := &Controls{Map: m}
	c.read, err = input.Fill[sticks, client.View](m)
	return c, err
}

// LoadControls returns the controls with the keys of a player's file in place of the default keys.
// ignored names the parts of the file that are not used.
func LoadControls(bindings io.Reader) (c *Controls, ignored []string, err error) {
	if c, err = NewControls(); err != nil {
		return nil, nil, err
	}
	ignored, err = c.Map.Load(bindings)
	return c, ignored, err
}

// Sample reads the frame's command, and ends the frame. The menu key switches between the sets, the
// auto key switches auto-fire on or off, and the weapon key switches to the next weapon.
func (c *Controls) Sample(v client.View) Command {
	defer c.Map.EndFrame()
	if c.Map.JustPressed("menu") {
		c.toggleMenu()
	}
	if c.Map.Active(setMenu) {
		c.autoing = false
		return Command{Aim: float32(c.aim), Weapon: c.weapon}
	}
	if c.Map.JustPressed("weapon") {
		c.weapon = (c.weapon + 1) % uint8(len(arsenal))
	}
	if c.Map.JustPressed("auto") {
		c.autoing = !c.autoing
	}
	if c.frames++; c.autoing { // auto-fire presses the action itself, whatever its keys are
		c.Map.Emit("shoot", float32((c.frames/autoEvery)%2))
	} else {
		c.Map.Emit("shoot", 0)
	}
	s := c.read(v)
	if c.aim = math.Remainder(c.aim+float64(c.Map.Value("turn")), 2*math.Pi); s.AimX != 0 || s.AimY != 0 {
		c.aim = math.Atan2(float64(s.AimY), float64(s.AimX))
	}
	return Command{
		MoveX: s.MoveX, MoveY: s.MoveY, Aim: float32(c.aim), Weapon: c.weapon,
		Fire: s.Fire && c.weapon != Semi, Shoot: s.Shoot && c.weapon == Semi,
	}
}

func (c *Controls) toggleMenu() {
	if c.Map.Active(setMenu) {
		_ = c.Map.Disable(setMenu)
		return
	}
	_ = c.Map.Enable(setMenu)
}
