// Package stepped has a satellite that circles, whose place is sent in steps.
package stepped

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

type Body struct {
	X, Y float32 `net:"min=-1000,max=1000,step=0.01,lerp"`
}

type Drive struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

type Game struct {
	Body      ecs.Component[Body]
	Drive     ecs.Component[Drive]
	Satellite ecs.Prefab
}

const (
	cos, sin = 0.99875026, 0.04997917 // of a twentieth, each tick
	thrust   = 7.3                    // metres a second
)

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("stepped", 1)
	p.Component(&g.Body, foretick.Predicted())
	p.Command(&g.Drive)
	p.Prefab(&g.Satellite, "satellite", &g.Body, &g.Drive)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.Body.Get(f.World, f.Spawn(&g.Satellite, player)) = Body{X: 700, Y: -600}
	})
	p.Shared("circle", g.circle, ecs.Read(&g.Drive), ecs.Write(&g.Body))
	return p
}

func (g *Game) circle(f *foretick.Frame, rows ecs.Rows) {
	cmd := g.Drive.Slice(rows)
	for i, b := 0, g.Body.Slice(rows); i < len(b); i++ {
		x, y := b[i].X*cos-b[i].Y*sin, b[i].X*sin+b[i].Y*cos // want `b\[i\].X \* cos is added` `b\[i\].Y \* sin is added` `b\[i\].X \* sin is added` `b\[i\].Y \* cos is added`
		b[i].X = x + cmd[i].X*thrust*f.DT                    // want `cmd\[i\].X \* thrust \* f.DT is added`
		b[i].Y = y + cmd[i].Y*thrust*f.DT                    // want `cmd\[i\].Y \* thrust \* f.DT is added`
	}
}

// New returns one end, whose player pushes it to and fro.
func New() simtest.Player {
	g := &Game{}
	steer := func(v client.View) Drive {
		return Drive{X: float32(v.Tick%199)/100 - 1, Y: float32(v.Tick%151)/76 - 1}
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Drive, steer)}
}
