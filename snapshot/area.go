package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// Relevance is a game's decision about one entity, for one viewer. It says whether the
// entity is sent.
type Relevance uint8

const (
	// ByDistance: the distance decides.
	ByDistance Relevance = iota
	// Always: the entity is relevant at any distance.
	Always
	// Never: the entity is not relevant at any distance.
	Never
)

// String returns "by distance", "always" or "never".
func (r Relevance) String() string {
	switch r {
	case ByDistance:
		return "by distance"
	case Always:
		return "always"
	case Never:
		return "never"
	}
	return fmt.Sprintf("relevance %d", uint8(r))
}

// Area finds the entities that are near enough to a viewer. It is a grid of cells that
// the caller fills in each tick; each viewer has an [AreaView]. An Area belongs to one
// goroutine. Once it is filled, views may look at the same time, except with [AreaView.LookAs].
type Area struct {
	cfg    AreaConfig
	cells  map[[2]int32]int32 // cells has, for each cell, 1 + the index of the item that was put last.
	items  []areaItem
	always []areaItem // always has the entities without positions.
	hooked []areaItem

	// A slot is a small number that an entity keeps for as long as it is put in every tick. Views index what
	// they know by slot, so that a look needs no map.
	slots map[NetID]int32
	seats []areaSeat // seats has the entity of each slot.
	free  []int32
	tick  uint32 // tick counts the calls of Begin.
	put   int    // put counts the entities that were put in this tick.

	spare []*areaSet // spare has sets that no view uses.
}

type areaItem struct {
	id      NetID
	slot    int32
	hook    int32 // hook is 1 + the index in Area.hooked. 0 means that the entity is not hooked.
	next    int32
	x, y, z float32
}

type areaSeat struct {
	id   NetID
	tick uint32 // tick is the area's tick when the entity was put last.
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
	return &Area{cfg: cfg, cells: map[[2]int32]int32{}, slots: map[NetID]int32{}}, nil
}

// Config returns the configuration, with its defaults filled in.
func (a *Area) Config() AreaConfig { return a.cfg }

// Begin empties the area for a tick.
func (a *Area) Begin() {
	if a.put < len(a.slots) {
		a.sweep()
	}
	clear(a.cells)
	a.items, a.always, a.hooked = a.items[:0], a.always[:0], a.hooked[:0]
	a.put = 0
	a.tick++
}

// sweep frees the slots of entities that were not put in the last tick.
func (a *Area) sweep() {
	for slot := range a.seats {
		if s := &a.seats[slot]; s.id != 0 && s.tick != a.tick {
			delete(a.slots, s.id)
			s.id = 0
			a.free = append(a.free, int32(slot))
		}
	}
}

// item returns the item of an entity, with its slot.
func (a *Area) item(id NetID, hooked bool) areaItem {
	slot, ok := a.slots[id]
	if !ok {
		if n := len(a.free); n > 0 {
			slot, a.free = a.free[n-1], a.free[:n-1]
		} else {
			slot = int32(len(a.seats))
			a.seats = append(a.seats, areaSeat{})
		}
		a.slots[id] = slot
		a.seats[slot] = areaSeat{id: id}
	}
	if s := &a.seats[slot]; s.tick != a.tick {
		s.tick = a.tick
		a.put++
	}
	it := areaItem{id: id, slot: slot}
	if hooked {
		it.hook = int32(len(a.hooked)) + 1
		a.hooked = append(a.hooked, it)
	}
	return it
}

func (a *Area) cell(v float32) int32 {
	c := math.Floor(float64(v / a.cfg.Cell))
	if c != c {
		return 0
	}
	return int32(min(max(c, -1<<30), 1<<30))
}

// Put adds an entity at its position. If hooked is true, [AreaView.Look] asks for its
// relevance. The network id 0 names no entity.
func (a *Area) Put(id NetID, x, y, z float32, hooked bool) {
	key := [2]int32{a.cell(x), a.cell(y)}
	it := a.item(id, hooked)
	it.x, it.y, it.z, it.next = x, y, z, a.cells[key]
	a.items = append(a.items, it)
	a.cells[key] = int32(len(a.items))
}

// PutAlways adds an entity without a position. It is relevant to every viewer. If hooked
// is true, [AreaView.Look] asks for its relevance, and only Never hides it.
func (a *Area) PutAlways(id NetID, hooked bool) {
	a.always = append(a.always, a.item(id, hooked))
}

// SetRelevant sets whether an entity is relevant to the viewer. It has an effect where
// [SenderConfig].Relevant is set. Like SetVisible it may be called before the entity is
// first put. An entity is sent if it is relevant or the viewer owns it, unless it is
// hidden.
func (s *Sender) SetRelevant(id NetID, relevant bool) {
	s.change(id, func(n slotNote) slotNote { n.relevant = relevant; return n })
	s.moved = append(s.moved, id)
}

// reconsider assigns or releases wire ids of entities whose relevance was set since the last snapshot.
func (s *Sender) reconsider() {
	slices.SortFunc(s.moved, func(a, b NetID) int { return cmp.Compare(a, b) })
	for _, id := range s.moved {
		if e := s.src.lookup(id); e != nil && int(e.slot) < len(s.bySlot) {
			s.consider(e.slot)
		}
	}
	s.moved = s.moved[:0]
}
