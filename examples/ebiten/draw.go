package main

import (
	"fmt"
	"image/color"
	"math"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/foretick/foretick/examples/ebiten/duel"
)

// scale is the number of pixels in a metre.
const scale = 32

var (
	ground = color.RGBA{24, 28, 36, 255}
	grid   = color.RGBA{32, 38, 48, 255}
	own    = color.RGBA{90, 200, 120, 255}
	others = color.RGBA{220, 110, 90, 255}
	tracer = color.RGBA{250, 240, 160, 255}
	struck = color.RGBA{255, 90, 90, 255}
	onHost = color.RGBA{120, 170, 255, 255}
)

// Draw implements ebiten.Game. It reads the view's world: there, other players are
// interpolated, and this window's player is predicted.
func (w *window) Draw(screen *ebiten.Image) {
	screen.Fill(ground)
	for x := float32(0); x <= duel.Width; x += 2 {
		vector.StrokeLine(screen, x*scale, 0, x*scale, duel.Height*scale, 1, grid, false)
	}
	for y := float32(0); y <= duel.Height; y += 2 {
		vector.StrokeLine(screen, 0, y*scale, duel.Width*scale, y*scale, 1, grid, false)
	}
	w.drawShots(screen)
	for _, rows := range w.game.Players().All(w.view.World) {
		pos, face, health := w.game.Pos.Slice(rows), w.game.Face.Slice(rows), w.game.Health.Slice(rows)
		colour := others
		if rows.Owner() == w.view.Player {
			colour = own
		}
		for i := range pos {
			drawBody(screen, pos[i], face[i], colour)
			ebitenutil.DebugPrintAt(screen, fmt.Sprintf("%d  %d%%  %d kills", rows.Owner(), health[i].Points, health[i].Kills), int(pos[i].X*scale)-40, int(pos[i].Y*scale)-36)
		}
	}
	if w.showServer {
		w.drawServer(screen)
	}
	if w.showFigures {
		ebitenutil.DebugPrintAt(screen, w.figures.text, 8, 8)
	}
	ebitenutil.DebugPrintAt(screen, fmt.Sprintf("%v   WASD, mouse   F1 rebinds fire   F3 figures   F4 network: %s   F5 server's view", w.view.State, w.network.name()), 8, duel.Height*scale-20)
	ebitenutil.DebugPrintAt(screen, w.rebinding.Text, 8, duel.Height*scale-60)
	w.capture(screen)
}

func drawBody(screen *ebiten.Image, at duel.Position, face duel.Facing, colour color.Color) {
	x, y := at.X*scale, at.Y*scale
	sin, cos := math.Sincos(float64(face.Angle))
	vector.FillCircle(screen, x, y, duel.Radius*scale, colour, true)
	vector.StrokeLine(screen, x, y, x+float32(cos)*scale, y+float32(sin)*scale, 4, colour, true)
}

func (w *window) drawShots(screen *ebiten.Image) {
	kept := w.shots[:0]
	for _, s := range w.shots {
		colour := tracer
		if s.Hit {
			colour = struck
		}
		vector.StrokeLine(screen, s.X*scale, s.Y*scale, s.ToX*scale, s.ToY*scale, float32(s.left)/4, colour, true)
		if s.left--; s.left > 0 {
			kept = append(kept, s)
		}
	}
	w.shots = kept
}
