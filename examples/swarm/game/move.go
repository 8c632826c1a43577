package game

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// look sorts all units, as they stand before they move.
func (g *Game) look(f *foretick.Frame, _ ecs.Rows) {
	g.grid.build(&g.Unit, g.units.All(f.World))
}

// move lets each unit walk, keep its distance and fight.
func (g *Game) move(f *foretick.Frame, rows ecs.Rows) {
	unit := g.Unit.Slice(rows)
	for i, e := range rows.Entities() {
		u := &unit[i]
		s := sight{owner: rows.Owner(), x: u.X, y: u.Y, toX: u.ToX, toY: u.ToY}
		for _, near := range g.grid.around(u.X, u.Y) {
			for k := range near {
				s.add(&near[k])
			}
		}
		if s.foes >= int32(u.Life) {
			f.Destroy(e)
			continue
		}
		u.Life -= uint8(s.foes)
		if s.same > 1 { // nothing else would part them
			s.pushX += int32(uint64(e)%5) - 2
		}
		u.walk(&s)
	}
}

// sight is what a unit sees about it.
type sight struct {
	owner          ecs.Owner
	x, y, toX, toY int32
	pushX, pushY   int32 // away from those that are too near
	foes           int32 // enemies in reach
	same           int32 // at exactly this place, itself included
	arrived        int32 // how many stand beside it that were sent to the same place
}

// add looks at another unit. The unit itself is among those that it is given, and pushes nobody.
func (s *sight) add(o *stood) {
	dx, dy := s.x-o.x, s.y-o.y
	if dx >= reach || dx <= -reach || dy >= reach || dy <= -reach {
		return
	}
	if o.owner != s.owner {
		s.foes++
	}
	if dx >= room || dx <= -room || dy >= room || dy <= -room {
		return
	}
	if dx == 0 && dy == 0 {
		s.same++
	}
	s.pushX += push(dx)
	s.pushY += push(dy)
	if o.owner == s.owner && !o.walks && o.toX == s.toX && o.toY == s.toY {
		s.arrived++
	}
}

// push returns how far another unit pushes in one direction, by its distance.
func push(d int32) int32 {
	switch {
	case d > 0:
		return (room - d) / 8
	case d < 0:
		return -(room + d) / 8
	}
	return 0
}

// walk moves a unit towards its target and away from others.
func (u *Unit) walk(s *sight) {
	x, y := int32(0), int32(0)
	if u.Walks {
		dx, dy := int64(u.ToX-u.X), int64(u.ToY-u.Y)
		far := int64(math.Sqrt(float64(dx*dx + dy*dy))) // exact below 2^53, on every machine
		switch {
		case far <= speed:
			x, y, u.Walks = int32(dx), int32(dy), false
		case s.arrived >= 3: // there is no room further on
			u.Walks = false
		default:
			x, y = int32(dx*speed/far), int32(dy*speed/far)
		}
	}
	x += min(max(s.pushX, -speed), speed)
	y += min(max(s.pushY, -speed), speed)
	u.X, u.Y = min(max(u.X+x, -half), half), min(max(u.Y+y, -half), half)
}
