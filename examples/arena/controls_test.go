package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// person is a client that is played by hand: what its screen showed, and what the server ran.
type person struct {
	controls *game.Controls
	hands    func(now time.Duration) // feeds the devices, once a frame
	shots    int                     // how many shots the server counted
	walked   float64                 // on the server, in metres
	aims     map[float32]bool        // the aims of the server's shots
	sent     []game.Command
}

// plays runs a match in which the person is the only player.
func (p *person) plays(t *testing.T, length time.Duration) {
	t.Helper()
	m := simtest.New(3)
	rules := game.Options{TickRate: 30, Peaceful: true}
	srv, cl := game.NewGame(rules), game.NewGame(rules)
	p.aims = map[float32]bool{}
	sp, err := srv.Protocol()
	require.NoError(t, err)
	ammo, x, y := int(game.Magazine), float32(0), float32(0)
	_, err = m.Serve(server.Config{Protocol: sp, OnTick: func(f *foretick.ServerFrame) {
		for _, rows := range srv.Avatars.All(f.World) {
			at, gun := srv.Pos.Slice(rows)[0], srv.Gun.Slice(rows)[0]
			if step := math.Hypot(float64(at.X-x), float64(at.Y-y)); step < 1 {
				p.walked += step
			}
			if x, y = at.X, at.Y; int(gun.Ammo) < ammo {
				p.shots++
				p.aims[srv.Cmd.Slice(rows)[0].Aim] = true
			}
			ammo = int(gun.Ammo)
		}
	}})
	require.NoError(t, err)
	cp, err := cl.Protocol()
	require.NoError(t, err)
	link := sim.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
	_, err = m.Join(client.Config{Protocol: cp, Sample: client.Sample(&cl.Cmd, func(v client.View) game.Command {
		p.hands(m.Net.Now())
		cmd := p.controls.Sample(v)
		p.sent = append(p.sent, cmd)
		return cmd
	})}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(length)
}

// A match is played with keys and a gamepad. In the middle a menu opens: keys that are held then
// neither walk nor fire, also after the menu has closed, until they are released and pressed again.
// Auto-fire shoots without a held key, until the menu ends it.
func TestControlsSwitchSetsInMidMatch(t *testing.T) {
	c, err := game.NewControls()
	require.NoError(t, err)
	pad := c.Map.NewSource()
	p := &person{controls: c}
	type mark struct {
		shots  int
		walked float64
	}
	var marks []mark
	next := time.Duration(0)
	p.hands = func(now time.Duration) {
		for ; now >= next; next += time.Second {
			marks = append(marks, mark{p.shots, p.walked})
		}
		in := func(from, to float64) bool { return now.Seconds() >= from && now.Seconds() < to }
		c.Map.Key("q", in(1, 1.1))                                               // the semi-automatic gun
		c.Map.Key("a", in(3.7, 8.5))                                             // walks, and is held
		c.Map.Key("escape", in(4, 4.2) || in(6, 6.2))                            // a menu, for two seconds
		pad.Axis("gamepad_lstick_y", map[bool]float32{true: -0.8}[in(10, 12)])   // north, with the pad
		pad.Axis("gamepad_rstick_x", map[bool]float32{true: -0.9}[in(12, 13)])   // aims west
		c.Map.Key("mouse_left_button", in(3, 3.1) || in(5, 5.1) || in(13, 13.1)) // one shot each
		pad.Key("gamepad_l1", in(14, 14.1))                                      // auto-fire
		pad.Key("gamepad_start", in(17, 17.1) || in(17.5, 17.6))                 // ended by the menu
	}
	p.plays(t, 20*time.Second)
	did := func(from, to int) (int, float64) {
		return marks[to].shots - marks[from].shots, marks[to].walked - marks[from].walked
	}
	shots, walked := did(2, 4)
	require.Equal(t, 1, shots)
	require.Greater(t, walked, 0.5)
	for _, s := range []struct{ from, to int }{{5, 6}, {7, 9}} { // in the menu, and while keys are still held after it
		shots, walked = did(s.from, s.to)
		require.Zero(t, shots, s)
		require.Less(t, walked, 0.01, s)
	}
	_, walked = did(10, 12)
	require.Greater(t, walked, 2., "the pad's stick")
	shots, _ = did(13, 14)
	require.Equal(t, 1, shots)
	shots, walked = did(14, 17)
	require.Greater(t, shots, 5, "auto-fire")
	require.Less(t, walked, 0.01)
	shots, _ = did(18, 19)
	require.Zero(t, shots, "the menu ended it")
	west := 0
	for aim := range p.aims {
		if math.Abs(float64(aim)) > 3.1 {
			west++
		}
	}
	require.Equal(t, 1, west, "%v", p.aims)
}

// A player edited the file of bindings: arrows walk, a combination fires, and one name is misspelt. The
// match is the same as with the default keys, and the error names the mistake.
func TestControlsReplayAPlayersBindings(t *testing.T) {
	const file = `{
		"play": {
			"move.x": [{"key": "left", "scale": -1}, "right"],
			"fire": ["f"],
			"shoot": ["ctrl+space"],
			"weapon": ["tab"],
			"auto": ["mouse_midle_button"],
			"dance": ["p"]
		}
	}`
	play := func(bindings string, walk, fire, weapon string) ([]game.Command, int, []string) {
		var c *game.Controls
		var ignored []string
		var err error
		if bindings == "" {
			c, err = game.NewControls()
		} else {
			c, ignored, err = game.LoadControls(strings.NewReader(bindings))
		}
		require.NoError(t, err)
		p := &person{controls: c}
		p.hands = func(now time.Duration) {
			s := now.Seconds()
			c.Map.Key(weapon, s > 1 && s < 1.2)
			c.Map.Key(walk, s > 2 && s < 4)
			for _, key := range strings.Split(fire, "+") {
				c.Map.Key(key, s > 3 && math.Mod(s, 1) < 0.2)
			}
		}
		p.plays(t, 8*time.Second)
		return p.sent, p.shots, ignored
	}
	usual, shots, ignored := play("", "d", "mouse_left_button", "q")
	require.Empty(t, ignored)
	require.Greater(t, shots, 3)
	edited, again, ignored := play(file, "right", "control_left+space", "tab")
	require.Len(t, ignored, 2, "%q", ignored)
	require.Contains(t, strings.Join(ignored, "\n"), `do you mean "mouse_middle_button"?`)
	require.Contains(t, strings.Join(ignored, "\n"), `"dance"`)
	require.Equal(t, usual, edited)
	require.Equal(t, shots, again)
	_, none, _ := play(file, "d", "mouse_left_button", "q")
	require.Zero(t, none, "the keys of before do nothing")

	name := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(name, []byte(file), 0o600))
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-print-bindings", name}, &out))
	require.Contains(t, out.String(), "not used: ")
	require.Contains(t, out.String(), `"shoot": ["ctrl+space"]`)
	require.Contains(t, out.String(), `"aim.x"`)
}
