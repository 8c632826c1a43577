package field

import (
	"github.com/yohamta/donburi"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// Width and Height are the size of the field.
const Width, Height = wide, high

// Thing is an entity as a window draws it.
type Thing struct {
	X, Y  float32
	Sign  rune              // '@': a runner, '*': a ball, '$': a coin
	Coins uint16            // of a runner: how many its player has
	Owner foretick.PlayerID // of a runner or a ball
}

// Things calls draw with each entity of the donburi world.
func (g *Game) Things(w *ecs.World, draw func(Thing)) {
	drawn.Each(g.own, func(e *donburi.Entry) {
		p := position.Get(e)
		t := Thing{X: p.X, Y: p.Y, Sign: sprite.Get(e).Sign, Owner: w.Owner(g.bridge.Entity(e.Entity()))}
		if e.HasComponent(purse) {
			t.Coins = purse.Get(e).Coins
		}
		draw(t)
	})
}

// Walls calls draw with each wall.
func Walls(draw func(left, top, right, bottom float32)) {
	for _, w := range walls {
		draw(w.l, w.b, w.r, w.t)
	}
}

// Bot returns a function that presses what a bot presses, for [client.Sample].
func Bot(seed, n uint64) func(client.View) Pad { return wander(seed, n) }
