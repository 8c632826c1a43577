package game

import (
	"math"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// HoldAim is how long a body keeps its aim while its player's commands are missing. It is for
// server.Config.DecayInput.
const HoldAim = time.Minute

// movement is the walking feature.
type movement struct{ g *Game }

// Declare adds its systems.
func (m movement) Declare(p *foretick.Protocol) {
	g := m.g
	foretick.Decay(p, &g.Cmd, func(c *Command, _ int) { *c = Command{Aim: c.Aim} }) // a zero command would turn the body
	p.Shared("aim", g.aim, ecs.Stage(stageAct), ecs.Partial(), ecs.Read(&g.Cmd, &g.Status), ecs.Write(&g.Face))
	p.Shared("move", g.move, ecs.Stage(stageAct), ecs.Partial(), ecs.Read(&g.Cmd, &g.Status), ecs.Write(&g.Pos, &g.Vel))
}

func (g *Game) aim(f *foretick.Frame, rows ecs.Rows) {
	face, cmd, status := g.Face.Slice(rows), g.Cmd.Slice(rows), g.Status.Slice(rows)
	for i := range face {
		if !status[i].Dead {
			face[i].Angle = cmd[i].Aim
		}
	}
	if g.Watch.Turned != nil {
		g.Watch.Turned(f, rows)
	}
}

func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	pos, vel := g.Pos.Slice(rows), g.Vel.Slice(rows)
	cmd, status := g.Cmd.Slice(rows), g.Status.Slice(rows)
	for i := range pos {
		wx, wy := cmd[i].MoveX*topSpeed, cmd[i].MoveY*topSpeed
		if status[i].Dead || status[i].Stun > 0 {
			wx, wy = 0, 0
		}
		if g.opt.Bias && f.Tick%40 == 0 {
			wx++
		}
		vel[i].X, vel[i].Y = approach(vel[i].X, wx, f.DT), approach(vel[i].Y, wy, f.DT)
		pos[i].X += float32(vel[i].X * f.DT)
		pos[i].Y += float32(vel[i].Y * f.DT)
		sx, sy := collide(&pos[i].X, &pos[i].Y, BodyRadius)
		if sx {
			vel[i].X = 0
		}
		if sy {
			vel[i].Y = 0
		}
	}
}

// approach moves a speed closer to the wanted one.
func approach(v, want, dt float32) float32 {
	rate := float32(acceleration)
	if want == 0 {
		rate = friction
	}
	step := rate * dt
	if float32(math.Abs(float64(want-v))) <= step {
		return want
	}
	if want > v {
		return v + float32(step)
	}
	return v - float32(step)
}
