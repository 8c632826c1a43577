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
	"github.com/foretick/foretick/examples/physics/yard"
	"github.com/foretick/foretick/input"
)

const scale = 24 // pixels a metre

// window implements ebiten.Game.
type window struct {
	o      options
	game   *yard.Game
	keys   *input.Map
	match  *match
	view   client.View
	pixel  *ebiten.Image // a white pixel, which is scaled to each shape
	frames int
}

var codes = map[string]ebiten.Key{
	"w": ebiten.KeyW, "a": ebiten.KeyA, "s": ebiten.KeyS, "d": ebiten.KeyD,
	"up": ebiten.KeyArrowUp, "left": ebiten.KeyArrowLeft, "down": ebiten.KeyArrowDown, "right": ebiten.KeyArrowRight,
}

func newWindow(o options) (w *window, err error) {
	w = &window{o: o, game: &yard.Game{}, pixel: ebiten.NewImage(1, 1)}
	w.pixel.Fill(color.White)
	w.keys, err = input.New([]input.Action{{Name: "wheel", Kind: input.Analogue}, {Name: "throttle", Kind: input.Analogue}}, input.Set{Keymap: input.Keymap{
		"wheel":    {{Key: "a"}, {Key: "left"}, {Key: "d", Scale: -1}, {Key: "right", Scale: -1}},
		"throttle": {{Key: "w"}, {Key: "up"}, {Key: "s", Scale: -1}, {Key: "down", Scale: -1}},
	}})
	if err != nil {
		return nil, err
	}
	drive := func(client.View) yard.Command {
		return yard.Command{Wheel: w.keys.Value("wheel"), Throttle: w.keys.Value("throttle")}
	}
	if o.auto {
		drive = yard.Bot(w.game, 1, 0)
	}
	w.match, err = newMatch(o.link, w.game, drive)
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
	w.game.Shapes(w.view.World, func(s yard.Shape) {
		var op ebiten.DrawImageOptions
		op.GeoM.Translate(-0.5, -0.5)
		op.GeoM.Scale(float64(s.W*scale), float64(s.H*scale))
		op.GeoM.Rotate(-float64(s.Angle)) // up is positive in the yard
		op.GeoM.Translate(float64((s.X+yard.Length/2)*scale), float64((yard.Width/2-s.Y)*scale))
		switch s.Owner {
		case ecs.Nobody:
			op.ColorScale.ScaleWithColor(crate)
		case w.view.Player:
			op.ColorScale.ScaleWithColor(own)
		default:
			op.ColorScale.ScaleWithColor(other)
		}
		screen.DrawImage(w.pixel, &op)
	})
	st := w.match.clients[0].Stats()
	ebitenutil.DebugPrintAt(screen, fmt.Sprintf("w a s d drive    round trip %v    corrections: %v", st.Connection.RTT.Round(1e6), st.ByCause), 8, 8)
	w.capture(screen)
}

// The colours of bodies.
var (
	own   = color.RGBA{90, 200, 120, 255}
	other = color.RGBA{220, 110, 90, 255}
	crate = color.RGBA{190, 160, 100, 255}
)

// Layout implements ebiten.Game.
func (w *window) Layout(int, int) (int, int) { return yard.Length * scale, yard.Width * scale }

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
