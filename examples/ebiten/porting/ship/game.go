// Package ship has the rules of the game of package before, ported: ships of several
// players shoot rocks. Servers and clients share it. It does not use Ebitengine.
package ship

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/mathf"
)

// Sizes in pixels. What collides has numbers of its own: a server has no images.
const (
	Width, Height = 640, 480
	ShipSize      = 24
	RockSize      = 40
	ShotSize      = 4
)

type (
	// Place of everything, in pixels.
	Place struct {
		X float32 `net:"min=0,max=640,step=0.0625,lerp"`
		Y float32 `net:"min=0,max=480,step=0.0625,lerp"`
	}
	// Motion of everything, in pixels a tick.
	Motion struct {
		X, Y float32 `net:"min=-16,max=16,step=0.01"`
	}
	// Ship has the state that only ships have.
	Ship struct {
		Angle float32 `net:"angle,bits=14,lerp"`
		Wait  uint8   `net:"max=15"` // ticks until the gun is ready
	}
	// Score is a player's score. Only the server writes it.
	Score struct{ Points uint16 }
	// Rock marks a rock: only rocks have it.
	Rock struct{ Kind uint8 }
	// Shot marks a shot: only shots have it.
	Shot struct {
		Left uint8 `net:"max=60"` // ticks until it ends
	}
	// Keys are a player's input for a tick.
	Keys struct {
		Left, Right, Up, Fire bool
	}
	// Struck is raised when a shot hits a rock.
	Struck struct{ Rock ecs.Entity }
)

// Game holds the handles of one end, but no state of the match.
type Game struct {
	Place  ecs.Component[Place]
	Motion ecs.Component[Motion]
	Ship   ecs.Component[Ship]
	Score  ecs.Component[Score]
	Rock   ecs.Component[Rock]
	Shot   ecs.Component[Shot]
	Keys   ecs.Component[Keys]
	Behind ecs.Component[Behind]

	Player, Boulder, Bullet ecs.Prefab

	fired   foretick.Event[Place]
	struck  foretick.Event[Struck]
	rocks   *ecs.Query
	players *ecs.Query

	// Square makes rocks square instead of round. Both ends must set it alike.
	Square bool
	// Bang plays a shot of this client's player. It may be nil.
	Bang func()
}

// Behind is sent to no other end. It says how far in the past a shot's owner sees others.
type Behind struct {
	Ticks float32
	Known bool // Ticks is set
}

// Protocol declares the game. Its systems run in the order in which Update called them.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("ship", 1)
	p.SetTickRate(60) // one tick for each Update of the game before
	p.Component(&g.Place, foretick.Predicted())
	p.Component(&g.Motion, foretick.Predicted())
	p.Component(&g.Ship, foretick.Predicted())
	p.Component(&g.Shot, foretick.Predicted())
	p.Component(&g.Score)
	p.Component(&g.Rock)
	p.LocalComponent(&g.Behind)
	p.Command(&g.Keys)
	p.Prefab(&g.Player, "player", &g.Place, &g.Motion, &g.Ship, &g.Score, &g.Keys)
	p.Prefab(&g.Boulder, "rock", &g.Place, &g.Motion, &g.Rock)
	p.Prefab(&g.Bullet, "shot", &g.Place, &g.Motion, &g.Shot, &g.Behind)
	p.Spawns(&g.Bullet, foretick.SpawnConfig{ClientOnly: true})
	p.OnJoin(g.join)
	p.InOrder()
	p.Shared("steer", g.steer, ecs.Read(&g.Keys), ecs.Write(&g.Ship, &g.Motion))
	p.Shared("fire", g.fire, ecs.Read(&g.Keys, &g.Place), ecs.Write(&g.Ship), ecs.Create(&g.Place, &g.Motion, &g.Shot, &g.Behind))
	p.Shared("move", g.move, ecs.Read(&g.Motion), ecs.Write(&g.Place), ecs.Without(&g.Shot))
	p.Shared("shots", g.shots, ecs.Read(&g.Motion), ecs.Write(&g.Place, &g.Shot, &g.Behind), ecs.Structural())
	p.Server("crash", g.crash, ecs.Write(&g.Place, &g.Motion), ecs.With(&g.Ship), ecs.ReadOther(&g.Place))
	p.Server("rain", g.rain, ecs.Once(), ecs.Create(&g.Place, &g.Motion, &g.Rock))
	if g.Square {
		g.boxes(p)
	} else {
		foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
			at := foretick.HitboxField(b, &g.Place)
			b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, R: RockSize / 2}))
		}, &g.Place, &g.Rock)
	}
	g.fired.OnPredicted(p, func(*foretick.Frame, foretick.By, Place) {
		if g.Bang != nil {
			g.Bang()
		}
	})
	g.struck.OnServer(p, g.hit, ecs.WriteOther(&g.Score), ecs.Structural())
	g.rocks = p.Query(ecs.With(&g.Place, &g.Rock))
	g.players = p.Query(ecs.With(&g.Ship))
	return p
}

// boxes declares rectangles instead of circles.
func (g *Game) boxes(p *foretick.Protocol) {
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		at := foretick.HitboxField(b, &g.Place)
		b.Add(lagcomp.BoxHitbox(lagcomp.Box{
			Center: lagcomp.Vec{X: at.X, Y: at.Y}, Half: lagcomp.Vec{X: RockSize / 2, Y: RockSize / 2, Z: 1},
		}))
	}, &g.Place, &g.Rock)
}

