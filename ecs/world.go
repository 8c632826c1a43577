package ecs

import (
	"fmt"
	"unsafe"
)

// WorldConfig configures a world. The zero value is ready to use.
type WorldConfig struct {
	// Tags say what this world is, such as "server", "client" or "headless".
	// A system runs only in worlds that hold all of its tags.
	Tags []string
	// Capacity is how many entities to make room for at first; 0 means 1024, negative
	// is an error. At most 8 million. Worlds grow as needed.
	Capacity int
}

// World holds entities and their components, and the singletons. It is used by
// one goroutine at a time; worlds are independent of one another.
//
// While a world is locked (a system runs, or the caller called [World.Lock])
// structural commands are deferred: spawned entities live at once and are seen
// by queries after the flush, everything else happens at the flush, in order
// of issue.
type World struct {
	rec     []uint64            // records by index
	cols    []*columns          // by slot; 0 stays empty
	at      [slotsMost]*columns // holds cols; the rest is as 0
	tables  []*table            // by id; 0 is nowhere and has no rows
	types   *Types
	version uint64 // counts changes; never goes back
	changed uint64 // the last change of any rows
	layout  uint64 // the last change of the set of tables

	pages     []page
	firstFree [ranges]uint32
	claimed   int // pages from here on are homeless
	strays    []uint32
	reserves  [ranges]reserved
	parts     []*part // by index, in order of creation
	sorted    []*part // by owner
	owners    [256]*[256]*part
	ordered   []*table // all but staging ones, in canonical order
	made      []*table // the same, in order of creation

	archs      []*archetype
	archByMask map[Mask]*archetype // looked up, never iterated

	singles     []unsafe.Pointer
	singleBlock []byte

	locks    int
	running  int32 // 1 + the place of the system that runs; 0: none, or several at once
	schedule namer // which one
	removals int
	commands []command
	values   []pendingValues
	staged   []*table
	parallel bool

	tags    uint64
	caches  []*queryCache
	watches []watchState
	marks   []Entity // scratch of watches

	onlookers []watchState // of watches polled outside of the ticks
	lasting   bool         // they are polled there

	count   int
	kids    kidIndex
	scratch hashScratch
	guard   guard
}

// NewWorld makes an empty world and freezes the types. It panics with
// [UsageError] for nil types, a Capacity out of range, and when the tags of the game are
// more than 64.
func NewWorld(t *Types, cfg WorldConfig) *World {
	if t == nil {
		misuse("NewWorld is given nil Types: make them with NewTypes")
	}
	t.freeze()
	tags, err := t.tagBits(cfg.Tags)
	if err != nil {
		panic(UsageError{err.Error()})
	}
	w := &World{types: t, tags: tags, version: 1, changed: 1, layout: 1}
	w.archByMask = map[Mask]*archetype{}
	w.cols = w.at[:len(t.slots)]
	for i := range w.cols {
		w.cols[i] = &columns{make([]column, 1, 16), w, uint16(i)}
		w.cols[i].base[0].p = unsafe.Pointer(w.cols[i])
	}
	for i := len(w.cols); i < len(w.at); i++ {
		w.at[i] = w.cols[0]
	}
	w.tables = []*table{{}}
	w.values = make([]pendingValues, len(t.slots))
	n := cfg.Capacity
	switch {
	case n < 0 || n > maxSlot/2:
		misuse("WorldConfig.Capacity is %d: use up to %d, or 0 for 1024", n, maxSlot/2)
	case n == 0:
		n = 1024
	}
	w.reserve(2*n/pageLen + 1)
	w.watches = make([]watchState, len(t.watches))
	w.newSingles()
	w.partOf(Nobody)
	return w
}

// Types is what the world was made of.
func (w *World) Types() *Types { return w.types }

// Len counts the living entities.
func (w *World) Len() int { return w.count }

// Used is how much of the world's hard limits is taken, from 0 to 1: of 65 535 tables
// (one for each owner and set of components that ever was there) and of 16 million
// slots for entities, whichever is nearer. Beyond them it panics with [UsageError].
// Whoever makes entities by a peer's word asks first.
func (w *World) Used() float64 {
	return max(float64(len(w.tables)-1)/tableMask, float64(w.claimed<<pageBits)/maxSlot)
}

// find is the place of a living entity, or 0.
func (w *World) find(e Entity) uint64 {
	if i := uint64(e.slot()); i < uint64(len(w.rec)) {
		if at := w.rec[i] ^ uint64(e); at>>rowShift < uint64(w.tables[tableOf(at)].n) {
			return at
		}
	}
	return 0
}

// Alive tells whether the handle's entity exists. One spawned while locked
// does at once; one destroyed while locked does until the flush.
func (w *World) Alive(e Entity) bool { return w.find(e) != 0 }

