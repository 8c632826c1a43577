package field

import (
	"github.com/yohamta/donburi"

	"github.com/foretick/foretick"
)

// The systems of the game. Each gets the entities that it runs for: on the server all that have
// its components, on a client only those of its own player. Each entity writes only itself, so
// their order does not matter.

// run accelerates runners.
func (g *Game) run(f *foretick.Frame, active []donburi.Entity) {
	for _, id := range active {
		e := g.own.Entry(id)
		p, m := pad.Get(e), motion.Get(e)
		m.VX += float32((float32(p.X*runSpeed) - m.VX) * 10 * f.DT)
		m.VY += float32((float32(p.Y*runSpeed) - m.VY) * 10 * f.DT)
		if max(m.VX, -m.VX, m.VY, -m.VY) < 0.1 {
			m.VX, m.VY = 0, 0
		}
	}
}

// move moves runners and balls. Walls stop runners and throw balls back.
func (g *Game) move(f *foretick.Frame, active []donburi.Entity) {
	for _, id := range active {
		e := g.own.Entry(id)
		p, m, bounce := position.Get(e), motion.Get(e), float32(0)
		if e.HasComponent(fuse) {
			bounce = -0.8
		}
		if x := p.X + float32(m.VX*f.DT); blocked(x, p.Y) {
			m.VX *= bounce
		} else {
			p.X = x
		}
		if y := p.Y + float32(m.VY*f.DT); blocked(p.X, y) {
			m.VY *= bounce
		} else {
			p.Y = y
		}
	}
}

func blocked(x, y float32) bool {
	for _, w := range walls {
		if x > w.l && x < w.r && y > w.b && y < w.t {
			return true
		}
	}
	return x < 0 || x > wide || y < 0 || y > high
}

// throw spawns a ball. The thrower's client does so before the server. Foretick's entity is made
// first, and the bridge makes donburi's at once.
func (g *Game) throw(f *foretick.Frame, active []donburi.Entity) {
	for _, id := range active {
		e := g.own.Entry(id)
		p, m := pad.Get(e), motion.Get(e)
		if m.Rest > 0 {
			m.Rest--
			continue
		}
		if !p.Throw {
			continue
		}
		m.Rest = 15
		from, vx, vy := *position.Get(e), float32(p.X*ballSpeed), float32(p.Y*ballSpeed)
		ball, ok := g.bridge.Own(f, f.SpawnBy(g.bridge.Entity(id), &g.Ball))
		if ok { // e, p and m may have moved: donburi made an entity
			b := g.own.Entry(ball)
			*position.Get(b), *motion.Get(b) = from, Motion{VX: vx, VY: vy}
		}
	}
}

// burn counts down each ball's flight and ends it.
func (g *Game) burn(f *foretick.Frame, active []donburi.Entity) {
	for _, id := range active {
		if left := &fuse.Get(g.own.Entry(id)).Left; *left > 0 {
			*left--
		} else {
			f.Destroy(g.bridge.Entity(id))
		}
	}
}

// hit runs on the server alone: a ball knocks over another player's runner. No client can predict
// that, so the client of the hit player is corrected.
func (g *Game) hit(f *foretick.Frame, active []donburi.Entity) {
	for _, id := range active {
		ball := g.bridge.Entity(id)
		at, by := *position.Get(g.own.Entry(id)), *motion.Get(g.own.Entry(id))
		for e := range purse.Iter(g.own) {
			p := position.Get(e)
			if f.World.Owner(g.bridge.Entity(e.Entity())) == f.World.Owner(ball) || max(p.X-at.X, at.X-p.X, p.Y-at.Y, at.Y-p.Y) > 1.2 {
				continue
			}
			m := motion.Get(e)
			m.VX, m.VY = by.VX, by.VY
			f.Destroy(ball)
			break
		}
	}
}

// collect runs on the server alone: a runner or a ball that touches a coin earns it for its
// player, and the coin appears elsewhere. On a server every donburi entity is in the match, so
// systems may use donburi's own queries there, for entities that they declare with ReadOther or
// WriteOther.
func (g *Game) collect(f *foretick.Frame, active []donburi.Entity) {
	for _, id := range active {
		at, player := *position.Get(g.own.Entry(id)), f.World.Owner(g.bridge.Entity(id))
		position.Each(g.own, func(coin *donburi.Entry) {
			p := position.Get(coin)
			if coin.HasComponent(motion) || max(p.X-at.X, at.X-p.X, p.Y-at.Y, at.Y-p.Y) > 1 {
				return
			}
			luck := f.Rand(uint64(g.bridge.Entity(coin.Entity())))
			*p = Position{X: float32(luck % wide), Y: float32(luck >> 32 % high)}
			purse.Each(g.own, func(e *donburi.Entry) {
				if f.World.Owner(g.bridge.Entity(e.Entity())) == player {
					purse.Get(e).Coins++
				}
			})
		})
	}
}
