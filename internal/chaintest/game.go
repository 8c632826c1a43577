package main

import (
	"math"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/mathf"
)

const (
	dt     = float32(1) / 60
	pilots = 16
	moons  = 4
	edge   = 500 // half of the world's side, in metres
)

type (
	// Body is a place and a speed in float32, as most components have them.
	Body struct{ X, Y, VX, VY float32 }
	// Pilot steers its body after a moon.
	Pilot struct {
		Heading float32
		Moon    int32
	}
	// Moon goes round the middle, in float64.
	Moon struct{ X, Y, Radius, Turn float64 }
	// Shot flies for so many ticks.
	Shot struct {
		By   ecs.Entity
		Left int32
	}
	// Dice is the state of the random numbers.
	Dice struct{ State uint64 }
)

// game has the handles of a world, and what its systems find the bodies with.
type game struct {
	types *ecs.Types
	body  ecs.Component[Body]
	pilot ecs.Component[Pilot]
	moon  ecs.Component[Moon]
	shot  ecs.Component[Shot]
	dice  ecs.Singleton[Dice]

	ship, rock, bullet ecs.Prefab

	flown, around, shots *ecs.Query
	rules                *ecs.Schedule[*ecs.World]
}

// newGame declares the game. A loose game leaves out the conversions of one system, so that
// compilers which fuse products compute something else.
func newGame(loose bool) (*game, error) {
	g := &game{types: ecs.NewTypes()}
	for _, err := range []error{
		g.types.Register(&g.body), g.types.Register(&g.pilot), g.types.Register(&g.moon), g.types.Register(&g.shot),
		g.types.RegisterSingleton(&g.dice),
		g.types.RegisterPrefab(&g.ship, "ship", &g.body, &g.pilot),
		g.types.RegisterPrefab(&g.rock, "rock", &g.moon),
		g.types.RegisterPrefab(&g.bullet, "bullet", &g.body, &g.shot),
	} {
		if err != nil {
			return nil, err
		}
	}
	g.flown = ecs.NewQuery(g.types, ecs.With(&g.body, &g.pilot))
	g.around = ecs.NewQuery(g.types, ecs.With(&g.moon))
	g.shots = ecs.NewQuery(g.types, ecs.With(&g.body, &g.shot))
	g.rules = ecs.NewSchedule[*ecs.World](g.types)
	g.rules.InOrder()
	orbit := g.orbit
	if loose {
		orbit = g.orbitLoosely
	}
	g.rules.Add("orbit", orbit, ecs.Write(&g.moon))
	g.rules.Add("steer", g.steer, ecs.Write(&g.body, &g.pilot), ecs.ReadOther(&g.moon))
	g.rules.Add("move", g.move, ecs.Write(&g.body))
	g.rules.Add("fire", g.fire, ecs.Read(&g.body, &g.pilot), ecs.Write(&g.dice), ecs.Create(&g.body, &g.shot))
	g.rules.Add("hit", g.hit, ecs.Once(), ecs.Write(&g.shot, &g.dice), ecs.Read(&g.body, &g.pilot), ecs.Create(&g.body, &g.pilot))
	return g, g.rules.Build()
}

// world returns a world with all ships and moons.
func (g *game) world() *ecs.World {
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	g.dice.Get(w).State = 1
	for i := range moons {
		*g.moon.Get(w, w.Spawn(&g.rock, ecs.Nobody)) = Moon{X: float64(60 * (i + 1)), Radius: float64(60 * (i + 1)), Turn: 0.011 / float64(i+1)}
	}
	for i := range pilots {
		g.launch(w, ecs.Owner(i%4+1))
	}
	return w
}

// roll returns a random number from 0 up to 1.
func (g *game) roll(w *ecs.World) float32 {
	d := g.dice.Get(w)
	d.State += 0x9E3779B97F4A7C15
	x := d.State
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return float32((x^x>>31)>>40) / (1 << 24)
}

// launch adds a ship at a random place.
func (g *game) launch(w *ecs.World, owner ecs.Owner) {
	e := w.Spawn(&g.ship, owner)
	*g.body.Get(w, e) = Body{X: float32(g.roll(w)*2*edge) - edge, Y: float32(g.roll(w)*2*edge) - edge}
	*g.pilot.Get(w, e) = Pilot{Heading: float32((g.roll(w) - 0.5) * 2 * mathf.Pi), Moon: int32(g.roll(w) * moons)}
}

