package orchard

import (
	"slices"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
)

// Fell is where an apple fell, for the dust that it raises.
type Fell struct {
	X, Y float32 `net:"min=0,max=32,step=0.01"`
}

// fall is an apple that fell in a tick which the screen has not reached.
type fall struct {
	tick foretick.Tick
	at   Fell
}

func (g *Game) declareMoments(p *foretick.Protocol) { g.Fell.OnClient(p, g.fell) }

// fell runs on every client before the apple is drawn, because others are drawn in the past.
func (g *Game) fell(_ *foretick.Frame, tick foretick.Tick, at Fell) {
	g.falls = append(g.falls, fall{tick, at})
}

// ShowFalls raises the dust of the apples that the frame shows. Call it after each Step.
func (g *Game) ShowFalls(v client.View) {
	g.falls = slices.DeleteFunc(g.falls, func(f fall) bool {
		drawn := int32(v.RenderTick-f.tick) >= 0
		if drawn && g.Dust != nil {
			g.Dust(f.at)
		}
		return drawn
	})
}

// Snapshot is for client.Config.OnSnapshot. It keeps the tick of the first one.
func (g *Game) Snapshot(t foretick.Tick) {
	if g.first == 0 {
		g.first = t
	}
}

// OthersShown reports whether the frame shows those who were there when this player came.
func (g *Game) OthersShown(v client.View) bool {
	return v.State == client.Playing && int32(v.RenderTick-g.first) >= 0
}
