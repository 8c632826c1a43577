package game

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// blow is what a fighter suffers in a tick.
type blow struct {
	act  Act
	from int32 // where it came from
	ball bool
}

// strike finds out what hits each fighter before it changes any. So two that hit in the same tick
// both suffer, whoever comes first.
func (g *Game) strike(f *foretick.Frame, _ ecs.Rows) {
	g.collide(f)
	pair, of, ok := g.both(f.World)
	if !ok || g.Round.Get(f.World).Phase != Fight {
		return
	}
	var blows [2]blow
	for i, a := range of {
		blows[i] = a.suffers(of[1-i])
	}
	for i, a := range of {
		if blows[i].act == Stand {
			blows[i] = g.burned(f, a, f.World.Owner(pair[i]))
		}
	}
	for i, b := range blows {
		if b.act == Stand {
			continue
		}
		blocked := of[i].suffer(b)
		if !b.ball {
			of[1-i].Landed, of[1-i].Still = true, freeze
		}
		g.Struck.Raise(f, pair[1-i], Strike{On: pair[i], Act: b.act, Blocked: blocked})
	}
}

// suffers returns the attack of another that meets a fighter in this tick. Its act is Stand if
// there is none.
func (a *Fighter) suffers(by *Fighter) blow {
	hit, hits := by.Hitbox()
	hurt, can := a.Hurtbox()
	if !hits || !can || by.Landed || by.Still > 0 || !hit.meets(hurt) {
		return blow{}
	}
	return blow{act: by.Act, from: by.X}
}

// burned returns the fireball of another player that meets a fighter. It ends that fireball.
func (g *Game) burned(f *foretick.Frame, a *Fighter, owner foretick.PlayerID) blow {
	hurt, can := a.Hurtbox()
	for _, rows := range g.balls.All(f.World) {
		for i, ball := range g.Fireball.Slice(rows) {
			if can && rows.Owner() != owner && ball.Hitbox().meets(hurt) && f.Destroy(rows.Entity(i)) {
				return blow{act: Throw, from: ball.X - ball.VX, ball: true}
			}
		}
	}
	return blow{}
}

// suffer changes a fighter that an attack meets, and reports whether it blocked.
func (a *Fighter) suffer(b blow) (blocked bool) {
	m := &moves[b.act]
	a.For, a.Still, a.Landed = 1, freeze, false
	a.VX = m.Push
	if b.from > a.X {
		a.VX = -m.Push
	}
	if a.blocks(m.Height, b.from) {
		a.Act, a.Stun = Block, m.Block
		return true
	}
	a.Life = max(0, a.Life-m.Damage)
	a.Act, a.Stun = Hurt, m.Hit
	if m.Fells || a.Y > 0 || a.Life == 0 {
		a.Act, a.Stun, a.VY = Down, 0, 40
	}
	return false
}

// collide ends fireballs that meet one of the other player.
func (g *Game) collide(f *foretick.Frame) {
	all := g.balls.All(f.World)
	for n, rows := range all {
		for i, ball := range g.Fireball.Slice(rows) {
			for _, others := range all[n+1:] {
				for k, o := range g.Fireball.Slice(others) {
					if others.Owner() != rows.Owner() && ball.Hitbox().meets(o.Hitbox()) && f.Destroy(rows.Entity(i)) {
						f.Destroy(others.Entity(k))
					}
				}
			}
		}
	}
}
