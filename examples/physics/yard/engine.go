package yard

import "github.com/jakecoffman/cp/v2"

// engine steps bodies with Chipmunk. From one tick to the next it keeps nothing that could change
// a result: a step's input is what components hold, and nothing else. So a tick that runs again,
// after a rollback or on another end, has the same result bit by bit.
//
// Chipmunk keeps more than positions and velocities, and each of these is prevented or removed:
//
//   - The order of shapes in its index decides the order of contacts, and the solver's result
//     depends on that. So the engine makes Chipmunk's bodies at the start, in the same order on
//     each end, and a tick's bodies use them in the order of their ids.
//   - The tree that Chipmunk uses by default remembers where bodies were. The spatial hash is
//     built again in each step.
//   - Contacts remember the impulses of the step before. reset removes the contacts.
//   - Position corrections wait for the next step's integration. So velocities are solved
//     first, and positions integrate in the same step.
//   - Sleeping bodies take no part in a step. Sleeping is off by default, and stays off.
type engine struct {
	space *cp.Space
	slots [kinds][]*cp.Body // the bodies that were made at the start
	used  [kinds]int        // how many of them the current tick uses
}

// kind is the kind of a body.
type kind int

const (
	car kind = iota
	crate
	kinds
)

// shapes are the sizes in metres, the masses, and the largest number of bodies of each kind.
var shapes = [kinds]struct {
	w, h, mass float64
	most       int
}{
	car:   {2, 1.2, 5, 8},
	crate: {1.3, 1.3, 1, 32},
}

// solid is a body in a tick.
type solid struct {
	id   uint32
	kind kind
	body *Body
}

func newEngine() *engine {
	e := &engine{space: cp.NewSpace()}
	e.space.UseSpatialHash(2, 500)
	for _, wall := range []cp.BB{
		{L: -halfLength - 2, R: -halfLength, B: -halfWidth - 2, T: halfWidth + 2},
		{L: halfLength, R: halfLength + 2, B: -halfWidth - 2, T: halfWidth + 2},
		{L: -halfLength, R: halfLength, B: -halfWidth - 2, T: -halfWidth},
		{L: -halfLength, R: halfLength, B: halfWidth, T: halfWidth + 2},
	} {
		e.space.AddShape(cp.NewBox2(e.space.StaticBody, wall, 0)).SetElasticity(0.5)
	}
	for k, s := range shapes {
		for range s.most {
			b := e.space.AddBody(cp.NewBody(s.mass, cp.MomentForBox(s.mass, s.w, s.h)))
			b.SetPositionUpdateFunc(func(*cp.Body, float64) {}) // get moves it
			shape := e.space.AddShape(cp.NewBox(b, s.w, s.h, 0))
			shape.SetFriction(0.4)
			shape.SetElasticity(0.3)
			e.slots[k] = append(e.slots[k], b)
		}
	}
	return e
}

// step moves bodies, which are sorted by id, by a tick of dt seconds. Bodies beyond the most of
// their kind do not move.
func (e *engine) step(bodies []solid, dt float64) {
	e.put(bodies)
	e.space.Step(dt)
	e.get(bodies, dt)
	e.reset()
}

// put copies the bodies' components into Chipmunk.
func (e *engine) put(bodies []solid) {
	e.used = [kinds]int{}
	for _, s := range bodies {
		if b := e.take(s.kind); b != nil {
			b.SetPosition(cp.Vector{X: float64(s.body.X), Y: float64(s.body.Y)})
			b.SetAngle(float64(s.body.Angle))
			b.SetVelocity(float64(s.body.VX), float64(s.body.VY))
			b.SetAngularVelocity(float64(s.body.Spin))
		}
	}
	for k, slots := range e.slots { // bodies that this tick does not use are moved away
		for i, b := range slots[e.used[k]:] {
			b.SetPosition(cp.Vector{X: float64(1000 + 10*i), Y: float64(1000 * (k + 1))})
			b.SetAngle(0)
			b.SetVelocity(0, 0)
			b.SetAngularVelocity(0)
		}
	}
}

// get moves the bodies, and copies them out of Chipmunk into the components.
func (e *engine) get(bodies []solid, dt float64) {
	e.used = [kinds]int{}
	for _, s := range bodies {
		if b := e.take(s.kind); b != nil {
			cp.BodyUpdatePosition(b, dt)
			v, p := b.Velocity(), b.Position()
			*s.body = Body{float32(p.X), float32(p.Y), turn(b.Angle()), float32(v.X), float32(v.Y), float32(b.AngularVelocity())}
		}
	}
}

// take returns the next unused body of a kind, or nil if there is none.
func (e *engine) take(k kind) *cp.Body {
	if e.used[k] == len(e.slots[k]) {
		return nil
	}
	e.used[k]++
	return e.slots[k][e.used[k]-1]
}

// reset forgets the contacts of the step.
func (e *engine) reset() {
	for _, slots := range e.slots {
		for _, b := range slots {
			e.space.FilterArbiters(b, nil)
		}
	}
}
