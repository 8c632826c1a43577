package ecs

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// part holds everything of one owner: its tables and its allocators.
type part struct {
	owner Owner // owner is the name of the part.
	// of is the owner that the rows report. It differs from owner for a second part: see Partition.
	of       Owner
	index    int32
	tables   []*table // tables are in the order of their masks.
	made     []*table // made has the tables in order of creation.
	byArch   []*table // byArch has the tables by archetype.
	byPrefab []*table
	alloc    [ranges]allocator
	caches   []ownedCache // caches has the cached rows by query.
	changed  uint64       // changed is the last change of rows in the part. Caches compare it.
	cut      uint64       // cut changes when older saves of this part alone become void.

	histories []*History // histories has the histories of the part that have saves.

	reserved [ranges][]Entity // reserved has the returned handles whose entity last lived in the part.

	concealed bool
}

// partOf finds or creates an owner's part.
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

// Partition returns a name, as an [Owner], for a second part of an owner's
// entities. [World.Spawn], [World.Transfer], [Query.Owned] and similar methods
// take the name. The second part is run, saved and restored apart from the
// owner's main part, but its rows still report the owner. A client uses it for
// entities of another player that it draws from snapshots, when it predicts the
// rest of that player's entities. Names are taken from the upper end of the
// range, so players must not use those numbers. Partition panics with
// [UsageError] when no name is left.
func (c *Control) Partition(o Owner) Owner {
	w := c.world()
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
	misuse.Panicf("ecs: no name is left for a second part of owner %d: use fewer partitions", o)
	return o
}

// PartOf returns the name of the part that holds the entity: its owner, or what
// [Control.Partition] returned. It returns Nobody when the entity is gone.
func (c *Control) PartOf(e Entity) Owner {
	w := c.world()
	if place := w.placeOf(e); place != 0 {
		return w.tables[tableOf(place)].part.owner
	}
	return Nobody
}

// Structure returns a number that changes whenever an entity of the owner comes, goes, or
// gains or loses a component. Restoring the owner's part brings the earlier number back.
func (c *Control) Structure(o Owner) uint64 {
	w := c.world()
	p := w.partOf(o)
	w.peek(p.concealed)
	return p.changed
}

func (w *World) findPart(o Owner) *part {
	if block := w.owners[o>>8]; block != nil {
		return block[o&255]
	}
	return nil
}

// tableFor finds or creates the part's table of an archetype. If there is no room for one
// more it returns Nobody's table.
func (w *World) tableFor(p *part, a *archetype) *table {
	if int(a.index) < len(p.byArch) {
		if t := p.byArch[a.index]; t != nil {
			return t
		}
	}
	if !w.tableRoom(p) {
		return w.tableFor(w.findPart(Nobody), a)
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
	return compareParts(a.part, b.part)
}

// compareParts orders parts as the server orders their rows. On the server, rows of [Common] belong to Nobody,
// and rows of a second part to its owner.
func compareParts(a, b *part) int {
	return cmp.Or(cmp.Compare(a.of.rank(), b.of.rank()), cmp.Compare(a.owner.rank(), b.owner.rank()))
}

// rank is an owner's place among the others.
func (o Owner) rank() int {
	if o == Common {
		return 1
	}
	return 2 * int(o)
}

// tableOfPrefab returns the table for new entities of a prefab in the part.
func (w *World) tableOfPrefab(p *part, k *prefabData) *table {
	if int(k.index) < len(p.byPrefab) {
		if t := p.byPrefab[k.index]; t != nil {
			return t
		}
	}
	t := w.tableFor(p, w.archetypeOf(k.mask))
	if t.part == p {
		p.byPrefab[k.index] = t
	}
	return t
}

func (w *World) newTable(p *part, a *archetype) *table {
	t := &table{arch: a, part: p, world: w, id: w.tableID(), rigid: len(a.rigid) > 0}
	t.cols = make([]unsafe.Pointer, len(w.types.slots))
	w.tables[t.id] = t
	t.growRows(1)
	return t
}

// growColumns adds an entry for the newest table to all columns. If the entries move in memory, the records are
// copied too. A View then keeps the old entries and the old records, so its records never name a table that its
// columns lack.
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

// stageOf returns the table where rows wait while the world is locked.
func (w *World) stageOf(t *table) *table {
	if t.stage == nil {
		if !w.tableRoom(t.part) {
			return w.stageOf(w.tableFor(w.findPart(Nobody), t.arch))
		}
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
