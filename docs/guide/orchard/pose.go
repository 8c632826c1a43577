package orchard

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// Poses of a body.
const (
	Standing = iota
	Running
	Throwing
)

// Pose is what a body does, and since when. The rest of the animation follows from it.
type Pose struct {
	Is    uint8 `net:"max=2" enum:"standing,running,throwing"`
	Since foretick.Tick
}

func (g *Game) declarePose(p *foretick.Protocol) {
	p.Component(&g.Pose, foretick.Predicted())
	p.Shared("pose", g.pose, ecs.Read(&g.Cmd), ecs.Write(&g.Pose))
	p.OnAppear(func(*foretick.Frame, ecs.Entity) { g.play("throw") }, foretick.OfPrefab(&g.Thrown))
	p.Render("pick sound", g.pickSound, ecs.Read(&g.Bag))
}

// pose changes what a body does. Throwing takes eight ticks.
func (g *Game) pose(f *foretick.Frame, rows ecs.Rows) {
	pose, cmd := g.Pose.Slice(rows), g.Cmd.Slice(rows)
	for i := range pose {
		is := uint8(Standing)
		switch {
		case cmd[i].Throw, pose[i].Is == Throwing && f.Tick-pose[i].Since < 8:
			is = Throwing
		case cmd[i].X != 0 || cmd[i].Y != 0:
			is = Running
		}
		if is != pose[i].Is {
			pose[i] = Pose{is, f.Tick}
		}
	}
}

// Age returns for how many ticks a body has had its pose in the frame that is drawn.
func Age(v client.View, owner foretick.PlayerID, p Pose) float32 {
	if owner == v.Player { // predicted: drawn between the last two ticks
		return float32(int32(v.Tick-1-p.Since)) + v.Fraction
	}
	return float32(int32(v.RenderTick-p.Since)) + v.RenderFraction
}

// Drawn returns the image of an animation of so many, at a number of images a second.
func Drawn(age float32, images int, aSecond float32) int {
	return int(max(age, 0)/30*aSecond) % images
}

// pickSound plays a sound where a drawn bag has more than in the frame before.
func (g *Game) pickSound(_ *foretick.Frame, rows ecs.Rows) {
	for i, bag := range g.Bag.Slice(rows) {
		e := rows.Entity(i)
		if before, ok := g.apart[e]; ok && bag.Apples > before {
			g.play("pick")
		}
		if g.apart == nil {
			g.apart = map[ecs.Entity]uint8{}
		}
		g.apart[e] = bag.Apples
	}
}
