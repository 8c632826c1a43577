package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/donburi/field"
	"github.com/foretick/foretick/input"
)

const scale = 16 // pixels a unit of the field

// window implements ebiten.Game.
type window struct {
	o      options
	game   *field.Game
	keys   *input.Map
	match  *match
	view   client.View
	frames int
}

var codes = map[string]ebiten.Key{"w": ebiten.KeyW, "a": ebiten.KeyA, "s": ebiten.KeyS, "d": ebiten.KeyD, "space": ebiten.KeySpace}

func newWindow(o options) (w *window, err error) {
	w = &window{o: o, game: &field.Game{}}
	w.keys, err = input.New([]input.Action{{Name: "x", Kind: input.Analogue}, {Name: "y", Kind: input.Analogue}, {Name: "throw"}}, input.Set{Keymap: input.Keymap{
		"x": {{Key: "a", Scale: -1}, {Key: "d"}}, "y": {{Key: "w", Scale: -1}, {Key: "s"}}, "throw": {{Key: "space"}},
	}})
	if err != nil {
		return nil, err
	}
	play := func(client.View) field.Pad {
		return field.Pad{X: w.keys.Value("x"), Y: w.keys.Value("y"), Throw: w.keys.Pressed("throw")}
	}
	if o.auto {
		play = field.Bot(1, 0)
	}
	w.match, err = newMatch(o.link, w.game, play)
	return w, err
}

// Update implements ebiten.Game. It runs once for each frame that is drawn: see SetTPS in main.go.
func (w *window) Update() error {
	for name, code := range codes {
		w.keys.Key(name, ebiten.IsKeyPressed(code))
	}
	w.view = w.match.step()
	w.keys.EndFrame()
	if w.view.State == client.Closed {
		return fmt.Errorf("the match is over: %w", w.view.Err)
	}
	w.frames++
	if w.o.frames > 0 && w.frames > w.o.frames {
		return ebiten.Termination
	}
	return nil
}

// Draw draws the donburi world of the player's client.
func (w *window) Draw(screen *ebiten.Image) {
	screen.Fill(color.RGBA{24, 26, 32, 255})
	field.Walls(func(left, top, right, bottom float32) {
		vector.FillRect(screen, left*scale, top*scale, (right-left)*scale, (bottom-top)*scale, wall, false)
	})
	coins := uint16(0)
	w.game.Things(w.view.World, func(t field.Thing) {
		size, colour := float32(8), other
		if t.Owner == w.view.Player && t.Owner != ecs.Nobody {
			colour, coins = own, coins+t.Coins
		}
		switch t.Sign {
		case '*':
			size = 4
		case '$':
			size, colour = 5, coin
		}
		vector.FillCircle(screen, t.X*scale, t.Y*scale, size, colour, true)
	})
	st := w.match.clients[0].Stats()
	ebitenutil.DebugPrintAt(screen, fmt.Sprintf("w a s d run, space throws    %d coins    round trip %v    corrections: %v", coins, st.Connection.RTT.Round(1e6), st.ByCause), 8, 8)
	w.capture(screen)
}

// The colours of things.
var (
	own   = color.RGBA{90, 200, 120, 255}
	other = color.RGBA{220, 110, 90, 255}
	coin  = color.RGBA{240, 210, 90, 255}
	wall  = color.RGBA{90, 95, 110, 255}
)

// Layout implements ebiten.Game.
func (w *window) Layout(int, int) (int, int) { return field.Width * scale, field.Height * scale }

// capture writes the screenshot, in the last frame.
func (w *window) capture(screen *ebiten.Image) {
	if w.o.screenshot == "" || w.frames != w.o.frames {
		return
	}
	img := image.NewRGBA(screen.Bounds())
	screen.ReadPixels(img.Pix)
	f, err := os.Create(w.o.screenshot)
	if err == nil {
		err = png.Encode(f, img)
	}
	if err != nil {
		panic(err)
	}
	_ = f.Close()
}
