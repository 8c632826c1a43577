package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/lagcomp"
)

// drawings collects shots for -draw-shots: the hitboxes on the shooter's screen, and those that the
// server had and used.
type drawings struct {
	dir    string
	order  []shotKey
	judged map[shotKey]lagcomp.Explanation
	seen   map[shotKey][]lagcomp.Sphere
}

// maxDrawings is the most images drawn for one match.
const maxDrawings = 200

func newDrawings(dir string) *drawings {
	return &drawings{dir: dir, judged: map[shotKey]lagcomp.Explanation{}, seen: map[shotKey][]lagcomp.Sphere{}}
}

// explain records a shot on the server.
func (d *drawings) explain(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray) {
	k := shotKey{by, f.Tick}
	if _, ok := d.judged[k]; ok || len(d.order) == maxDrawings {
		return
	}
	d.order = append(d.order, k)
	x := seen.Explain(ray, 3)
	x.Bodies = slices.DeleteFunc(x.Bodies, func(b lagcomp.ExplainedBody) bool { return b.Owner == uint64(by) })
	d.judged[k] = x
}

// undo forgets the shots of a tick and later ones, which run again. Without -draw-shots it
// does nothing.
func (d *drawings) undo(t foretick.Tick) {
	if d == nil {
		return
	}
	for n := len(d.order); n > 0 && int32(d.order[n-1].tick-t) >= 0; n-- {
		delete(d.judged, d.order[n-1])
		d.order = d.order[:n-1]
	}
}

// screen records the bodies on a shooter's screen when it fired.
func (d *drawings) screen(g *game.Game, f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView) {
	k := shotKey{by, f.Tick}
	var bodies []lagcomp.Sphere
	for _, rows := range g.Avatars.All(f.World) {
		for i := range rows.Len() {
			if v, ok := seen.Hitbox(rows.Entity(i), 0); ok {
				ball, _ := v.Sphere()
				bodies = append(bodies, ball)
			}
		}
	}
	d.seen[k] = bodies
}

