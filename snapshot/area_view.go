package snapshot

import (
	"math"
	"slices"
)

// AreaView holds the entities that are relevant to one viewer.
type AreaView struct {
	area *Area
	set  *areaSet
}

// areaSet has the entities that are relevant to one view, or to several views that share it.
type areaSet struct {
	views  int // views counts the views that use the set.
	number uint32
	marks  []areaMark
	at     []int32     // at has, by slot, 1 + the index of the slot's mark. 0 means none.
	sum    uint64      // sum is a hash of the marks' network ids, in any order.
	asked  []Relevance // asked has the relevance of each hooked entity.

	tick uint32   // tick is the area's tick at the last look.
	from *areaSet // from is the set that this one was copied from at the last look. nil means none.
	out  []NetID  // out has the entities that ceased to be relevant at the last look.
	// in has the entities that became relevant at the last look.
	in []NetID
}

type areaMark struct {
	id      NetID
	slot    int32
	number  uint32
	nearest float32 // nearest is the squared distance to the nearest eye.
}

// NewView returns a view to which nothing is relevant yet.
func (a *Area) NewView() *AreaView { return &AreaView{area: a, set: &areaSet{views: 1}} }

// beginLook starts a look and returns the set to update. If other views share the view's set, it is a copy.
func (v *AreaView) beginLook() *areaSet {
	a, s := v.area, v.set
	s.from = nil
	if s.views > 1 {
		s = a.fork(s)
		v.takeSet(s)
	}
	s.tick = a.tick
	s.number++
	s.in, s.out, s.asked = s.in[:0], s.out[:0], s.asked[:0]
	if n := len(a.seats); len(s.at) < n {
		s.at = append(s.at, make([]int32, n-len(s.at))...)
	}
	return s
}

// fork returns a copy of a set. No view uses the copy yet.
func (a *Area) fork(from *areaSet) *areaSet {
	var s *areaSet
	if n := len(a.spare); n > 0 {
		s, a.spare = a.spare[n-1], a.spare[:n-1]
	} else {
		s = &areaSet{}
	}
	s.marks, s.at = append(s.marks[:0], from.marks...), append(s.at[:0], from.at...)
	s.number, s.sum, s.from = from.number, from.sum, from
	return s
}

// takeSet gives the view another set.
func (v *AreaView) takeSet(s *areaSet) {
	if v.set.views--; v.set.views == 0 {
		v.area.spare = append(v.area.spare, v.set)
	}
	v.set = s
	s.views++
}

// Look updates the view from the area. eyes are the viewer's positions.
// An entity's distance is that to the nearest eye. Look calls ask for the relevance of
// each hooked entity.
//
// It calls set first for each entity that ceased to be relevant and then for each that
// became so, both in the order of network ids: pass [Sender.SetRelevant].
func (v *AreaView) Look(eyes [][3]float32, ask func(NetID) Relevance, set func(NetID, bool)) {
	a, s := v.area, v.beginLook()
	for i := range a.hooked {
		s.asked = append(s.asked, ask(a.hooked[i].id))
	}
	for i := range a.always {
		if it := &a.always[i]; it.hook == 0 || s.asked[it.hook-1] != Never {
			s.markItem(it, 0)
		}
	}
	for i, r := range s.asked {
		if r == Always {
			s.markItem(&a.hooked[i], 0)
		}
	}
	for _, eye := range eyes {
		s.markAround(a, eye)
	}
	s.dropOldMarks()
	s.tellChanges(set)
}

// LookAs does the same as Look, for a view with the same eyes and the same ask as another view that has looked
// in this tick. Once the same entities are relevant to both, the views share them, and LookAs costs little more
// than its calls of set. Views that share must not look at the same time.
func (v *AreaView) LookAs(other *AreaView, eyes [][3]float32, ask func(NetID) Relevance, set func(NetID, bool)) {
	if s := other.set; v.set == s.from && s.tick == v.area.tick && v.set.tick != s.tick {
		v.takeSet(s)
		s.tellChanges(set)
		return
	}
	v.Look(eyes, ask, set)
	if other.set.tick == v.area.tick && v.set.equal(other.set) {
		v.takeSet(other.set)
	}
}

