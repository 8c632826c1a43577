package door

import (
	"math"

	"github.com/jakecoffman/cp/v2"

	"github.com/foretick/foretick/lagcomp"
)

// engine is a doorway in a wall, with a door that swings in Chipmunk. Only the server steps it. Other ends
// have one too, for queries.
type engine struct {
	space  *cp.Space
	door   *cp.Body
	shapes []*cp.Shape
}

// The doorway, in metres, and the door. It swings on a spring, to and fro through the wall.
const (
	wallX       = 5
	doorway     = 2
	closed      = math.Pi / 2 // the angle of a closed door, which lies in the wall
	swings      = 1.4         // how far it opens, in radians
	mass, thick = 20, 0.1
	stiffness   = 700
	wallFrom    = -20
	wallUpto    = 20
)

var hinge = cp.Vector{X: wallX, Y: -doorway / 2}

func newEngine() *engine {
	e := &engine{space: cp.NewSpace()}
	for _, wall := range []cp.BB{
		{L: wallX - thick, R: wallX + thick, B: wallFrom, T: hinge.Y},
		{L: wallX - thick, R: wallX + thick, B: hinge.Y + doorway, T: wallUpto},
	} {
		e.add(cp.NewBox2(e.space.StaticBody, wall, 0))
	}
	e.door = e.space.AddBody(cp.NewBody(mass, mass*doorway*doorway/3))
	e.door.SetPosition(hinge)
	e.add(cp.NewBox2(e.door, cp.BB{L: 0, R: doorway, B: -thick / 2, T: thick / 2}, 0))
	e.pose(closed + swings)
	e.space.AddConstraint(cp.NewPivotJoint2(e.space.StaticBody, e.door, hinge, cp.Vector{}))
	e.space.AddConstraint(cp.NewDampedRotarySpring(e.space.StaticBody, e.door, -closed, stiffness, 0))
	return e
}

// add adds a shape. The shapes are of one group, so that the door swings through the wall.
func (e *engine) add(s *cp.Shape) {
	s.SetFilter(cp.NewShapeFilter(1, cp.ALL_CATEGORIES, cp.ALL_CATEGORIES))
	e.shapes = append(e.shapes, e.space.AddShape(s))
}

// pose turns the door to an angle.
func (e *engine) pose(angle float64) {
	e.door.SetAngle(angle)
	e.door.EachShape(func(s *cp.Shape) { s.CacheBB() })
}

// reach returns how far a ray goes, up to its Range, until it meets the wall, or the door at an angle.
// Afterwards the engine is as before. Chipmunk's queries of a whole space look into its index, which only a
// step renews, so each shape is asked.
func (e *engine) reach(r lagcomp.Ray, angle float32) float32 {
	now := e.door.Angle()
	e.pose(float64(angle))
	defer e.pose(now)
	from := cp.Vector{X: float64(r.X), Y: float64(r.Y)}
	to := from.Add(cp.Vector{X: float64(r.DX), Y: float64(r.DY)}.Mult(float64(r.Range)))
	nearest := 1.0
	for _, s := range e.shapes {
		var found cp.SegmentQueryInfo
		if s.SegmentQuery(from, to, 0, &found) {
			nearest = min(nearest, found.Alpha)
		}
	}
	return r.Range * float32(nearest)
}
