// Package wide has a ship in float64 that turns, and flies where it points.
package wide

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

type Ship struct {
	X, Y, VX, VY, Heading float64
}

type Helm struct {
	Turn, Thrust float32 `net:"min=-1,max=1,step=0.0078125"`
}

type Game struct {
	Ship  ecs.Component[Ship]
	Helm  ecs.Component[Helm]
	Flyer ecs.Prefab
}

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("wide", 1)
	p.Component(&g.Ship, foretick.Predicted())
	p.Command(&g.Helm)
	p.Prefab(&g.Flyer, "ship", &g.Ship, &g.Helm)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.Flyer, player) })
	p.Shared("fly", g.fly, ecs.Read(&g.Helm), ecs.Write(&g.Ship))
	return p
}

func (g *Game) fly(f *foretick.Frame, rows ecs.Rows) {
	helm, dt := g.Helm.Slice(rows), float64(f.DT)
	for i, s := 0, g.Ship.Slice(rows); i < len(s); i++ {
		s[i].Heading += float64(helm[i].Turn) * 3.1 * dt // want `is added without being rounded`
		sin, cos := math.Sincos(s[i].Heading)            // want `math.Sincos has other last bits on other architectures; use mathf.Sincos`
		s[i].VX += cos * float64(helm[i].Thrust) * dt    // want `is added without being rounded`
		s[i].VY += sin * float64(helm[i].Thrust) * dt    // want `is added without being rounded`
		s[i].X += s[i].VX * dt                           // want `s\[i\].VX \* dt is added`
		s[i].Y += s[i].VY * dt                           // want `s\[i\].VY \* dt is added`
	}
}

// New returns one end, whose player turns and thrusts.
func New() simtest.Player {
	g := &Game{}
	steer := func(v client.View) Helm {
		return Helm{Turn: float32(v.Tick%256)/128 - 1, Thrust: float32(v.Tick/40%2)*2 - 1}
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Helm, steer)}
}
