package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// press takes the players' commands. Before and after a fight fighters do nothing.
func (g *Game) press(f *foretick.Frame, rows ecs.Rows) {
	fights := g.Round.Get(f.World).Phase == Fight
	fighter, cmd := g.Fighter.Slice(rows), g.Command.Slice(rows)
	for i := range fighter {
		if !fights {
			a := &fighter[i]
			a.X0, a.Y0, a.Button, a.Wait = 0, 0, NoButton, 0
			continue
		}
		fighter[i].press(cmd[i])
	}
}

// press takes a command. A press is remembered for some ticks, so that one which comes a little
// early acts in the first tick that the fighter is free.
func (a *Fighter) press(c Command) {
	a.X0, a.Y0 = c.X, c.Y
	if a.Wait > 0 {
		if a.Wait--; a.Wait == 0 {
			a.Button = NoButton
		}
	}
	switch {
	case c.Special:
		a.Button, a.Wait = Special, memory
	case c.Kick:
		a.Button, a.Wait = Kick, memory
	case c.Punch:
		a.Button, a.Wait = Punch, memory
	}
}

// act runs a tick of each fighter.
func (g *Game) act(f *foretick.Frame, rows ecs.Rows) {
	fighter := g.Fighter.Slice(rows)
	for i := range fighter {
		a := &fighter[i]
		if a.Still > 0 {
			a.Still--
			continue
		}
		a.proceed()
		a.move()
		if a.Act == Throw && a.For == moves[Throw].Startup+1 {
			ball := Fireball{X: a.X + 500, Y: 1100, VX: ballSpeed}
			if a.Left {
				ball.X, ball.VX = a.X-500, -ballSpeed
			}
			*g.Fireball.Get(f.World, f.SpawnBy(rows.Entity(i), &g.Ball)) = ball
		}
	}
}

// proceed goes on with what the fighter does, or begins something.
func (a *Fighter) proceed() {
	if a.For < 1000 {
		a.For++
	}
	switch {
	case a.Stun > 0:
		a.Stun--
		return
	case a.Act == Down && (a.Y > 0 || a.For <= lying || a.Life <= 0):
		return
	case a.Act == AirKick:
		return // until it lands
	case a.Act == Jump:
		if a.Button == Kick || a.Button == Punch {
			a.begin(AirKick)
		}
		return
	case a.attacks() && a.For <= moves[a.Act].total():
		return
	}
	a.choose()
}

// choose begins what the player wants from a fighter that stands free on the ground.
func (a *Fighter) choose() {
	switch {
	case a.Button == Special:
		a.begin(Throw)
	case a.Button == Kick && a.Y0 < 0:
		a.begin(Sweep)
	case a.Button == Kick:
		a.begin(Roundhouse)
	case a.Button == Punch:
		a.begin(Jab)
	case a.Y0 > 0:
		a.begin(Jump)
		a.VX, a.VY = int32(a.X0)*leap, jump
	case a.Y0 < 0:
		a.stay(Crouch, 0)
	case a.X0 == 0:
		a.stay(Stand, 0)
	case (a.X0 < 0) == a.Left:
		a.stay(Stand, int32(a.X0)*forward)
	default:
		a.stay(Stand, int32(a.X0)*backward)
	}
}

// begin begins an act.
func (a *Fighter) begin(act Act) {
	a.Act, a.For, a.Landed = act, 1, false
	a.Button, a.Wait = NoButton, 0
	if a.Y == 0 {
		a.VX = 0
	}
}

// stay lets a free fighter stand, walk or crouch.
func (a *Fighter) stay(act Act, vx int32) {
	if a.Act != act {
		a.Act, a.For = act, 1
	}
	a.VX = vx
}

// move moves a fighter by its speed. On the ground what pushed it grows weaker.
func (a *Fighter) move() {
	a.X += a.VX
	if a.Y > 0 || a.VY > 0 {
		a.Y += a.VY
		a.VY -= gravity
		if a.Y > 0 {
			return
		}
		a.Y, a.VX, a.VY = 0, 0, 0
		if a.Act == Jump || a.Act == AirKick {
			a.stay(Stand, 0)
		}
	}
	if !a.Free() {
		a.VX = a.VX * 7 / 8
	}
}

// fly moves fireballs, and ends those that leave the stage.
func (g *Game) fly(f *foretick.Frame, rows ecs.Rows) {
	ball := g.Fireball.Slice(rows)
	for i, e := range rows.Entities() {
		ball[i].X += ball[i].VX
		if ball[i].X < -edge || ball[i].X > edge {
			f.Destroy(e)
		}
	}
}