// Owner is the entity's owner; Nobody when it is gone.
func (w *World) Owner(e Entity) Owner {
	if place := w.find(e); place != 0 {
		return w.tables[tableOf(place)].part.of
	}
	return Nobody
}

// Mask is the entity's component set; empty when it is gone. It has a bit
// above every registered type when the entity has a parent.
func (w *World) Mask(e Entity) Mask {
	if place := w.find(e); place != 0 {
		return w.tables[tableOf(place)].arch.mask
	}
	return Mask{}
}

// Row is the entity's row alone; false when it is gone.
func (w *World) Row(e Entity) (Rows, bool) {
	place := w.find(e)
	if place == 0 {
		return Rows{}, false
	}
	return Rows{w.tables[tableOf(place)], rowOf(place), 1}, true
}

// Pointer points at the entity's value of a component, until the next
// structural change; nil when it is gone or lacks it.
func (w *World) Pointer(e Entity, id ID) unsafe.Pointer {
	if place := w.find(e); place != 0 && int(id) < w.types.Len() {
		if debug {
			w.checkEntity(uint16(id)+1, e)
		}
		if p := w.tables[tableOf(place)].cols[int(id)+1]; p != nil {
			return unsafe.Add(p, uintptr(rowOf(place))*w.types.slots[int(id)+1].size)
		}
	}
	return nil
}

// touch notes a change of a table's rows. The versions of ids are what saves
// compare; they never go back.
func (w *World) touch(t *table) {
	t.version = w.version
	t.part.changed = w.version
	w.changed = w.version
}

// Spawn makes an entity of a kind, in [RangeServer], with the kind's defaults.
// While the world is locked the entity lives at once (Get and Find work), and
// queries see it after the flush. It panics with [UsageError] when the prefab is
// not registered, or is somebody else's to spawn (see [Managed]).
func (w *World) Spawn(k *Prefab, owner Owner) Entity { return w.SpawnIn(RangeServer, k, owner) }

// SpawnIn is Spawn with the handle from the given range.
func (w *World) SpawnIn(r Range, k *Prefab, owner Owner) Entity {
	w.checkPrefab(k)
	if k.d.kept != nil {
		w.refuseSpawn(k.d)
	}
	return w.spawn(r, k, owner)
}

func (w *World) spawn(r Range, k *Prefab, owner Owner) Entity {
	if r >= ranges {
		misuse("spawn in %v: use RangeServer, RangePredicted or RangeLocal", r)
	}
	if debug {
		w.checkSpawn(k.d)
	}
	p := w.partOf(owner)
	w.version++
	e := w.allocate(p, r)
	w.begin(e, k.d, p)
	return e
}

func (w *World) checkPrefab(k *Prefab) {
	if !k.Registered() {
		misuse("this prefab is not registered: declare it first (Types.RegisterPrefab, or what calls that for you)")
	}
	if k.d.types != w.types {
		misuse("prefab %q is registered with other Types than this world's", k.d.name)
	}
}

// begin gives a fresh handle its row.
func (w *World) begin(e Entity, k *prefabData, p *part) {
	t := w.tableOfPrefab(p, k)
	if w.locks > 0 {
		w.defer1(command{op: opSpawn, e: e})
		t = w.stageOf(t)
		if t.n == 0 {
			w.staged = append(w.staged, t)
		}
	}
	row := t.push(e)
	t.fill(row, k)
	w.place(e, t, row)
	w.count++
	if !t.staging {
		w.touch(t)
	}
}

// Place makes an entity at a given handle, as mirrors of another world do. The
// index must be free, and lie in a page that no other range uses ([ErrOccupied]
// otherwise): the handles of a world of the same types always do. The generation
// may be any but 0. Deferral is as with Spawn.
func (w *World) Place(e Entity, k *Prefab, owner Owner) error {
	w.checkPrefab(k)
	if k.d.kept != nil {
		w.refuseSpawn(k.d)
	}
	return w.placeAt(e, k, owner)
}

func (w *World) placeAt(e Entity, k *Prefab, owner Owner) error {
	if debug {
		w.checkSpawn(k.d)
	}
	p := w.partOf(owner)
	w.version++
	if err := w.take(e, p); err != nil {
		return fmt.Errorf("place %v: %w", e, err)
	}
	w.begin(e, k.d, p)
	return nil
}

// Destroy removes an entity and its children; false when it is gone already.
// It is deferred while the world is locked. It panics with [UsageError] when the
// entity is somebody else's to destroy (see [Managed]).
func (w *World) Destroy(e Entity) bool {
	place := w.find(e)
	if place == 0 {
		return false
	}
	if a := w.tables[tableOf(place)].arch; a.kept != nil {
		w.refuseDestroy(e, a.kept)
	}
	return w.remit(e)
}

