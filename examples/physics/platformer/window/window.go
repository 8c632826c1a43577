package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/physics/platformer"
	"github.com/foretick/foretick/input"
)

const scale = 16 // pixels a tile

// window implements ebiten.Game.
type window struct {
	o      options
	game   *platformer.Game
	keys   *input.Map
	match  *match
	view   client.View
	pixel  *ebiten.Image // a white pixel, which is scaled to each shape
	frames int
}

var codes = map[string]ebiten.Key{
	"w": ebiten.KeyW, "a": ebiten.KeyA, "d": ebiten.KeyD, "space": ebiten.KeySpace,
	"up": ebiten.KeyArrowUp, "left": ebiten.KeyArrowLeft, "right": ebiten.KeyArrowRight,
}

func newWindow(o options) (w *window, err error) {
	w = &window{o: o, game: &platformer.Game{}, pixel: ebiten.NewImage(1, 1)}
	w.pixel.Fill(color.White)
	w.keys, err = input.New([]input.Action{{Name: "run", Kind: input.Analogue}, {Name: "jump"}}, input.Set{Keymap: input.Keymap{
		"run":  {{Key: "d"}, {Key: "right"}, {Key: "a", Scale: -1}, {Key: "left", Scale: -1}},
		"jump": {{Key: "w"}, {Key: "up"}, {Key: "space"}},
	}})
	if err != nil {
		return nil, err
	}
	press := func(client.View) platformer.Command {
		return platformer.Command{X: w.keys.Value("run"), Jump: w.keys.JustPressed("jump")}
	}
	if o.auto {
		press = platformer.Bot(1, 0)
	}
	w.match, err = newMatch(o.link, w.game, press)
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

// Draw draws the view of the player's client.
func (w *window) Draw(screen *ebiten.Image) {
	screen.Fill(color.RGBA{24, 26, 32, 255})
	w.game.Shapes(w.view, func(s platformer.Shape) {
		var op ebiten.DrawImageOptions
		op.GeoM.Scale(float64(s.W*scale), float64(s.H*scale))
		op.GeoM.Translate(float64((s.X-s.W/2)*scale), float64((platformer.High-s.Y-s.H/2)*scale)) // up is positive in the level
		switch {
		case s.Lift:
			op.ColorScale.ScaleWithColor(lift)
		case s.Owner == ecs.Nobody:
			op.ColorScale.ScaleWithColor(solid)
		case s.Owner == w.view.Player:
			op.ColorScale.ScaleWithColor(own)
		default:
			op.ColorScale.ScaleWithColor(other)
		}
		screen.DrawImage(w.pixel, &op)
	})
	st := w.match.clients[0].Stats()
	ebitenutil.DebugPrintAt(screen, fmt.Sprintf("a d run, w jumps    round trip %v    corrections: %v", st.Connection.RTT.Round(1e6), st.ByCause), 8, 8)
	w.capture(screen)
}

// The colours of shapes.
var (
	own   = color.RGBA{90, 200, 120, 255}
	other = color.RGBA{220, 110, 90, 255}
	solid = color.RGBA{90, 95, 110, 255}
	lift  = color.RGBA{190, 160, 100, 255}
)

// Layout implements ebiten.Game.
func (w *window) Layout(int, int) (int, int) { return platformer.Wide * scale, platformer.High * scale }

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
