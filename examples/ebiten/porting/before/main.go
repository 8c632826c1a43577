// Before is a game for one player, such as many that are written for Ebitengine: a ship
// shoots rocks. The guide's page on porting moves it to Foretick piece by piece; the result
// is in the packages ship and window.
package main

import (
	"fmt"
	"image/color"
	"log"
	"math"
	"math/rand/v2"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
)

const width, height = 640, 480

var (
	shipImage = ebiten.NewImage(24, 24)
	rockImage = ebiten.NewImage(40, 40)
	shotImage = ebiten.NewImage(4, 4)
	score     int
)

type body struct {
	x, y, vx, vy float64
	angle        float64
	left         int // frames
}

type game struct {
	ship   body
	ready  time.Time
	rocks  []*body
	shots  []*body
	bangs  int // played
	reborn int
}

func (g *game) Update() error {
	g.steer()
	g.fire()
	g.move()
	g.collide()
	if rand.IntN(60) == 0 {
		g.rocks = append(g.rocks, &body{x: rand.Float64() * width, vx: rand.Float64() - 0.5, vy: 1 + rand.Float64()})
	}
	return nil
}

func (g *game) steer() {
	s := &g.ship
	if ebiten.IsKeyPressed(ebiten.KeyLeft) {
		s.angle -= 0.08
	}
	if ebiten.IsKeyPressed(ebiten.KeyRight) {
		s.angle += 0.08
	}
	if ebiten.IsKeyPressed(ebiten.KeyUp) {
		s.vx += 0.1 * math.Cos(s.angle)
		s.vy += 0.1 * math.Sin(s.angle)
	}
	s.vx *= 0.99
	s.vy *= 0.99
}

func (g *game) fire() {
	if !ebiten.IsKeyPressed(ebiten.KeySpace) || time.Now().Before(g.ready) {
		return
	}
	g.ready = time.Now().Add(250 * time.Millisecond)
	sin, cos := math.Sincos(g.ship.angle)
	g.shots = append(g.shots, &body{x: g.ship.x, y: g.ship.y, vx: 6 * cos, vy: 6 * sin, left: 60})
	g.bangs++
}

func (g *game) move() {
	all := append([]*body{&g.ship}, g.rocks...)
	for _, b := range append(all, g.shots...) {
		b.x = math.Mod(b.x+b.vx+width, width)
		b.y = math.Mod(b.y+b.vy+height, height)
	}
	kept := g.shots[:0]
	for _, s := range g.shots {
		if s.left--; s.left > 0 {
			kept = append(kept, s)
		}
	}
	g.shots = kept
}

func (g *game) collide() {
	for i := 0; i < len(g.rocks); i++ {
		r := g.rocks[i]
		reach := float64(rockImage.Bounds().Dx()+shipImage.Bounds().Dx()) / 2
		if math.Hypot(r.x-g.ship.x, r.y-g.ship.y) < reach {
			g.ship = body{x: width / 2, y: height / 2}
			g.reborn++
		}
		for k, s := range g.shots {
			if math.Hypot(r.x-s.x, r.y-s.y) < float64(rockImage.Bounds().Dx())/2 {
				score += 10
				g.rocks = append(g.rocks[:i], g.rocks[i+1:]...)
				g.shots = append(g.shots[:k], g.shots[k+1:]...)
				i--
				break
			}
		}
	}
}

func (g *game) Draw(screen *ebiten.Image) {
	draw := func(img *ebiten.Image, b *body, c color.Color) {
		img.Fill(c)
		var op ebiten.DrawImageOptions
		op.GeoM.Translate(-float64(img.Bounds().Dx())/2, -float64(img.Bounds().Dy())/2)
		op.GeoM.Rotate(b.angle)
		op.GeoM.Translate(b.x, b.y)
		screen.DrawImage(img, &op)
	}
	for _, r := range g.rocks {
		draw(rockImage, r, color.Gray{120})
	}
	for _, s := range g.shots {
		draw(shotImage, s, color.White)
	}
	draw(shipImage, &g.ship, color.RGBA{90, 200, 120, 255})
	ebitenutil.DebugPrint(screen, fmt.Sprint(score))
}

func (g *game) Layout(int, int) (int, int) { return width, height }

func main() {
	log.Fatal(ebiten.RunGame(&game{ship: body{x: width / 2, y: height / 2}}))
}