// equal reports whether the same entities are relevant in two different sets.
func (s *areaSet) equal(o *areaSet) bool {
	if s == o || s.sum != o.sum || len(s.marks) != len(o.marks) {
		return false // the same set needs no sharing
	}
	for i := range s.marks {
		if m := &s.marks[i]; o.marked(m.id, m.slot) == nil {
			return false
		}
	}
	return true
}

// LookEverywhere makes every entity of the area relevant. It calls set as Look
// does.
func (v *AreaView) LookEverywhere(set func(NetID, bool)) {
	a, s := v.area, v.beginLook()
	for i := range a.always {
		s.markItem(&a.always[i], 0)
	}
	for i := range a.items {
		s.markItem(&a.items[i], 0)
	}
	s.dropOldMarks()
	s.tellChanges(set)
}

// dropOldMarks drops the marks of entities that are no longer relevant, and sorts the changes.
func (s *areaSet) dropOldMarks() {
	kept := 0
	for i := range s.marks {
		m := &s.marks[i]
		if m.number == s.number {
			s.at[m.slot] = int32(kept) + 1
			s.marks[kept] = *m
			kept++
			continue
		}
		s.out = append(s.out, m.id)
		s.sum ^= spread(m.id)
		if s.at[m.slot] == int32(i)+1 { // unless the slot is another entity's by now
			s.at[m.slot] = 0
		}
	}
	s.marks = s.marks[:kept]
	slices.Sort(s.in)
	slices.Sort(s.out)
}

// tellChanges calls set for each entity that changed in the last look.
func (s *areaSet) tellChanges(set func(NetID, bool)) {
	for _, id := range s.out {
		set(id, false)
	}
	for _, id := range s.in {
		set(id, true)
	}
}

// spread returns a hash of an id. Hashes are summed by exclusive or, so that their order does not matter.
func spread(id NetID) uint64 {
	x := (uint64(id) + 1) * 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	return x ^ x>>27
}

// markAround marks the entities near an eye.
func (s *areaSet) markAround(a *Area, eye [3]float32) {
	r := a.cfg.Leave
	for cx, toX := a.cell(eye[0]-r), a.cell(eye[0]+r); cx <= toX; cx++ {
		for cy, toY := a.cell(eye[1]-r), a.cell(eye[1]+r); cy <= toY; cy++ {
			for i := a.cells[[2]int32{cx, cy}]; i != 0; i = a.items[i-1].next {
				it := &a.items[i-1]
				dx, dy, dz := it.x-eye[0], it.y-eye[1], it.z-eye[2]
				d := dx*dx + dy*dy + dz*dz
				if !(d <= r*r) || it.hook != 0 && s.asked[it.hook-1] == Never {
					continue
				}
				if d <= a.cfg.Enter*a.cfg.Enter || s.marked(it.id, it.slot) != nil {
					s.markItem(it, d)
				}
			}
		}
	}
}

// marked returns the mark of an entity, or nil.
func (s *areaSet) marked(id NetID, slot int32) *areaMark {
	if i := s.at[slot]; i != 0 && s.marks[i-1].id == id {
		return &s.marks[i-1]
	}
	return nil
}

func (s *areaSet) markItem(it *areaItem, d float32) {
	m := s.marked(it.id, it.slot)
	switch {
	case m == nil:
		s.marks = append(s.marks, areaMark{it.id, it.slot, s.number, d})
		s.at[it.slot] = int32(len(s.marks))
		s.in = append(s.in, it.id)
		s.sum ^= spread(it.id)
	case m.number != s.number:
		m.number, m.nearest = s.number, d
	default:
		m.nearest = min(m.nearest, d)
	}
}

// markOf returns the mark of a network id, or nil.
func (v *AreaView) markOf(id NetID) *areaMark {
	slot, ok := v.area.slots[id]
	if !ok || int(slot) >= len(v.set.at) {
		return nil
	}
	return v.set.marked(id, slot)
}

// Has reports whether an entity is relevant.
func (v *AreaView) Has(id NetID) bool { return v.markOf(id) != nil }

// Priority returns a value for [SenderConfig].Priority: 16 for the nearest entity, 1 at the
// edge.
func (v *AreaView) Priority(id NetID) int {
	m := v.markOf(id)
	if m == nil {
		return 1
	}
	d := math.Sqrt(float64(m.nearest)) / float64(v.area.cfg.Leave)
	return 1 + int(15*(1-min(d, 1)))
}
