package main

import (
	"math"
	"math/rand/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/mathf"
)

// bot drives a car as a player might: smoothly, and with plans of its own. It only knows what its
// screen shows.
type bot struct {
	*Game
	rand  *rand.Rand
	swing float32       // how far it passes beside the line from the goal to the ball, in metres
	until foretick.Tick // the tick in which it chooses another swing
	back  foretick.Tick // the tick in which it stops driving backwards
	moved foretick.Tick // the last tick in which the car moved
}

// steer returns a command that drives towards the ball from behind it, or backwards when the car is
// stuck.
func (b *bot) steer(v client.View) (c Command) {
	var ball Body
	for _, rows := range b.balls.All(v.World) {
		ball = b.Body.Slice(rows)[0]
	}
	if v.Tick > b.until {
		b.until, b.swing = v.Tick+20+b.rand.Uint32N(30), b.rand.Float32()-0.5
	}
	for _, rows := range b.bodies.Owned(v.World, v.Player) {
		at, heading := b.Body.Slice(rows)[0], b.Drive.Slice(rows)[0].Heading
		if at.speed() > 2 {
			b.moved = v.Tick
		} else if v.Tick > b.moved+15 && v.Tick > b.back {
			b.back, b.moved = v.Tick+20+b.rand.Uint32N(20), v.Tick+40
		}
		if v.Tick < b.back {
			return Command{Wheel: b.swing, Throttle: -1}
		}
		ball.X, ball.Y = ball.X+ball.VX*0.4, limit(ball.Y+ball.VY*0.4, halfWidth) // where it will be
		x, y := ball.X-side(v.Player)*halfLength, ball.Y                          // from the goal to the ball
		far := max(mathf.Hypot(x, y), 0.1)
		behind := min(mathf.Hypot(ball.X-at.X, ball.Y-at.Y)/2, 4)
		x, y = ball.X+(x*behind-y*b.swing)/far-at.X, ball.Y+(y*behind+x*b.swing)/far-at.Y
		turn := math.Remainder(math.Atan2(float64(y), float64(x))-float64(heading), 2*math.Pi)
		c = Command{Wheel: limit(float32(turn)*1.5, 1), Throttle: 1 - limit(float32(math.Abs(turn)), 2)*0.35}
	}
	return c
}
