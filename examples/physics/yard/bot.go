package yard

import (
	"math"
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
)

// bot drives a car from crate to crate. It only knows what its screen shows.
type bot struct {
	*Game
	rand   *rand.Rand
	target uint32        // the ID of the crate that it drives to
	until  foretick.Tick // the tick in which it chooses another crate
	moved  foretick.Tick // the last tick in which the car moved
	back   foretick.Tick // the tick in which it stops driving backwards
}

func newBot(g *Game, seed, n uint64) *bot { return &bot{Game: g, rand: rand.New(rand.NewPCG(seed, n))} }

// Bot returns a function that drives a bot's car, for [client.Sample].
func Bot(g *Game, seed, n uint64) func(client.View) Command { return newBot(g, seed, n).steer }

func (b *bot) steer(v client.View) (c Command) {
	if v.Tick > b.until {
		b.until, b.target = v.Tick+60+b.rand.Uint32N(90), 1000+b.rand.Uint32N(crates)
	}
	var me, goal Body
	for _, rows := range b.bodies.All(v.World) {
		for i, id := range b.ID.Slice(rows) {
			switch {
			case rows.Has(b.Drive.ID()) && rows.Owner() == v.Player:
				me = b.Body.Slice(rows)[i]
			case id.N == b.target:
				goal = b.Body.Slice(rows)[i]
			}
		}
	}
	if math.Hypot(float64(me.VX), float64(me.VY)) > 1 {
		b.moved = v.Tick
	} else if v.Tick > b.moved+20 && v.Tick > b.back {
		b.back, b.moved = v.Tick+20+b.rand.Uint32N(20), v.Tick+40
	}
	angle := math.Remainder(math.Atan2(float64(goal.Y-me.Y), float64(goal.X-me.X))-float64(me.Angle), 2*math.Pi)
	c = Command{Wheel: float32(max(-1, min(angle*1.5, 1))), Throttle: 1 - float32(min(math.Abs(angle), 2))*0.35}
	if v.Tick < b.back {
		return Command{Wheel: -c.Wheel, Throttle: -1}
	}
	return c
}
