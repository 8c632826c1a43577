// Package turned has a walker whose input is turned by where it looks. Its products pass
// through variables and small functions before they are added.
package turned

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

type Place struct{ X, Y float32 }

type Walk struct {
	Ahead, Aside float32 `net:"min=-1,max=1,step=0.0078125"`
	Look         float32 `net:"angle"`
}

type Game struct {
	Place  ecs.Component[Place]
	Walk   ecs.Component[Walk]
	Walker ecs.Prefab
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("turned", 1)
	p.Component(&g.Place, foretick.Predicted())
	p.Command(&g.Walk)
	p.Prefab(&g.Walker, "walker", &g.Place, &g.Walk)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Walker, player) })
	p.Shared("walk", g.walk, ecs.Read(&g.Walk), ecs.Write(&g.Place))
	return p
}

func (g *Game) walk(f *foretick.Frame, rows ecs.Rows) {
	cmd := g.Walk.Slice(rows)
	for i, at := 0, g.Place.Slice(rows); i < len(at); i++ {
		x, y := turn(cmd[i].Ahead, cmd[i].Aside, cmd[i].Look)
		long := float32(math.Hypot(float64(x), float64(y))) // want `math.Hypot has other last bits`
		if long > 1 {
			x, y = x/long, y/long
		}
		step := x * f.DT
		at[i].X += step            // want `step holds a product without rounding, and is added`
		at[i].Y += scaled(y, f.DT) // want `scaled\(y, f.DT\) is added without being rounded`
	}
}

func turn(x, y, by float32) (float32, float32) {
	s, c := float32(math.Sin(float64(by))), float32(math.Cos(float64(by))) // want `math.Sin has other` `math.Cos has other`
	return x*c - y*s, x*s + y*c                                            // want `x \* c is added` `y \* s is added` `x \* s is added` `y \* c is added`
}

func scaled(x, by float32) float32 { return x * by }

// New returns one end, whose player walks and looks about.
func New() simtest.Player {
	g := &Game{}
	walk := func(v client.View) Walk {
		side := float32(v.Tick/40%2)*2 - 1
		return Walk{Ahead: side * float32(v.Tick%128) / 128, Aside: side * float32(v.Tick%90) / 128, Look: float32(v.Tick%600)/100 - 3}
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Walk, walk)}
}