// orbit turns each moon by a matrix. The root keeps its distance.
func (g *game) orbit(_ *ecs.World, rows ecs.Rows) {
	moon := g.moon.Slice(rows)
	for i := range moon {
		m := &moon[i]
		x, y := m.X-float64(m.Turn*m.Y), m.Y+float64(m.Turn*m.X)
		longer := m.Radius / math.Sqrt(float64(x*x)+float64(y*y))
		m.X, m.Y = float64(x*longer), float64(y*longer)
	}
}

// orbitLoosely is orbit as it is written by somebody who knows nothing of fused products.
func (g *game) orbitLoosely(_ *ecs.World, rows ecs.Rows) {
	moon := g.moon.Slice(rows)
	for i := range moon {
		m := &moon[i]
		x, y := m.X-m.Turn*m.Y, m.Y+m.Turn*m.X
		longer := m.Radius / math.Sqrt(x*x+y*y)
		m.X, m.Y = x*longer, y*longer
	}
}

// steer turns ships towards their moons, and lets their engines push them.
func (g *game) steer(w *ecs.World, rows ecs.Rows) {
	moon := g.moon.Slice(g.around.All(w)[0])
	body, pilot := g.body.Slice(rows), g.pilot.Slice(rows)
	for i := range body {
		b, p := &body[i], &pilot[i]
		to := moon[p.Moon]
		x, y := float32(to.X)-b.X, float32(to.Y)-b.Y
		turn := straight(mathf.Atan2(y, x) - p.Heading)
		p.Heading = straight(p.Heading + min(max(turn, -2*dt), 2*dt))
		sin, cos := mathf.Sincos(p.Heading)
		push := 40 * mathf.Exp(-float32(turn*turn)) * dt
		slower := 1 - float32(mathf.Hypot(b.VX, b.VY)*0.004*dt)
		b.VX = float32(b.VX*slower) + float32(push*cos)
		b.VY = float32(b.VY*slower) + float32(push*sin)
	}
}

// straight returns an angle between -π and π.
func straight(angle float32) float32 {
	switch {
	case angle > mathf.Pi:
		return angle - 2*mathf.Pi
	case angle < -mathf.Pi:
		return angle + 2*mathf.Pi
	}
	return angle
}

// move moves all bodies. The world's opposite edges are joined.
func (g *game) move(_ *ecs.World, rows ecs.Rows) {
	body := g.body.Slice(rows)
	for i := range body {
		b := &body[i]
		b.X = around(b.X + float32(b.VX*dt))
		b.Y = around(b.Y + float32(b.VY*dt))
	}
}

func around(x float32) float32 {
	switch {
	case x > edge:
		return x - 2*edge
	case x < -edge:
		return x + 2*edge
	}
	return x
}

// fire lets each ship shoot now and then, about where it flies.
func (g *game) fire(w *ecs.World, rows ecs.Rows) {
	body, pilot := g.body.Slice(rows), g.pilot.Slice(rows)
	for i, by := range rows.Entities() {
		if g.roll(w) > 0.02 {
			continue
		}
		sin, cos := mathf.Sincos(straight(pilot[i].Heading + float32(g.roll(w)*0.2)))
		from := body[i]
		shot := w.Spawn(&g.bullet, rows.Owner())
		*g.shot.Get(w, shot) = Shot{By: by, Left: 45}
		*g.body.Get(w, shot) = Body{X: from.X, Y: from.Y, VX: from.VX + float32(200*cos), VY: from.VY + float32(200*sin)}
	}
}

// hit removes shots that are old or hit a ship, and replaces that ship.
func (g *game) hit(w *ecs.World, _ ecs.Rows) {
	for _, shots := range g.shots.All(w) {
		body, shot := g.body.Slice(shots), g.shot.Slice(shots)
		for i, e := range shots.Entities() {
			shot[i].Left--
			if shot[i].Left <= 0 || g.hits(w, body[i], shot[i].By) {
				w.Destroy(e)
			}
		}
	}
}

// hits reports whether a shot at a place hits a ship other than its own. It replaces that ship.
func (g *game) hits(w *ecs.World, at Body, by ecs.Entity) bool {
	for _, ships := range g.flown.All(w) {
		body := g.body.Slice(ships)
		for i, e := range ships.Entities() {
			x, y := body[i].X-at.X, body[i].Y-at.Y
			if e != by && float32(x*x)+float32(y*y) < 12*12 && w.Destroy(e) {
				g.launch(w, ships.Owner())
				return true
			}
		}
	}
	return false
}
