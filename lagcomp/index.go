package lagcomp

import (
	"slices"
	"sync/atomic"
)

// groupFrom is the number of entities from which they are grouped by place.
const groupFrom = 48

// index is the broad phase between two ticks, or in one: a sphere for each
// entity that holds it at every moment between them, and with many entities a
// sphere around all those of one patch of the ground. It is made for the first
// query and then only read.
type index struct {
	serial atomic.Uint64 // serial is that of the later tick. 0 means that the index is not made.
	items  []swept
	groups []group
	// cells, keys and spare are scratch of the sort.
	cells []int32
	keys  []int32
	spare []swept
}

// swept is an entity on its way from one tick to the next.
type swept struct {
	Sphere
	// i and j are the places in the two ticks. j is below zero if the entity is held where it was.
	i, j int32
}

// group is a patch of the ground, with the items in it.
type group struct {
	Sphere
	lo, hi int32
}

// index returns the broad phase between this tick and a later one (or itself). It returns nil if there is one
// towards another tick already, because clients interpolate between all ticks or between every third, and
// seldom both.
func (f *frame) index(to *frame) *index {
	x := &f.next
	if f == to {
		x = &f.own
	}
	if x.serial.Load() == 0 {
		f.mu.Lock()
		if x.serial.Load() == 0 {
			x.build(f, to)
			x.serial.Store(to.serial)
		}
		f.mu.Unlock()
	}
	if x.serial.Load() != to.serial {
		return nil
	}
	return x
}

func (x *index) build(a, b *frame) {
	x.items, x.groups = x.items[:0], x.groups[:0]
	for i := range a.who {
		s := swept{Sphere: a.bounds[i], i: int32(i), j: -1}
		if s.R < 0 {
			continue
		}
		if a != b {
			if j := b.placeOf(a.who[i].slot); j >= 0 && b.who[j].blends(&a.who[i]) {
				s.Sphere, s.j = enclosing(s.Sphere, b.bounds[j]), int32(j)
			}
		}
		x.items = append(x.items, s)
	}
	if len(x.items) >= groupFrom {
		x.group()
	}
}

// enclosing returns the smallest sphere around two, a little grown.
func enclosing(a, b Sphere) Sphere {
	if b.R < 0 {
		return a
	}
	ca := Vec{a.X, a.Y, a.Z}
	way := Vec{b.X, b.Y, b.Z}.sub(ca)
	d := way.length()
	r := (a.R + b.R + d) / 2
	switch {
	case d+b.R <= a.R:
		return a
	case d+a.R <= b.R:
		return b
	}
	c := ca.along(way, (r-a.R)/d)
	return Sphere{c.X, c.Y, c.Z, grow(c, r)}
}

// group sorts the items by patches of about eight along the two axes on which
// they lie furthest apart, by counting, and puts a sphere around each patch.
func (x *index) group() {
	lo, hi := x.extent()
	u, v := widest(lo, hi)
	side := 1
	for side*side*8 < len(x.items) {
		side++
	}
	x.cells = slices.Grow(x.cells[:0], side*side+1)[:side*side+1]
	clear(x.cells)
	x.keys = x.keys[:0]
	for i := range x.items {
		s := &x.items[i].Sphere
		k := int32(patch(axis(s, u), lo[u], hi[u], side)*side + patch(axis(s, v), lo[v], hi[v], side))
		x.keys = append(x.keys, k)
		x.cells[k+1]++
	}
	for k := 1; k < len(x.cells); k++ {
		x.cells[k] += x.cells[k-1]
	}
	x.spare = append(x.spare[:0], x.items...)
	for k := range side * side {
		if lo, hi := x.cells[k], x.cells[k+1]; lo < hi {
			x.groups = append(x.groups, group{lo: lo, hi: hi})
		}
	}
	for i, k := range x.keys {
		x.items[x.cells[k]] = x.spare[i]
		x.cells[k]++
	}
	for g := range x.groups {
		x.groups[g].enclose(x.items)
	}
}

func (x *index) extent() (lo, hi [3]float32) {
	for i := range x.items {
		s := &x.items[i].Sphere
		for k, at := range [3]float32{s.X, s.Y, s.Z} {
			if i == 0 || at < lo[k] {
				lo[k] = at
			}
			if i == 0 || at > hi[k] {
				hi[k] = at
			}
		}
	}
	return lo, hi
}

// widest returns the two axes on which the extent is greatest.
func widest(lo, hi [3]float32) (u, v int) {
	least := 2
	for k := range 2 {
		if hi[k]-lo[k] < hi[least]-lo[least] {
			least = k
		}
	}
	return (least + 1) % 3, (least + 2) % 3
}

func axis(s *Sphere, k int) float32 {
	switch k {
	case 0:
		return s.X
	case 1:
		return s.Y
	}
	return s.Z
}

// patch returns the place of x among equal parts of lo to hi.
func patch(x, lo, hi float32, parts int) int {
	if !(hi > lo) {
		return 0
	}
	return min(max(int(float32(parts)*((x-lo)/(hi-lo))), 0), parts-1)
}

// enclose puts the group's sphere around its items.
func (g *group) enclose(items []swept) {
	var mid Vec
	for _, s := range items[g.lo:g.hi] {
		mid = mid.along(Vec{s.X, s.Y, s.Z}, 1/float32(g.hi-g.lo))
	}
	var r float32
	for _, s := range items[g.lo:g.hi] {
		r = max(r, (Vec{s.X, s.Y, s.Z}).sub(mid).length()+s.R)
	}
	g.Sphere = Sphere{mid.X, mid.Y, mid.Z, grow(mid, r)}
}
