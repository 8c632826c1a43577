package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/foretick/foretick/schema"
)

// AreaConfig configures an [Area]. Distances are in the unit of the positions.
type AreaConfig struct {
	// Enter is the distance within which an entity becomes relevant to a viewer.
	// It must be positive: 0, negative, NaN and infinity are errors.
	Enter float32
	// Leave is the distance beyond which an entity ceases to be relevant. Between Enter
	// and Leave it keeps its state, so that nothing flickers at the edge. 0 means a tenth
	// more than Enter; negative means Enter. Otherwise it is at least Enter.
	Leave float32
	// Cell is the width of the grid's cells, at least a 64th of Leave. 0 means half of
	// Leave; negative is an error.
	Cell float32
}

// Relevance is a game's decision about one entity, for one viewer.
type Relevance uint8

const (
	// ByDistance: the distance decides.
	ByDistance Relevance = iota
	// Always: the entity is relevant at any distance.
	Always
	// Never: the entity is not relevant at any distance.
	Never
)

// Area finds the entities that are near enough to a viewer. It is a grid of cells that
// the caller fills in each tick; each viewer has an [AreaView]. An Area belongs to one
// goroutine. Once it is filled, views may look at the same time.
type Area struct {
	cfg    AreaConfig
	cells  map[[2]int32]int32 // 1 + index of the first item in it
	items  []areaItem
	always []NetID
	hooked []NetID
}

type areaItem struct {
	id      NetID
	x, y, z float32
	next    int32
	hooked  bool
}

// NewArea returns an empty area.
func NewArea(cfg AreaConfig) (*Area, error) {
	switch {
	case cfg.Leave == 0:
		cfg.Leave = cfg.Enter * 1.1
	case cfg.Leave < 0 && !math.IsInf(float64(cfg.Leave), 0):
		cfg.Leave = cfg.Enter
	}
	if cfg.Cell == 0 {
		cfg.Cell = cfg.Leave / 2
	}
	switch {
	case !(cfg.Enter > 0) || cfg.Enter > 1e38:
		return nil, fmt.Errorf("snapshot: AreaConfig.Enter is %g: use a positive distance, up to 1e38", cfg.Enter)
	case !(cfg.Leave >= cfg.Enter) || math.IsInf(float64(cfg.Leave), 0):
		return nil, fmt.Errorf("snapshot: AreaConfig.Leave is %g: use Enter (%g) or more, or less than 0 for Enter", cfg.Leave, cfg.Enter)
	case !(cfg.Cell >= cfg.Leave/64) || math.IsInf(float64(cfg.Cell), 0):
		return nil, fmt.Errorf("snapshot: AreaConfig.Cell is %g: use %g or more (finite), or a look visits too many", cfg.Cell, cfg.Leave/64)
	}
	return &Area{cfg: cfg, cells: map[[2]int32]int32{}}, nil
}

// Begin empties the area for a tick.
func (a *Area) Begin() {
	clear(a.cells)
	a.items, a.always, a.hooked = a.items[:0], a.always[:0], a.hooked[:0]
}

func (a *Area) cell(v float32) int32 {
	c := math.Floor(float64(v / a.cfg.Cell))
	if c != c {
		return 0
	}
	return int32(min(max(c, -1<<30), 1<<30))
}

// Put adds an entity at its position. If hooked is true, [AreaView.Look] asks for its
// relevance.
func (a *Area) Put(id NetID, x, y, z float32, hooked bool) {
	key := [2]int32{a.cell(x), a.cell(y)}
	a.items = append(a.items, areaItem{id, x, y, z, a.cells[key], hooked})
	a.cells[key] = int32(len(a.items))
	if hooked {
		a.hooked = append(a.hooked, id)
	}
}

// PutAlways adds an entity without a position. It is relevant to every viewer. If hooked
// is true, [AreaView.Look] asks for its relevance, and only Never hides it.
func (a *Area) PutAlways(id NetID, hooked bool) {
	a.always = append(a.always, id)
	if hooked {
		a.hooked = append(a.hooked, id)
	}
}

// AreaView holds the entities that are relevant to one viewer.
type AreaView struct {
	area   *Area
	number uint32
	marks  map[NetID]areaMark
	out    []NetID
	in     []NetID
	asked  map[NetID]Relevance
}

type areaMark struct {
	number  uint32
	since   schema.Tick
	nearest float32 // squared distance
}

// NewView returns a view to which nothing is relevant yet.
func (a *Area) NewView() *AreaView {
	return &AreaView{area: a, marks: map[NetID]areaMark{}, asked: map[NetID]Relevance{}}
}