// save writes one image for each shot that both ends recorded, and a list of the images.
func (d *drawings) save() error {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	var list strings.Builder
	list.WriteString("# blue: on the shooter's screen; green, filled: what the server judged by; red: where the server had it then; yellow: the line of fire; white: the hit\n")
	for _, k := range d.order {
		x, saw := d.judged[k], d.seen[k]
		if _, ok := d.seen[k]; !ok {
			continue // the server ran another command than the client predicted
		}
		name := fmt.Sprintf("shot-%03d-%06d.png", k.player, k.tick)
		out := "missed"
		if x.Hit.ID != 0 {
			out = fmt.Sprintf("hit player %d at %.2f, %.2f", x.Hit.Owner, x.Hit.Point.X, x.Hit.Point.Y)
		}
		fmt.Fprintf(&list, "%s player %d, tick %d: claimed %d+%.3f, used %d+%.3f (%v), %.2f ticks back: %s\n",
			name, k.player, k.tick, x.Claimed.Tick, x.Claimed.Fraction, x.Used.Tick, x.Used.Fraction, x.Reason, x.Used.Behind(k.tick), out)
		if err := writePNG(filepath.Join(d.dir, name), picture2D(x, saw)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(d.dir, "shots.txt"), []byte(list.String()), 0o644)
}

func writePNG(name string, m image.Image) error {
	w, err := os.Create(name)
	if err != nil {
		return err
	}
	err = png.Encode(w, m)
	if e := w.Close(); err == nil {
		err = e
	}
	return err
}

// The colours of an image.
var (
	ground   = color.RGBA{24, 26, 32, 255}
	stone    = color.RGBA{84, 88, 96, 255}
	onScreen = color.RGBA{90, 160, 255, 255}
	usedThen = color.RGBA{60, 190, 90, 255}
	atTime   = color.RGBA{235, 80, 70, 255}
	fireLine = color.RGBA{250, 210, 70, 255}
	struck   = color.RGBA{255, 255, 255, 255}
)

// canvas is a part of the field seen from above.
type canvas struct {
	*image.RGBA
	x0, y0 float64 // the field's coordinates of the lower left corner
	scale  float64 // pixels a metre
}

// picture2D draws one shot.
func picture2D(x lagcomp.Explanation, saw []lagcomp.Sphere) image.Image {
	length := math.Hypot(float64(x.Ray.DX), float64(x.Ray.DY))
	if length == 0 {
		length = 1
	}
	ax, ay := float64(x.Ray.X), float64(x.Ray.Y)
	bx, by := ax+float64(x.Ray.DX)/length*float64(x.Ray.Range), ay+float64(x.Ray.DY)/length*float64(x.Ray.Range)
	const margin = 2.5
	c := canvas{x0: min(ax, bx) - margin, y0: min(ay, by) - margin, scale: 28}
	w, h := math.Abs(bx-ax)+2*margin, math.Abs(by-ay)+2*margin
	c.RGBA = image.NewRGBA(image.Rect(0, 0, int(w*c.scale), int(h*c.scale)))
	c.each(c.Bounds(), func(px, py float64) (color.RGBA, bool) {
		for _, wl := range game.Walls {
			if px >= float64(wl.X0) && px <= float64(wl.X1) && py >= float64(wl.Y0) && py <= float64(wl.Y1) {
				return stone, true
			}
		}
		return ground, true
	})
	for _, b := range x.Bodies {
		c.spheres(b.Used, usedThen, true)
	}
	for _, b := range x.Bodies {
		c.spheres(b.Present, atTime, false)
	}
	for _, ball := range saw {
		c.ring(ball, onScreen, 0.05, false)
	}
	c.line(ax, ay, bx, by, fireLine)
	if x.Hit.ID != 0 {
		c.ring(lagcomp.Sphere{X: x.Hit.Point.X, Y: x.Hit.Point.Y, R: 0.15}, struck, 0.06, true)
	}
	return c.RGBA
}

func (c *canvas) spheres(vs []lagcomp.Hitbox, col color.RGBA, filled bool) {
	for _, v := range vs {
		if ball, ok := v.Sphere(); ok {
			c.ring(ball, col, 0.08, filled)
		}
	}
}

// each sets every pixel of an area for which fn returns a colour; fn receives
// field coordinates.
func (c *canvas) each(area image.Rectangle, fn func(x, y float64) (color.RGBA, bool)) {
	area, high := area.Intersect(c.Bounds()), c.Bounds().Dy()
	for py := area.Min.Y; py < area.Max.Y; py++ {
		for px := area.Min.X; px < area.Max.X; px++ {
			if col, ok := fn(c.x0+(float64(px)+0.5)/c.scale, c.y0+(float64(high-py)-0.5)/c.scale); ok {
				c.SetRGBA(px, py, col)
			}
		}
	}
}

// ring draws a circle of some width, or a disc.
func (c *canvas) ring(ball lagcomp.Sphere, col color.RGBA, width float64, filled bool) {
	px, py := int((float64(ball.X)-c.x0)*c.scale), c.Bounds().Dy()-int((float64(ball.Y)-c.y0)*c.scale)
	r := int(float64(ball.R)*c.scale) + 2
	c.each(image.Rect(px-r, py-r, px+r, py+r), func(x, y float64) (color.RGBA, bool) {
		d := math.Hypot(x-float64(ball.X), y-float64(ball.Y))
		return col, d <= float64(ball.R) && (filled || d >= float64(ball.R)-width)
	})
}

func (c *canvas) line(ax, ay, bx, by float64, col color.RGBA) {
	n := int(math.Hypot(bx-ax, by-ay)*c.scale) + 1
	for i := range n {
		f := float64(i) / float64(n)
		x, y := ax+(bx-ax)*f, ay+(by-ay)*f
		c.SetRGBA(int((x-c.x0)*c.scale), c.Bounds().Dy()-1-int((y-c.y0)*c.scale), col)
	}
}
