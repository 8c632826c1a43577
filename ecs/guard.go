package ecs

import (
	"strings"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// guard records what the running system declared, and values it must not
// change, for builds with the foretick_debug tag.
type guard struct {
	on         bool
	once       bool
	structural bool
	system     string
	sets       *accessSets
	singles    *accessSets
	optional   Mask
	rows       []Rows
	owner      Owner  // owner is the owner of the rows that the body has now.
	kept       []kept // kept has the copies. The first n belong to this system.
	n          int
	index      map[keptKey]struct{}
}

// kept is a copy of a column or singleton that the system declared only to
// read, taken before the system could write it.
type kept struct {
	d       *typeData
	t       *table // t is nil for a singleton.
	now     unsafe.Pointer
	n       int
	version uint64 // version is the version of t when the copy was taken.
	plain   []byte
	rigid   unsafe.Pointer // rigid is the copy of a type with pointers.
}

type keptKey struct {
	slot  uint16
	table uint16 // table is 0 for a singleton.
}

// guardFor starts checking against the declaration of a system that gets these
// rows.
func (w *World) guardFor(name string, sets, singles *accessSets, q *Query, structural bool, rows []Rows) {
	g := &w.guard
	g.dropKept()
	g.on, g.once, g.structural, g.system, g.sets, g.singles, g.rows = true, q == nil, structural, name, sets, singles, rows
	g.optional = Mask{}
	if q != nil {
		g.optional = q.optional
	}
}

// unguard ends the check of a system, and compares the values that it must not
// change.
func (w *World) unguard() {
	g := &w.guard
	on := g.on
	g.on = false
	if on {
		w.compareKept()
	}
	g.dropKept()
	g.system, g.rows = "", nil
}

func (g *guard) dropKept() {
	for i := range g.kept[:g.n] {
		k := &g.kept[i]
		k.t, k.now, k.rigid = nil, nil, nil
	}
	g.n = 0
	clear(g.index)
}

// Guard switches the declaration check of the running system on or off, and
// returns whether it was on. Use it around a callback that a system's body
// calls for other code, and switch it back afterwards:
//
//	defer w.Guard(w.Guard(false))
//
// Changes made while it is off are not blamed on the system. It does nothing
// without the foretick_debug tag, and between systems.
func (w *World) Guard(on bool) (was bool) {
	if !debug {
		return false
	}
	was = w.guard.on
	on = on && w.guard.system != ""
	switch {
	case was && !on:
		w.compareKept() // the system made the changes so far
	case on && !was:
		w.keepAgain() // the system did not make the changes while the guard was off
	}
	w.guard.on = on
	return was
}

// checkSlot panics when a running system touches a component that it did not
// declare. Builds without the foretick_debug tag call none of these checks.
func (w *World) checkSlot(slot uint16) {
	g := &w.guard
	if !g.on || slot == 0 || w.types.slots[slot].open || g.sets.touched().Or(g.sets.creates).Has(ID(slot-1)) {
		return
	}
	misuse.Panicf("ecs: system %q touches %s without declaring it: name it in Read, Write, ReadOther or WriteOther",
		g.system, w.types.slots[slot].name)
}

// checkTable is checkSlot for the values in one table.
func (w *World) checkTable(slot uint16, t *table) {
	w.checkSlot(slot)
	w.checkOwner(slot, t)
	if w.guard.on && slot != 0 {
		w.keepColumn(slot, t)
	}
}

// checkOwner panics when the running system reads a component of another owner's entities that
// it declared with ReadOwn.
func (w *World) checkOwner(slot uint16, t *table) {
	g := &w.guard
	if !g.on || slot == 0 || t.part == nil || t.part.owner == g.owner || !g.sets.own(ID(slot-1)) {
		return
	}
	misuse.Panicf("ecs: system %q reads %s of an entity with owner %d, and its rows have owner %d: name it in ReadOther, not ReadOwn",
		g.system, w.types.slots[slot].name, t.part.owner, g.owner)
}

// checkEntity is checkSlot for one entity's value.
func (w *World) checkEntity(slot uint16, e Entity) {
	w.checkSlot(slot)
	if place := w.placeOf(e); w.guard.on && slot != 0 && place != 0 {
		w.checkOwner(slot, w.tables[tableOf(place)])
		w.keepColumn(slot, w.tables[tableOf(place)])
	}
}

// checkAll is checkSlot for the values of all entities.
func (w *World) checkAll(slot uint16) {
	w.checkSlot(slot)
	if w.guard.on && slot != 0 {
		for _, t := range w.ordered {
			w.keepColumn(slot, t)
		}
	}
}

func (w *World) checkSingle(slot uint16) {
	g := &w.guard
	if !g.on || slot == 0 {
		return
	}
	d := w.types.singles[slot-1]
	if !g.singles.touched().Has(d.id) {
		misuse.Panicf("ecs: system %q touches singleton %s without declaring it: name it in Read or Write", g.system, d.name)
	}
	if !g.singles.wrote().Has(d.id) && g.first(keptKey{slot, 0}) {
		g.addKept(d, nil, w.singles[slot-1], 1)
	}
}

// checkSpawn panics when the running system may not spawn the prefab.
func (w *World) checkSpawn(k *prefabData) {
	if !w.guard.on {
		return
	}
	var missing []string
	for _, id := range k.comps {
		if d := w.types.slots[w.types.slotOf(id)]; !d.open && !w.guard.sets.creates.Has(id) {
			missing = append(missing, d.name)
		}
	}
	if len(missing) > 0 {
		misuse.Panicf("ecs: system %q spawns prefab %q without declaring %s: name it in Create",
			w.guard.system, k.name, strings.Join(missing, ", "))
	}
}

// checkAdd panics when the running system may not add the component to an
// entity that lacks it.
func (w *World) checkAdd(slot uint16, e Entity) {
	place := w.placeOf(e)
	if !w.guard.on || place == 0 {
		return
	}
	if d := w.types.slots[slot]; !d.open && !w.guard.sets.creates.Has(d.id) &&
		(w.tables[tableOf(place)].cols[slot] == nil || w.pending(e)) {
		misuse.Panicf("ecs: system %q adds %s to %v without declaring it: name it in Create", w.guard.system, d.name, e)
	}
}

// checkStructural panics when the running system may not issue such commands.
func (w *World) checkStructural(o op) {
	if !w.guard.on || w.guard.structural {
		return
	}
	does := [...]string{opSpawn: "spawns an entity", opDestroy: "destroys an entity", opAdd: "adds a component",
		opRemove: "removes a component", opTransfer: "transfers an entity", opParent: "sets an entity's parent"}
	misuse.Panicf("ecs: system %q %s without declaring it: add Structural, or Create of what it makes", w.guard.system, does[o])
}

// mayWrite reports whether the running system declared to write the component
// of the table's rows. A system that creates a component may set it, too.
func (g *guard) mayWrite(d *typeData, t *table) bool {
	return d.open || g.sets.otherWrites.Or(g.sets.creates).Has(d.id) || g.sets.writes.Has(d.id) && g.gotRows(t)
}

// gotRows reports whether the system got the table's rows. It returns true for a Once system, which has no rows
// and finds its own.
func (g *guard) gotRows(t *table) bool {
	if g.once {
		return true
	}
	for _, r := range g.rows {
		if r.t == t {
			return true
		}
	}
	return false
}

// keepColumn copies a column that the system is about to reach and must not write.
// Staged rows are the system's own.
func (w *World) keepColumn(slot uint16, t *table) {
	g, d := &w.guard, w.types.slots[slot]
	if t.n == 0 || t.staging || t.cols[slot] == nil || !g.first(keptKey{slot, t.id}) || g.mayWrite(d, t) {
		return
	}
	g.addKept(d, t, t.cols[slot], int(t.n))
}

// first reports whether the key is new.
func (g *guard) first(k keptKey) bool {
	if _, met := g.index[k]; met {
		return false
	}
	if g.index == nil {
		g.index = map[keptKey]struct{}{}
	}
	g.index[k] = struct{}{}
	return true
}

func (g *guard) addKept(d *typeData, t *table, now unsafe.Pointer, n int) {
	if d.size == 0 {
		return
	}
	if g.n == len(g.kept) {
		g.kept = append(g.kept, kept{})
	}
	k := &g.kept[g.n]
	g.n++
	k.d, k.t, k.now, k.n = d, t, now, n
	k.copyColumn()
}

func (k *kept) copyColumn() {
	if k.t != nil {
		k.version = k.t.version
	}
	if !k.d.plain {
		k.rigid = k.d.ops.alloc(k.n)
		k.d.ops.copy(k.rigid, k.now, k.n)
		return
	}
	size := k.d.size * uintptr(k.n)
	if uintptr(cap(k.plain)) < size {
		k.plain = allocBytes(size)
	}
	k.plain = k.plain[:size]
	copyBytes(k.was(), k.now, size)
}

func (k *kept) was() unsafe.Pointer {
	if !k.d.plain {
		return k.rigid
	}
	return unsafe.Pointer(unsafe.SliceData(k.plain))
}

func (w *World) keepAgain() {
	for i := range w.guard.kept[:w.guard.n] {
		w.guard.kept[i].copyColumn()
	}
}

// compareKept panics when the system has changed a value that it declared only
// to read. It compares as [History.Diff] does.
func (w *World) compareKept() {
	g := &w.guard
	for i := range g.kept[:g.n] {
		k := &g.kept[i]
		switch {
		case k.t == nil:
			if !k.d.equal(k.now, k.was()) {
				g.on = false
				misuse.Panicf("ecs: system %q writes singleton %s, which it declared only to read: name it in Write", g.system, k.d.name)
			}
		case k.version == k.t.version: // the rows have not moved
			k.d.diffRows(Rows{k.t, 0, int32(k.n)}, k.now, k.was(), w.wroteKept(k.d))
		}
	}
}

func (w *World) wroteKept(d *typeData) func(Rows, int, unsafe.Pointer) {
	return func(r Rows, i int, _ unsafe.Pointer) {
		g := &w.guard
		g.on = false
		switch {
		case !g.gotRows(r.t) && g.sets.writes.Has(d.id):
			misuse.Panicf("ecs: system %q writes %s of %v, which is not among its rows: name it in WriteOther", g.system, d.name, r.Entity(i))
		case !g.gotRows(r.t):
			misuse.Panicf("ecs: system %q writes %s of %v, which it declared only to read: name it in WriteOther", g.system, d.name, r.Entity(i))
		case g.optional.Has(d.id):
			misuse.Panicf("ecs: system %q writes %s of %v, which it declared only to read: name it in OptionalWrite", g.system, d.name, r.Entity(i))
		case g.sets.reads.Has(d.id):
			misuse.Panicf("ecs: system %q writes %s of %v, which it declared only to read: name it in Write", g.system, d.name, r.Entity(i))
		default: // a row of the system, reached through the world
			misuse.Panicf("ecs: system %q writes %s of %v, which it declared only to read: name it in WriteOther, or Write", g.system, d.name, r.Entity(i))
		}
	}
}
