package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/mathf"
)

// guns is the shooting feature.
type guns struct{ g *Game }

// The guns.
const (
	Automatic uint8 = iota
	Semi
	Launcher
)

// gun is a weapon's rules; times in ticks at 30 Hz.
type gun struct {
	cooldown int
	damage   int16
}

var arsenal = [...]gun{Automatic: {4, 4}, Semi: {9, 9}, Launcher: {24, 20}}

const reloadTicks = 20

// Declare adds its systems.
func (m guns) Declare(p *foretick.Protocol) {
	g := m.g
	p.Server("witness", g.witness, ecs.Stage(stageAct), ecs.Read(&g.Status, &g.Gun, &g.Cmd), ecs.Before("fire"))
	p.Shared("fire", g.fire, ecs.Stage(stageAct), ecs.Read(&g.Cmd, &g.Pos, &g.Face, &g.Status), ecs.Write(&g.Gun))
	g.Shot.OnServer(p, g.damage, ecs.ReadOther(&g.Pos), ecs.WriteOther(&g.HP, &g.Status, &g.Life))
	g.Launch.OnServer(p, g.launch, ecs.Create(&g.Pos, &g.Face, &g.Bolt))
	g.Shot.OnPredicted(p, g.tracer)
	p.Server("fly", g.fly, ecs.Stage(stageWorld), ecs.Write(&g.Pos, &g.Bolt), ecs.WriteOther(&g.HP, &g.Status, &g.Life), ecs.Structural())
}

// witness passes the bodies to the report before the guns work.
func (g *Game) witness(f *foretick.ServerFrame, rows ecs.Rows) {
	if g.Watch.Before != nil {
		defer f.World.Guard(f.World.Guard(false)) // the report may read anything
		g.Watch.Before(f.Frame, rows)
	}
}

// fire handles triggers, magazines and cooldowns.
func (g *Game) fire(f *foretick.Frame, rows ecs.Rows) {
	pos, face, gun := g.Pos.Slice(rows), g.Face.Slice(rows), g.Gun.Slice(rows)
	cmd, status := g.Cmd.Slice(rows), g.Status.Slice(rows)
	for i := range gun {
		w := &gun[i]
		if w.Cooldown > 0 {
			w.Cooldown--
		}
		if w.Reload > 0 {
			if w.Reload--; w.Reload == 0 {
				w.Ammo = Magazine
			}
		}
		if w.Cooldown == 0 {
			w.Kind = cmd[i].Weapon
		}
		trigger := cmd[i].Fire
		if w.Kind == Semi {
			trigger = cmd[i].Shoot
		}
		if !trigger || status[i].Dead || status[i].Stun > 0 || w.Cooldown > 0 || w.Reload > 0 || w.Ammo == 0 {
			continue
		}
		g.discharge(f, rows.Entity(i), w, &pos[i], face[i].Angle)
	}
}

func (g *Game) discharge(f *foretick.Frame, by ecs.Entity, w *Weapon, at *Position, angle float32) {
	w.Cooldown = uint8(g.ticks(arsenal[w.Kind].cooldown))
	if w.Ammo--; w.Ammo == 0 {
		w.Reload = uint8(g.ticks(reloadTicks))
	}
	if w.Kind == Launcher {
		g.Launch.Raise(f, by, Launch{at.X, at.Y, angle})
		return
	}
	ray := lagcomp.Ray2D(at.X, at.Y, angle, sight(at.X, at.Y, angle, GunRange))
	g.Shot.Raise(f, by, Shot{ray, arsenal[w.Kind].damage, w.Kind})
}

// tracer runs on the shooter's client: it finds what the shot seems to hit on
// the screen.
func (g *Game) tracer(f *foretick.Frame, by foretick.By, s Shot) {
	player, seen := by.Player, f.Rewind(by.Player)
	if g.Watch.Fired != nil {
		hit, _ := seen.Raycast(s.Ray)
		g.Watch.Fired(f, by.Entity, hit, bodyOn(seen, hit))
	}
	if g.Watch.Aimed != nil {
		g.Watch.Aimed(f, player, s.Ray, seen)
	}
	if g.Watch.Screenshot != nil {
		g.Watch.Screenshot(f, player, seen)
	}
}

