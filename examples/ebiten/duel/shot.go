package duel

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

// fire pulls the trigger, on both ends. What a shot does is the handlers' work.
func (g *Game) fire(f *foretick.Frame, rows ecs.Rows) {
	cmd, gun := g.Cmd.Slice(rows), g.Gun.Slice(rows)
	pos, face := g.Pos.Slice(rows), g.Face.Slice(rows)
	for i := range gun {
		if gun[i].Wait > 0 {
			gun[i].Wait--
		}
		if cmd[i].Fire && gun[i].Wait == 0 {
			gun[i].Wait = cooldown
			g.shot.Raise(f, rows.Entity(i), Shot{lagcomp.Ray2D(pos[i].X, pos[i].Y, face[i].Angle, reach)})
		}
	}
}

// trace follows a shot through the world as its player saw it.
func (g *Game) trace(f *foretick.Frame, by foretick.PlayerID, s Shot) (Traced, ecs.Entity) {
	hit, ok := f.Rewind(by).Raycast(s.Ray)
	far := s.Ray.Range
	if ok {
		far = hit.Distance
	}
	r := s.Ray
	return Traced{X: r.X, Y: r.Y, ToX: r.X + r.DX*far, ToY: r.Y + r.DY*far, By: uint16(by), Hit: ok}, hit.Entity
}

// predicted runs on the shooter's client, in the frame after the press.
func (g *Game) predicted(f *foretick.Frame, by foretick.By, s Shot) {
	if g.OnShot != nil {
		t, _ := g.trace(f, by.Player, s)
		g.OnShot(t, true)
	}
}

// seen runs on every client: the shooter has seen its own shot already.
func (g *Game) seen(f *foretick.Frame, _ foretick.Tick, t Traced) {
	if g.OnShot != nil {
		g.OnShot(t, false)
	}
}

// judge runs on the server: it looks at what the shooter saw, and hurts in the present.
func (g *Game) judge(f *foretick.ServerFrame, by foretick.By, s Shot) {
	t, target := g.trace(f.Frame, by.Player, s)
	g.traced.Broadcast(f, t)
	health := g.Health.Find(f.World, target)
	if health == nil {
		return
	}
	if health.Points > damage {
		health.Points -= damage
		return
	}
	health.Points = 100
	*g.Pos.Get(f.World, target) = g.place(f.Frame, f.World.Owner(target))
	f.Teleport(target)
	g.score(f.Frame, by.Player)
}

// score counts a kill for a player's body, if the player still has one.
func (g *Game) score(f *foretick.Frame, player foretick.PlayerID) {
	for _, rows := range g.players.Owned(f.World, player) {
		g.Health.Slice(rows)[0].Kills++
	}
}
