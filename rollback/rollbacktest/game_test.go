package rollbacktest_test

import (
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/rollback/rollbacktest"
)

type (
	place struct{ X, Y int32 }
	fort  struct{ Life int16 }
	ball  struct{ Speed int32 }
	score struct{ Hits uint32 }
	keys  struct {
		Move  int8 `net:"min=-1,max=1"`
		Throw bool `net:"oneshot"`
		Duck  bool
	}
)

// snow is the game of the tests: players walk on a line and throw balls at one another.
type snow struct {
	place ecs.Component[place]
	fort  ecs.Component[fort]
	ball  ecs.Component[ball]
	keys  ecs.Component[keys]
	score ecs.Singleton[score]

	player, snowball ecs.Prefab
	forts            *ecs.Query

	seed  uint64
	runs  int32                                             // runs counts calls, as a planted fault.
	plant func(g *snow, f *foretick.Frame, p *place)        // plant, when set, is called for each place that walks.
	start func(g *snow) int32                               // start, when set, returns where a player begins.
	draw  func(g *snow, v rollback.View)                    // draw, when set, is called after each Step.
	press func(g *snow, r *rand.Rand, v rollback.View) keys // press makes commands. nil presses at random.
	idle  bool                                              // idle lets nothing happen in the world.
}

// newSnow returns a function that makes peers of the game with a change.
func newSnow(change func(g *snow)) func(seed uint64) rollbacktest.Player {
	return func(seed uint64) rollbacktest.Player {
		g := &snow{seed: seed}
		if change != nil {
			change(g)
		}
		return g.peer()
	}
}

func (g *snow) peer() rollbacktest.Player {
	p := foretick.NewProtocol("snow", 1)
	p.SetTickRate(60)
	p.InOrder()
	p.Component(&g.place, foretick.Predicted(), foretick.FullPrecision())
	p.Component(&g.fort, foretick.Predicted())
	p.Component(&g.ball, foretick.Predicted())
	p.Singleton(&g.score, foretick.Predicted())
	p.Command(&g.keys)
	p.Prefab(&g.player, "player", &g.place, &g.fort, &g.keys)
	p.Prefab(&g.snowball, "snowball", &g.place, &g.ball)
	p.Spawns(&g.snowball, foretick.SpawnConfig{})
	g.forts = p.Query(ecs.With(&g.fort, &g.place))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.player, player)
		at := place{X: 400 * int32(player)}
		if g.start != nil {
			at.X = g.start(g)
		}
		*g.place.Get(f.World, e), *g.fort.Get(f.World, e) = at, fort{Life: 100}
	})
	p.Shared("walk", g.walk, ecs.Read(&g.keys), ecs.With(&g.fort), ecs.Write(&g.place), ecs.Create(&g.ball, &g.place))
	p.Shared("fly", g.fly, ecs.Write(&g.place, &g.ball), ecs.WriteOther(&g.fort, &g.score), ecs.ReadOther(&g.place), ecs.Structural())
	p.Shared("never", func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&g.keys), ecs.Write(&g.ball))
	r := rand.New(rand.NewPCG(g.seed, 7))
	player := rollbacktest.Player{Protocol: p, Sample: rollback.Sample(&g.keys, func(v rollback.View) keys {
		if g.press != nil {
			return g.press(g, r, v)
		}
		return keys{Move: int8(r.IntN(3) - 1), Throw: r.IntN(20) == 0}
	})}
	if g.draw != nil {
		player.Draw = func(v rollback.View) { g.draw(g, v) }
	}
	return player
}

func (g *snow) walk(f *foretick.Frame, rows ecs.Rows) {
	if g.idle {
		return
	}
	places, keys := g.place.Slice(rows), g.keys.Slice(rows)
	for i := range places {
		places[i].X = min(max(places[i].X+7*int32(keys[i].Move), -2000), 2000)
		if keys[i].Throw {
			at, e := places[i], f.SpawnBy(rows.Entity(i), &g.snowball)
			*g.place.Get(f.World, e) = at
			g.ball.Get(f.World, e).Speed = 20 * (1 - 2*int32(f.Rand(uint64(e))%2))
		}
		if g.plant != nil {
			g.plant(g, f, &places[i])
		}
	}
}

func (g *snow) fly(f *foretick.Frame, rows ecs.Rows) {
	places, balls := g.place.Slice(rows), g.ball.Slice(rows)
	for i := range balls {
		places[i].X += balls[i].Speed
		places[i].Y++
		if places[i].Y == 60 {
			f.Destroy(rows.Entity(i))
			continue
		}
		for _, others := range g.forts.All(f.World) {
			at := g.place.Slice(others)
			for k := range at {
				if others.Owner() != rows.Owner() && max(at[k].X-places[i].X, places[i].X-at[k].X) < 10 && f.Destroy(rows.Entity(i)) {
					g.fort.Slice(others)[k].Life -= 10
					g.score.Get(f.World).Hits++
				}
			}
		}
	}
}