// damage judges a shot in the past that the shooter saw, and applies the damage
// in the present.
func (g *Game) damage(f *foretick.ServerFrame, by foretick.By, s Shot) {
	seen := f.Rewind(by.Player)
	self := g.bodyOf(f.Frame, by.Player)
	if life := g.Life.Find(f.World, self); life != nil && life.Present {
		seen = f.Present().Except(self)
	}
	hit, ok := seen.Raycast(s.Ray)
	if g.Watch.Judged != nil {
		g.Watch.Judged(f.Frame, by.Player, s.Ray, hit.Entity, ok)
	}
	if g.Watch.Explain != nil {
		g.Watch.Explain(f.Frame, by.Player, seen, s.Ray)
	}
	if ok {
		at := bodyOn(seen, hit)
		back := seen.Behind() * f.DT * 1000
		g.hurt(f, hit.Entity, s.Damage, Hurt{By: uint16(by.Player), Gun: s.Gun, Rewound: uint16(back + 0.5), X: at.X, Y: at.Y})
	}
}

// bodyOf returns a player's body.
func (g *Game) bodyOf(f *foretick.Frame, player foretick.PlayerID) ecs.Entity {
	for _, rows := range g.Avatars.Owned(f.World, player) {
		return rows.Entity(0)
	}
	return ecs.None
}

// bodyOn returns where a shooter saw the body that it hit.
func bodyOn(seen foretick.HitView, hit foretick.Hit) lagcomp.Sphere {
	v, _ := seen.Hitbox(hit.Entity, hit.Index)
	return v.Bound()
}

// launch creates a bolt.
func (g *Game) launch(f *foretick.ServerFrame, by foretick.By, l Launch) {
	e := f.Spawn(&g.Bolts, ecs.Nobody)
	sin, cos := mathf.Sincos(l.Angle)
	g.Pos.Get(f.World, e).X, g.Pos.Get(f.World, e).Y = l.X, l.Y
	g.Face.Get(f.World, e).Angle = l.Angle
	*g.Bolt.Get(f.World, e) = Bolt{VX: cos * boltSpeed, VY: sin * boltSpeed, Ticks: uint16(g.ticks(60)), By: by.Player}
}

// fly moves the bolts; they hit bodies in the present.
func (g *Game) fly(f *foretick.ServerFrame, rows ecs.Rows) {
	pos, bolt := g.Pos.Slice(rows), g.Bolt.Slice(rows)
	for i := range bolt {
		b := &bolt[i]
		pos[i].X += b.VX * f.DT
		pos[i].Y += b.VY * f.DT
		x, y := pos[i].X, pos[i].Y
		sx, sy := collide(&x, &y, 0.1)
		if b.Ticks--; b.Ticks == 0 || sx || sy || g.struck(f, b, pos[i]) {
			f.Destroy(rows.Entity(i))
		}
	}
}

// struck hurts the first body that a bolt touches.
func (g *Game) struck(f *foretick.ServerFrame, b *Bolt, at Position) bool {
	for _, rows := range g.Avatars.All(f.World) {
		if rows.Owner() == b.By {
			continue
		}
		pos, status := g.Pos.Slice(rows), g.Status.Slice(rows)
		for i := range pos {
			dx, dy := pos[i].X-at.X, pos[i].Y-at.Y
			if !status[i].Dead && dx*dx+dy*dy < (BodyRadius+0.1)*(BodyRadius+0.1) {
				g.hurt(f, rows.Entity(i), arsenal[Launcher].damage, Hurt{By: uint16(b.By), Gun: Launcher, X: pos[i].X, Y: pos[i].Y})
				return true
			}
		}
	}
	return false
}