func (g *Game) join(f *foretick.ServerFrame, player foretick.PlayerID) {
	*g.Place.Get(f.World, f.Spawn(&g.Player, player)) = Place{Width / 2, Height / 2}
}

// steer reads the command instead of the keyboard.
func (g *Game) steer(_ *foretick.Frame, rows ecs.Rows) {
	keys, ship, motion := g.Keys.Slice(rows), g.Ship.Slice(rows), g.Motion.Slice(rows)
	for i := range ship {
		if keys[i].Left {
			ship[i].Angle -= 0.08
		}
		if keys[i].Right {
			ship[i].Angle += 0.08
		}
		if keys[i].Up {
			sin, cos := mathf.Sincos(ship[i].Angle)
			motion[i].X += float32(0.1 * cos)
			motion[i].Y += float32(0.1 * sin)
		}
		motion[i].X, motion[i].Y = drag(motion[i].X), drag(motion[i].Y)
	}
}

// drag slows down, and stops what is slow: there the change is less than a step.
func drag(v float32) float32 {
	if v *= 0.99; v > -0.05 && v < 0.05 {
		return 0
	}
	return v
}

// fire spawns a shot, counts the ticks until the next one, and raises an event for the sound.
func (g *Game) fire(f *foretick.Frame, rows ecs.Rows) {
	keys, ship, place := g.Keys.Slice(rows), g.Ship.Slice(rows), g.Place.Slice(rows)
	for i := range ship {
		if ship[i].Wait > 0 {
			ship[i].Wait--
		}
		if !keys[i].Fire || ship[i].Wait > 0 {
			continue
		}
		ship[i].Wait = 15 // a quarter of a second
		shot := f.SpawnBy(rows.Entity(i), &g.Bullet)
		sin, cos := mathf.Sincos(ship[i].Angle)
		*g.Place.Get(f.World, shot) = place[i]
		*g.Motion.Get(f.World, shot) = Motion{6 * cos, 6 * sin}
		g.Shot.Get(f.World, shot).Left = 60
		g.fired.Raise(f, rows.Entity(i), place[i])
	}
}

// move moves ships and rocks. Those that leave the field come back on the other side.
func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	place, motion := g.Place.Slice(rows), g.Motion.Slice(rows)
	for i := range place {
		if wrap(&place[i], motion[i]) {
			f.Teleport(rows.Entity(i)) // screens do not draw it in between
		}
	}
}

func wrap(at *Place, by Motion) bool {
	x, y := at.X+by.X, at.Y+by.Y
	at.X, at.Y = x, y
	switch {
	case x < 0:
		at.X += Width
	case x >= Width:
		at.X -= Width
	}
	switch {
	case y < 0:
		at.Y += Height
	case y >= Height:
		at.Y -= Height
	}
	return at.X != x || at.Y != y
}

// shots moves shots through the rocks as the shots' owners see them.
func (g *Game) shots(f *foretick.Frame, rows ecs.Rows) {
	place, motion, shot, behind := g.Place.Slice(rows), g.Motion.Slice(rows), g.Shot.Slice(rows), g.Behind.Slice(rows)
	for i := range place {
		seen := f.RewindBehind(rows.Owner(), behind[i].Ticks)
		if !behind[i].Known {
			seen = f.Rewind(rows.Owner())
			behind[i] = Behind{seen.Behind(), true}
		}
		flight := lagcomp.Projectile{
			Position: lagcomp.Vec{X: place[i].X, Y: place[i].Y},
			Velocity: lagcomp.Vec{X: motion[i].X * 60, Y: motion[i].Y * 60}, Radius: ShotSize / 2,
		}
		hit, ok := seen.Advance(&flight, f.DT)
		if ok {
			g.struck.Raise(f, rows.Entity(i), Struck{hit.Entity})
		}
		shot[i].Left--
		if wrap(&place[i], motion[i]) {
			f.Teleport(rows.Entity(i))
		}
		if ok || shot[i].Left == 0 {
			f.Destroy(rows.Entity(i))
		}
	}
}

// hit runs on the server.
func (g *Game) hit(f *foretick.ServerFrame, by foretick.By, s Struck) {
	if !f.Destroy(s.Rock) {
		return // another shot was first
	}
	for _, rows := range g.players.Owned(f.World, by.Player) {
		g.Score.Slice(rows)[0].Points += 10
	}
}

// crash runs on the server: rocks have no owner, so clients do not predict them.
func (g *Game) crash(f *foretick.ServerFrame, rows ecs.Rows) {
	place, motion := g.Place.Slice(rows), g.Motion.Slice(rows)
	for i := range place {
		for _, rocks := range g.rocks.All(f.World) {
			for _, at := range g.Place.Slice(rocks) {
				if mathf.Hypot(at.X-place[i].X, at.Y-place[i].Y) < (RockSize+ShipSize)/2 {
					place[i], motion[i] = Place{Width / 2, Height / 2}, Motion{}
					f.Teleport(rows.Entity(i))
				}
			}
		}
	}
}

// rain spawns a rock at times. f.Rand depends on the tick and on a number, and each use passes a
// different one.
func (g *Game) rain(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Rand(0)%60 != 0 {
		return
	}
	rock := f.Spawn(&g.Boulder, ecs.Nobody)
	chance := func(salt uint64) float32 { return float32(f.Rand(salt)>>40) / (1 << 24) } // 0 to 1
	*g.Place.Get(f.World, rock) = Place{X: float32(chance(1) * Width)}
	*g.Motion.Get(f.World, rock) = Motion{X: chance(2) - 0.5, Y: chance(3) + 1}
}