// Look updates the view from the area, as of tick t. eyes are the viewer's positions.
// An entity's distance is that to the nearest eye. Look calls ask for the relevance of
// each hooked entity.
//
// It calls set first for each entity that ceased to be relevant and then for each that
// became so, both in the order of network ids: pass [Sender.SetRelevant].
func (v *AreaView) Look(t schema.Tick, eyes [][3]float32, ask func(NetID) Relevance, set func(NetID, bool)) {
	v.number++
	v.in, v.out = v.in[:0], v.out[:0]
	clear(v.asked)
	a := v.area
	for _, id := range a.hooked {
		v.asked[id] = ask(id)
	}
	for _, id := range a.always {
		if v.asked[id] != Never {
			v.mark(id, t, 0)
		}
	}
	for _, id := range a.hooked {
		if v.asked[id] == Always {
			v.mark(id, t, 0)
		}
	}
	for _, eye := range eyes {
		v.around(eye, t)
	}
	v.tell(set)
}

// LookEverywhere makes every entity of the area relevant, as of tick t. It calls set as Look
// does.
func (v *AreaView) LookEverywhere(t schema.Tick, set func(NetID, bool)) {
	v.number++
	v.in, v.out = v.in[:0], v.out[:0]
	for _, id := range v.area.always {
		v.mark(id, t, 0)
	}
	for i := range v.area.items {
		v.mark(v.area.items[i].id, t, 0)
	}
	v.tell(set)
}

// tell calls set for what changed.
func (v *AreaView) tell(set func(NetID, bool)) {
	for id, m := range v.marks {
		if m.number != v.number {
			v.out = append(v.out, id)
		}
	}
	slices.Sort(v.in)
	slices.Sort(v.out)
	for _, id := range v.out {
		delete(v.marks, id)
		set(id, false)
	}
	for _, id := range v.in {
		set(id, true)
	}
}

// around marks the entities near an eye.
func (v *AreaView) around(eye [3]float32, t schema.Tick) {
	a := v.area
	r := a.cfg.Leave
	for cx, toX := a.cell(eye[0]-r), a.cell(eye[0]+r); cx <= toX; cx++ {
		for cy, toY := a.cell(eye[1]-r), a.cell(eye[1]+r); cy <= toY; cy++ {
			for i := a.cells[[2]int32{cx, cy}]; i != 0; i = a.items[i-1].next {
				it := &a.items[i-1]
				dx, dy, dz := it.x-eye[0], it.y-eye[1], it.z-eye[2]
				d := dx*dx + dy*dy + dz*dz
				if !(d <= r*r) || it.hooked && v.asked[it.id] == Never {
					continue
				}
				if _, was := v.marks[it.id]; was || d <= a.cfg.Enter*a.cfg.Enter {
					v.mark(it.id, t, d)
				}
			}
		}
	}
}

func (v *AreaView) mark(id NetID, t schema.Tick, d float32) {
	m, was := v.marks[id]
	if !was {
		m = areaMark{since: t, nearest: d}
		v.in = append(v.in, id)
	}
	if m.number != v.number || d < m.nearest {
		m.nearest = d
	}
	m.number = v.number
	v.marks[id] = m
}

// Since returns the tick when an entity became relevant, or false if it is not
// relevant.
func (v *AreaView) Since(id NetID) (schema.Tick, bool) {
	m, ok := v.marks[id]
	return m.since, ok
}

// Priority returns a value for [SenderConfig].Priority: 16 for the nearest entity, 1 at the
// edge.
func (v *AreaView) Priority(id NetID) int {
	m, ok := v.marks[id]
	if !ok {
		return 1
	}
	d := math.Sqrt(float64(m.nearest)) / float64(v.area.cfg.Leave)
	return 1 + int(15*(1-min(d, 1)))
}

// SetRelevant sets whether an entity is relevant to the viewer. It has an effect where
// [SenderConfig].Relevant is set. Like SetVisible it may be called before the entity is
// first put. An entity is sent if it is relevant or the viewer owns it, unless it is
// hidden.
func (s *Sender) SetRelevant(id NetID, relevant bool) {
	s.change(id, func(n slotNote) slotNote { n.relevant = relevant; return n })
	s.moved = append(s.moved, id)
}

// reconsider looks at entities that became relevant or ceased to be.
func (s *Sender) reconsider() {
	slices.SortFunc(s.moved, func(a, b NetID) int { return cmp.Compare(a, b) })
	for _, id := range s.moved {
		if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) {
			s.consider(e.slot)
		}
	}
	s.moved = s.moved[:0]
}
