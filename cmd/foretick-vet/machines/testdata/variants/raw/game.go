// Package raw has a car with drag, whose fields are sent as they are, in float32.
package raw

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
)

type Body struct {
	X, Y   float32 `net:"lerp"`
	VX, VY float32
}

type Drive struct {
	X, Y float32 `net:"min=-1,max=1,step=0.0078125"`
}

type Game struct {
	Body  ecs.Component[Body]
	Drive ecs.Component[Drive]
	Car   ecs.Prefab
}

const (
	engine = 23.7 // metres a second, each second
	drag   = 0.93
)

func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("raw", 1)
	p.Component(&g.Body, foretick.Predicted())
	p.Command(&g.Drive)
	p.Prefab(&g.Car, "car", &g.Body, &g.Drive)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		*g.Body.Get(f.World, f.Spawn(&g.Car, player)) = Body{X: 300, Y: -200}
	})
	p.Shared("drive", g.drive, ecs.Read(&g.Drive), ecs.Write(&g.Body))
	return p
}

func (g *Game) drive(f *foretick.Frame, rows ecs.Rows) {
	cmd := g.Drive.Slice(rows)
	for i, b := 0, g.Body.Slice(rows); i < len(b); i++ {
		b[i].VX = b[i].VX*drag + cmd[i].X*engine*f.DT // want `b\[i\].VX \* drag is added` `cmd\[i\].X \* engine \* f.DT is added`
		b[i].VY = b[i].VY*drag + cmd[i].Y*engine*f.DT // want `b\[i\].VY \* drag is added` `cmd\[i\].Y \* engine \* f.DT is added`
		b[i].X += b[i].VX * f.DT                      // want `b\[i\].VX \* f.DT is added`
		b[i].Y += b[i].VY * f.DT                      // want `b\[i\].VY \* f.DT is added`
	}
}

// New returns one end, whose player drives to and fro.
func New() simtest.Player {
	g := &Game{}
	steer := func(v client.View) Drive {
		side := float32(v.Tick/40%2)*2 - 1
		return Drive{X: side * float32(v.Tick%128) / 128, Y: side * float32(v.Tick%90) / 128}
	}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Drive, steer)}
}
