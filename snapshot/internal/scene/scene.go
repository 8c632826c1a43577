// Package scene moves bodies and players as a game does, the same for the same seed.
// Tables are learned and figures are measured on this motion.
package scene

import (
	"math"
	"math/rand/v2"
)

// Body is one thing that moves: metres, radians.
type Body struct {
	X, Y, Z float32 `net:"min=-512,max=512,step=0.001,lerp"`
	Yaw     float32 `net:"angle,bits=9,lerp"`
}

// Player is an actor of a shooter.
type Player struct {
	X, Y float32 `net:"min=-512,max=512,step=0.01,lerp"`
	Aim  float32 `net:"angle,bits=12,lerp"`
}

// Health and Ammo are what else a player has.
type Health struct {
	Points int16 `net:"min=0,max=100"`
}

// Ammo is for its owner.
type Ammo struct {
	Rounds   uint8 `net:"max=60,owner"`
	Cooldown uint8 `net:"max=60,owner"`
}

// Scene is a set of bodies and players.
type Scene struct {
	Bodies  []Body
	Players []Player
	Health  []Health
	Ammo    []Ammo
	rng     *rand.Rand
	state   []motion
	acts    []action
}

type motion struct{ heading, speed, turn float64 }

type action struct {
	vx, vy, wx, wy, spin float64
	hold                 int
}

// New returns n bodies and the given number of players.
func New(seed uint64, bodies, players int) *Scene {
	s := &Scene{rng: rand.New(rand.NewPCG(seed, 77)), Bodies: make([]Body, bodies), Players: make([]Player, players), Health: make([]Health, players), Ammo: make([]Ammo, players), state: make([]motion, bodies), acts: make([]action, players)}
	for i := range s.Bodies {
		s.Bodies[i] = Body{X: s.rng.Float32()*100 - 50, Y: s.rng.Float32()*100 - 50, Z: 1}
		s.state[i] = motion{heading: s.rng.Float64() * 2 * math.Pi, speed: 1 + 3*s.rng.Float64()}
	}
	for i := range s.Players {
		s.Players[i] = Player{X: s.rng.Float32()*60 - 30, Y: s.rng.Float32()*60 - 30}
		s.Health[i].Points, s.Ammo[i].Rounds = 100, 30
	}
	return s
}

// Wander moves the bodies in the plane for dt seconds: speed and rate of turn
// drift, and the yaw follows the heading.
func (s *Scene) Wander(dt float64) {
	for i := range s.Bodies {
		m, b := &s.state[i], &s.Bodies[i]
		m.turn += (-m.turn*0.8 + s.rng.NormFloat64()*1.5) * dt * 2
		m.speed += ((2.5-m.speed)*0.5 + s.rng.NormFloat64()) * dt
		m.heading += m.turn * dt
		b.X += float32(math.Cos(m.heading) * m.speed * dt)
		b.Y += float32(math.Sin(m.heading) * m.speed * dt)
		if math.Abs(float64(b.X)) > 60 || math.Abs(float64(b.Y)) > 60 {
			m.heading = math.Atan2(float64(-b.Y), float64(-b.X))
		}
		b.Yaw = float32(m.heading)
	}
}

// OneAxis moves the bodies along one axis at a speed that seldom changes.
func (s *Scene) OneAxis(dt float64) {
	for i := range s.Bodies {
		m, b := &s.state[i], &s.Bodies[i]
		if s.rng.IntN(200) == 0 || math.Abs(float64(b.X)) > 100 {
			m.speed = math.Copysign(1+3*s.rng.Float64(), float64(-b.X))
		}
		b.X += float32(m.speed * dt)
	}
}

// Fight moves the players: they accelerate towards where they want to go, change
// their minds, aim, shoot and are hit.
func (s *Scene) Fight(dt float64) {
	for i := range s.Players {
		a, p := &s.acts[i], &s.Players[i]
		if a.hold--; a.hold < 0 {
			a.hold = 5 + s.rng.IntN(25)
			d := s.rng.IntN(9)
			a.wx, a.wy = float64(d%3-1)*6, float64(d/3-1)*6
			a.spin = s.rng.NormFloat64() * 2
		}
		a.vx += clamp(a.wx-a.vx, 40*dt)
		a.vy += clamp(a.wy-a.vy, 40*dt)
		p.X = float32(clamp(float64(p.X)+a.vx*dt, 40))
		p.Y = float32(clamp(float64(p.Y)+a.vy*dt, 40))
		if s.rng.IntN(3) != 0 {
			p.Aim = float32(math.Remainder(float64(p.Aim)+a.spin*dt+s.rng.NormFloat64()*0.01, 2*math.Pi))
		}
		m := &s.Ammo[i]
		if m.Cooldown > 0 {
			m.Cooldown--
		} else if s.rng.IntN(20) == 0 {
			if m.Rounds--; m.Rounds == 0 {
				m.Rounds = 30
			}
			m.Cooldown = 4
			if hit := &s.Health[s.rng.IntN(len(s.Health))]; s.rng.IntN(2) == 0 {
				if hit.Points -= 25; hit.Points <= 0 {
					hit.Points = 100
				}
			}
		}
	}
}

func clamp(v, most float64) float64 { return min(max(v, -most), most) }
