package lagcomp

import (
	"sync"
	"sync/atomic"
)

// frame is one recorded tick: the entities in the order of Put, and their hitboxes in one
// slice.
type frame struct {
	tick Tick
	held bool
	// serial counts the ticks ever recorded. It goes on when ticks start again at a lower number.
	serial uint64
	// bounds has a sphere around all hitboxes of each entity. A radius below zero means that the entity cannot
	// be hit.
	bounds   []Sphere
	who      []who
	hitboxes []Hitbox
	at       []int32 // at has, by slot, the place of an entity in who. An entry may be stale: see placeOf.

	// Bounding spheres cost as much as the copy of the hitboxes, and most ticks are never queried. So they are
	// computed for the first view, which any of several goroutines may make.
	bounded   atomic.Bool
	mu        sync.Mutex
	own, next index // own is the index within this tick, and next the one towards a later tick.
}

// maxHitboxes is how many hitboxes an entity may have.
const maxHitboxes = 1<<16 - 1

// who is an entity in one tick.
type who struct {
	id    ID
	owner uint32
	life  uint32
	slot  int32  // slot is where the entity's life is kept.
	run   uint32 // run is which of the entity's lives it is, numbered over all entities.
	first uint32 // first is the index of the entity's first hitbox.
	count uint16 // count is the number of the entity's hitboxes.
	kinds uint16 // kinds is a digest of the hitboxes' kinds. It is computed with the bounds.
}

func (f *frame) clearFrame() {
	f.held = false
	f.bounded.Store(false)
	f.own.serial.Store(0)
	f.next.serial.Store(0)
	f.who, f.hitboxes = f.who[:0], f.hitboxes[:0]
}

// growSlots makes room for one more entity.
func (f *frame) growSlots(slot int32) {
	f.who = append(f.who, who{})[:len(f.who)]
	for int(slot) >= len(f.at) {
		f.at = append(f.at, 0)
	}
}

// prepare computes the bounding spheres once. It returns how many entities have a number
// that is not finite.
func (f *frame) prepare() (broken uint64) {
	if f.bounded.Load() {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bounded.Load() {
		return 0
	}
	f.bounds = f.bounds[:0]
	for i := range f.who {
		p := &f.who[i]
		s, kinds := bound(f.hitboxes[p.first : p.first+uint32(p.count)])
		f.bounds, p.kinds = append(f.bounds, s), kinds
		if p.count != 0 && s.R < 0 {
			broken++
		}
	}
	f.bounded.Store(true)
	return broken
}

// blends reports whether two ticks of one entity may be interpolated.
func (p *who) blends(q *who) bool {
	return p.run == q.run && p.count == q.count && p.kinds == q.kinds
}

// placeOf returns the place of the entity in a slot, or -1. Entries of f.at are never cleared; one is valid
// only if the entity at that place has this slot.
func (f *frame) placeOf(slot int32) int {
	if int(slot) >= len(f.at) {
		return -1
	}
	i := int(f.at[slot])
	if i >= len(f.who) || f.who[i].slot != slot {
		return -1
	}
	return i
}

// bound returns a sphere around all hitboxes, a little too large rather than too small, and a digest of their
// kinds. The radius is below zero if there are none, or if one of them has a number that is not finite. The
// centre is the mean of four samples, and the radius is the largest distance plus the largest radius. So it
// takes one square root for an entity.
func bound(vs []Hitbox) (Sphere, uint16) {
	n := len(vs)
	if n == 0 {
		return Sphere{R: -1}, 0
	}
	var mid Vec
	for _, k := range [4]int{0, n / 3, 2 * n / 3, n - 1} {
		mid = mid.along(vs[k].c, 0.25)
	}
	var far, r float32
	var kinds uint32
	for i := range vs {
		v := &vs[i]
		x, y, z := v.c.X-mid.X, v.c.Y-mid.Y, v.c.Z-mid.Z
		if dd := x*x + y*y + z*z; !(dd <= far) {
			far = dd
		}
		if !(v.r <= r) {
			r = v.r
		}
		kinds = kinds*31 + uint32(v.kind) + uint32(v.shape)<<2
	}
	s := Sphere{mid.X, mid.Y, mid.Z, grow(mid, sqrt(far)+r)}
	if !finite(s.R) || !mid.finite() {
		return Sphere{R: -1}, uint16(kinds ^ kinds>>16)
	}
	return s, uint16(kinds ^ kinds>>16)
}

// grow adds what rounding may have taken off a radius around c.
func grow(c Vec, r float32) float32 {
	return r + 4e-6*(abs(c.X)+abs(c.Y)+abs(c.Z)+r)
}