// remit destroys a living entity, now or at the flush.
func (w *World) remit(e Entity) bool {
	if w.locks > 0 {
		w.defer1(command{op: opDestroy, e: e})
		return true
	}
	w.destroy(e)
	return true
}

func (w *World) destroy(e Entity) {
	place := w.find(e)
	if place == 0 {
		return
	}
	if w.kids.used {
		w.destroyKids(e)
		if place = w.find(e); place == 0 {
			return
		}
	}
	t := w.tables[tableOf(place)]
	w.version++
	t.drop(rowOf(place))
	w.touch(t)
	w.release(e, t.part)
	w.count--
	if len(w.strays) >= maxStrays {
		w.returnStrays()
	}
}

// moveRow takes an entity's row to another table and answers its new row. What
// both tables have moves along; what only the new one has is the caller's to set.
func (w *World) moveRow(e Entity, from *table, row int32, to *table) int32 {
	w.version++
	dst := to.push(e)
	for _, d := range to.arch.types {
		if src := from.cols[d.slot]; src != nil {
			d.move(to.at(d, dst), unsafe.Add(src, uintptr(row)*d.size))
		}
	}
	from.drop(row)
	w.place(e, to, dst)
	w.touch(from)
	w.touch(to)
	return dst
}

// AddByID gives the entity a component, or sets it where present, from the
// Info(id).Size bytes at src. It is [Component.Add] for callers without the
// type; src is copied before AddByID returns. A nil src is the zero value.
func (w *World) AddByID(e Entity, id ID, src unsafe.Pointer) {
	d := w.typeOf(id)
	if src == nil {
		src = d.zero
	}
	if debug {
		w.checkAdd(d.slot, e)
	}
	if p := w.Pointer(e, id); p != nil && !w.pending(e) {
		d.move(p, src)
		return
	}
	w.addSlot(e, int(d.slot), src)
}

// RemoveByID takes a component from the entity: [Component.Remove].
func (w *World) RemoveByID(e Entity, id ID) { w.removeSlot(e, int(w.typeOf(id).slot)) }

func (w *World) typeOf(id ID) *typeData {
	if int(id) >= w.types.Len() {
		misuse("component %d of %d", id, w.types.Len())
	}
	return w.types.slots[int(id)+1]
}

func (w *World) addSlot(e Entity, slot int, src unsafe.Pointer) {
	place := w.find(e)
	if place == 0 {
		return
	}
	d := w.types.slots[slot]
	if w.locks > 0 {
		w.defer1(command{op: opAdd, e: e, slot: uint16(slot), arg: uint64(w.values[slot].push(d, src))})
		return
	}
	w.add(e, place, d, src)
}

func (w *World) add(e Entity, place uint64, d *typeData, src unsafe.Pointer) {
	t := w.tables[tableOf(place)]
	if p := t.cols[d.slot]; p != nil {
		d.move(t.at(d, rowOf(place)), src)
		return
	}
	to := w.tableFor(t.part, w.with(t.arch, int(d.slot)))
	row := w.moveRow(e, t, rowOf(place), to)
	d.move(to.at(d, row), src)
}

func (w *World) removeSlot(e Entity, slot int) {
	place := w.find(e)
	if place == 0 {
		return
	}
	if w.locks > 0 {
		w.removals++
		w.defer1(command{op: opRemove, e: e, slot: uint16(slot)})
		return
	}
	w.remove(e, place, slot)
}

func (w *World) remove(e Entity, place uint64, slot int) {
	t := w.tables[tableOf(place)]
	if t.cols[slot] != nil {
		w.moveRow(e, t, rowOf(place), w.tableFor(t.part, w.without(t.arch, slot)))
	}
}

// Transfer gives the entity to another owner, deferred while the world is
// locked. Saves of both owners' parts alone (see [World.NewOwnerHistory]) from
// before are void. It answers [ErrStale] when the entity is gone.
func (w *World) Transfer(e Entity, o Owner) error {
	place := w.find(e)
	if place == 0 {
		return fmt.Errorf("transfer %v: %w", e, ErrStale)
	}
	if w.locks > 0 {
		w.defer1(command{op: opTransfer, e: e, arg: uint64(o)})
		return nil
	}
	w.transfer(e, place, o)
	return nil
}

func (w *World) transfer(e Entity, place uint64, o Owner) {
	t := w.tables[tableOf(place)]
	if t.part.owner == o {
		return
	}
	from, to := t.part, w.partOf(o)
	w.moveRow(e, t, rowOf(place), w.tableFor(to, t.arch))
	from.cut, to.cut = w.version, w.version
	pg := &w.pages[e.slot()>>pageBits]
	if bit := uint64(1) << (e.slot() & (pageLen - 1)); pg.home == to.index {
		pg.away &^= bit
	} else if pg.home >= 0 {
		pg.away |= bit
	}
}
