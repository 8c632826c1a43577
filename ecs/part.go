package ecs

import (
	"slices"
	"unsafe"
)

// part is what belongs to one owner: its tables and its allocators.
type part struct {
	owner    Owner // its name
	of       Owner // what its rows say: another, where an owner has a part beside his own
	index    int32
	tables   []*table // in order of mask
	made     []*table // in order of creation
	byArch   []*table // by archetype
	byPrefab []*table
	alloc    [ranges]allocator
	caches   []ownedCache // by query
	changed  uint64       // the last change of rows here; caches compare it
	cut      uint64       // saves of this part alone from before are void

	reserved [ranges][]Entity // handles given back that last lived here
}

// partOf finds or makes an owner's part.
func (w *World) partOf(o Owner) *part {
	if p := w.findPart(o); p != nil {
		return p
	}
	p := &part{owner: o, of: o, index: int32(len(w.parts)), changed: w.version, cut: w.version}
	p.byPrefab = make([]*table, len(w.types.prefabs))
	w.parts = append(w.parts, p)
	at, _ := slices.BinarySearchFunc(w.sorted, o, func(p *part, o Owner) int { return int(p.owner) - int(o) })
	w.sorted = slices.Insert(w.sorted, at, p)
	if w.owners[o>>8] == nil {
		w.owners[o>>8] = new([256]*part)
	}
	w.owners[o>>8][o&255] = p
	return p
}

// Partition is a second part of what an owner owns, and answers the name that it goes by
// as an [Owner] in [World.Spawn], [World.Transfer], [Query.Owned] and their kin: a
// part that runs, is saved and comes back apart from the owner's own, while its rows
// say that they are his. A client puts what it draws from snapshots there, where it
// predicts the rest of what another player owns. The names come from the upper end of
// the range, which is therefore not for players; it panics with [UsageError] when none
// is left.
func (w *World) Partition(o Owner) Owner {
	for _, p := range w.parts {
		if p.of == o && p.owner != o {
			return p.owner
		}
	}
	for name := ClientOnly - 1; name > o; name-- {
		if w.findPart(name) == nil {
			w.partOf(name).of = o
			return name
		}
	}
	misuse("no name is left for a second part of owner %d", o)
	return o
}

func (w *World) findPart(o Owner) *part {
	if block := w.owners[o>>8]; block != nil {
		return block[o&255]
	}
	return nil
}

// tableFor finds or makes the part's table of an archetype.
func (w *World) tableFor(p *part, a *archetype) *table {
	if int(a.index) < len(p.byArch) {
		if t := p.byArch[a.index]; t != nil {
			return t
		}
	}
	t := w.newTable(p, a)
	for int(a.index) >= len(p.byArch) {
		p.byArch = append(p.byArch, nil)
	}
	p.byArch[a.index] = t
	t.inWorld, t.inPart = int32(len(w.made)), int32(len(p.made))
	w.made, p.made = append(w.made, t), append(p.made, t)
	at, _ := slices.BinarySearchFunc(p.tables, a.mask, func(t *table, m Mask) int { return t.arch.mask.Compare(m) })
	p.tables = slices.Insert(p.tables, at, t)
	at, _ = slices.BinarySearchFunc(w.ordered, t, compareTables)
	w.ordered = slices.Insert(w.ordered, at, t)
	w.version++
	w.layout, w.changed, p.changed = w.version, w.version, w.version
	return t
}

func compareTables(a, b *table) int {
	if c := a.arch.mask.Compare(b.arch.mask); c != 0 {
		return c
	}
	return int(a.part.owner) - int(b.part.owner)
}

// tableOfPrefab is the table that a prefab's entities of the part begin in.
func (w *World) tableOfPrefab(p *part, k *prefabData) *table {
	if int(k.index) < len(p.byPrefab) {
		if t := p.byPrefab[k.index]; t != nil {
			return t
		}
	}
	t := w.tableFor(p, w.archetypeOf(k.mask))
	p.byPrefab[k.index] = t
	return t
}

func (w *World) newTable(p *part, a *archetype) *table {
	if len(w.tables) > tableMask {
		misuse("more than %d tables: fewer owners or fewer component sets", tableMask)
	}
	t := &table{arch: a, part: p, world: w, id: uint16(len(w.tables)), rigid: len(a.rigid) > 0}
	t.cols = make([]unsafe.Pointer, len(w.types.slots))
	w.tables = append(w.tables, t)
	w.growColumns()
	t.grow(1)
	return t
}

// growColumns makes the entries of the newest table. Where they move, the
// records do, too: a View keeps both as they were, so that records never name a
// table that their columns lack.
func (w *World) growColumns() {
	if base := w.cols[0].base; len(base) == cap(base) {
		for _, c := range w.cols {
			c.base = append(make([]column, 0, 2*len(base)), c.base...)
		}
		w.rec = slices.Clone(w.rec)
	}
	for _, c := range w.cols {
		c.base = append(c.base, column{})
	}
}

// stageOf is where rows of a table wait while the world is locked.
func (w *World) stageOf(t *table) *table {
	if t.stage == nil {
		t.stage = w.newTable(t.part, t.arch)
		t.stage.staging = true
	}
	return t.stage
}

func (w *World) archetypeOf(m Mask) *archetype {
	if a := w.archByMask[m]; a != nil {
		return a
	}
	a := &archetype{mask: m, index: int32(len(w.archs)), kept: w.types.keptBy(m)}
	for _, id := range m.IDs() {
		d := w.types.slots[w.types.slotOf(id)]
		a.types = append(a.types, d)
		if !d.plain {
			a.rigid = append(a.rigid, d)
		}
	}
	a.linked = m.Has(linkID)
	a.add = make([]*archetype, len(w.types.slots))
	a.remove = make([]*archetype, len(w.types.slots))
	w.archs = append(w.archs, a)
	w.archByMask[m] = a
	return a
}

func (w *World) with(a *archetype, slot int) *archetype {
	if b := a.add[slot]; b != nil {
		return b
	}
	m := a.mask
	m.Set(w.types.slots[slot].id)
	a.add[slot] = w.archetypeOf(m)
	return a.add[slot]
}

func (w *World) without(a *archetype, slot int) *archetype {
	if b := a.remove[slot]; b != nil {
		return b
	}
	m := a.mask
	m.Clear(w.types.slots[slot].id)
	a.remove[slot] = w.archetypeOf(m)
	return a.remove[slot]
}
