package ecs

import (
	"fmt"
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// WorldConfig configures a world. The zero value is ready to use.
type WorldConfig struct {
	// Tags describe the world, such as "server", "client" or "headless". A
	// system runs only in worlds that have all of its tags. SetTags changes them.
	Tags []string
	// Capacity is the number of entities to allocate for at first. 0 means
	// 1024, negative is an error. At most 8 million. Worlds grow as needed.
	Capacity int
	// OnFull is called when an entity of a player needs one more table than there may be
	// (see [World.Used]). Nobody owns that entity from then on; owner is the player that
	// should. OnFull runs inside the call or the flush that needed the table, and must not
	// change the world. The last 2048 tables are kept for entities of [Nobody]. nil means
	// that such a call panics with [UsageError].
	OnFull func(e Entity, owner Owner)
}

// World holds entities with their components, and the singletons. One goroutine
// may use it at a time; worlds are independent of one another.
//
// While a world is locked (a system runs, or the caller called [Control.Lock]),
// structural commands are deferred. Spawned entities exist at once, and queries
// see them after the flush. All other commands take effect at the flush, in
// order of issue.
//
// Engines find the methods that games have no use for with [Engine].
type World struct {
	rec    []uint64            // rec has the records by index.
	cols   []*columns          // cols has the columns by slot. Entry 0 stays empty.
	at     [slotsMost]*columns // at contains cols. All other entries are like entry 0.
	tables []*table            // tables has the tables by id. Table 0 has no rows.
	recycling
	types   *Types
	version uint64 // version counts changes. It never decreases.
	changed uint64 // changed is the last change of any rows.
	layout  uint64 // layout is the last change of the set of tables.

	pages     []page
	firstFree [ranges]uint32
	claimed   int    // claimed is the index from which on pages are homeless.
	claims    uint64 // claims identifies which part has which page. It changes when a part claims one.
	strays    []uint32
	reserves  [ranges]reserved
	parts     []*part // parts has the parts by index, in order of creation.
	sorted    []*part // sorted has the parts by owner.
	owners    [256]*[256]*part
	ordered   []*table // ordered has all tables except staging tables, in canonical order.
	made      []*table // made has all tables except staging tables, in order of creation.

	archs      []*archetype
	archByMask map[Mask]*archetype // archByMask is looked up, but never iterated.

	singles     []unsafe.Pointer
	singleBlock []byte

	locks    int
	running  int32 // running is 1 + the index of the running system. 0 means none, or several at once.
	schedule namer // schedule is the schedule of the running system.
	removals int
	commands []command
	doomed   []uint64 // doomed has a bit by slot for each entity that a queued command destroys.
	values   []pendingValues
	staged   []*table
	parallel bool

	tags    uint64
	caches  []*queryCache
	watches []watchState
	marks   []Entity // marks is scratch of watches.

	onlookers []watchState // onlookers has the state of watches that are polled outside the ticks.
	lasting   bool         // lasting is true while watches are polled outside the ticks.

	count   int
	onFull  func(Entity, Owner)
	kids    kidIndex
	scratch hashScratch
	guard   guard
	blind   uint16 // blind is 1 while rows are concealed: see Conceal.
	peeked  bool   // peeked is true if something looked for concealed rows.
	climbed bool   // climbed is true if something asked for a parent while rows were concealed.
}

// NewWorld returns an empty world and freezes the types. It panics with
// [UsageError] for nil types, a Capacity out of range, and when the game has
// more than 64 tags.
func NewWorld(t *Types, cfg WorldConfig) *World {
	if t == nil {
		misuse.Panicf("ecs: NewWorld is given nil Types: make them with NewTypes")
	}
	t.freeze()
	tags, err := t.tagBits(cfg.Tags)
	if err != nil {
		misuse.Panicf("ecs: NewWorld: %v", err)
	}
	w := &World{types: t, tags: tags, version: 1, changed: 1, layout: 1, onFull: cfg.OnFull}
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
		misuse.Panicf("ecs: WorldConfig.Capacity is %d: use up to %d, or 0 for 1024", n, maxSlot/2)
	case n == 0:
		n = 1024
	}
	w.reserve(2*n/pageLen + 1)
	w.watches = make([]watchState, len(t.watches))
	w.newSingles()
	w.partOf(Nobody)
	return w
}

// Types returns the types that the world was created with.
func (w *World) Types() *Types { return w.types }

// Len returns the number of living entities.
func (w *World) Len() int { return w.looked().count }

// Used returns how full the world is, from 0 to 1, by the nearer of its two hard limits. One is 65 535 tables,
// one for each combination of owner and component set that existed, and a second one where such entities were
// spawned while the world was locked. Tables without rows are recycled in bulk, once no save of a [History] has
// rows of them. The other is 16 million entity slots. Beyond a limit the world panics with [UsageError], except
// for tables where [WorldConfig] has an OnFull. Check Used before spawning on behalf of a peer.
func (w *World) Used() float64 {
	return max(float64(w.inUse())/tableMask, float64(w.claimed<<pageBits)/maxSlot)
}

// placeOf returns the place of a living entity, or 0.
func (w *World) placeOf(e Entity) uint64 {
	if i := uint64(e.index()); i < uint64(len(w.rec)) {
		at := w.rec[i] ^ uint64(e)
		if at>>rowShift < uint64(w.tables[tableOf(at)].n) {
			return at
		}
		if uint16(at) < w.blind {
			w.peeked = true
		}
	}
	return 0
}

// Alive reports whether the handle's entity exists. An entity spawned while
// locked exists at once; one destroyed while locked exists until the flush.
func (w *World) Alive(e Entity) bool { return w.placeOf(e) != 0 }

// Owner returns the entity's owner; Nobody when the entity is gone.
func (w *World) Owner(e Entity) Owner {
	if place := w.placeOf(e); place != 0 {
		return w.tables[tableOf(place)].part.of
	}
	return Nobody
}

// mask is [Control.Mask].
func (w *World) mask(e Entity) Mask {
	if place := w.placeOf(e); place != 0 {
		return w.tables[tableOf(place)].arch.mask
	}
	return Mask{}
}

// row is [Control.Row].
func (w *World) row(e Entity) (Rows, bool) {
	place := w.placeOf(e)
	if place == 0 {
		return Rows{}, false
	}
	return Rows{w.tables[tableOf(place)], rowOf(place), 1}, true
}

// pointer is [Control.Pointer].
func (w *World) pointer(e Entity, id ID) unsafe.Pointer {
	if place := w.placeOf(e); place != 0 && int(id) < w.types.Len() {
		if debug {
			w.checkEntity(uint16(id)+1, e)
		}
		if p := w.tables[tableOf(place)].cols[int(id)+1]; p != nil {
			return unsafe.Add(p, uintptr(rowOf(place))*w.types.slots[int(id)+1].size)
		}
	}
	return nil
}

// touch records a change of a table's rows. Saves compare the versions of ids,
// which never decrease.
func (w *World) touch(t *table) {
	t.version = w.version
	t.part.changed = w.version
	w.changed = w.version
}

// Spawn creates an entity of a prefab, in [RangeServer], with the prefab's
// defaults. While the world is locked the entity exists at once (Get and Find
// work), and queries see it after the flush. It panics with [UsageError] when
// the prefab is not registered, or only a library may spawn it (see [Managed]).
func (w *World) Spawn(k *Prefab, owner Owner) Entity { return w.spawnIn(RangeServer, k, owner) }

// spawnIn is [Control.SpawnIn].
func (w *World) spawnIn(r Range, k *Prefab, owner Owner) Entity {
	w.checkPrefab(k)
	if k.d.kept != nil {
		w.refuseSpawn(k.d)
	}
	return w.spawnEntity(r, k, owner)
}

func (w *World) spawnEntity(r Range, k *Prefab, owner Owner) Entity {
	if r >= ranges {
		misuse.Panicf("ecs: spawn in %v: use RangeServer, RangePredicted or RangeLocal", r)
	}
	if debug {
		w.checkSpawn(k.d)
	}
	p := w.partOf(owner)
	w.version++
	e := w.allocate(p, r)
	w.beginEntity(e, k.d, p)
	return e
}

func (w *World) checkPrefab(k *Prefab) {
	if !k.Registered() {
		misuse.Panicf("ecs: this prefab is not registered: declare it first (Types.RegisterPrefab, or what calls that for you)")
	}
	if k.d.types != w.types {
		misuse.Panicf("ecs: prefab %q is registered with other Types than this world's", k.d.name)
	}
}

// beginEntity gives a fresh handle its row.
func (w *World) beginEntity(e Entity, k *prefabData, p *part) {
	t := w.tableOfPrefab(p, k)
	if w.locks > 0 {
		w.defer1(command{op: opSpawn, e: e})
		t = w.stageOf(t)
		if t.n == 0 {
			w.staged = append(w.staged, t)
		}
	}
	row := t.pushRow(e)
	t.fillRow(row, k)
	w.placeRecord(e, t, row)
	w.count++
	if !t.staging {
		w.touch(t)
	}
	if t.part != p {
		w.strand(e, p, t.part)
	}
}

// Place creates an entity with a given handle, for example to mirror another
// world. The index must be free, in a page that no other range uses; otherwise
// the error is [ErrOccupied]. Handles from a world of the same types always
// qualify. The generation may be any but 0. It is deferred like Spawn.
func (c *Control) Place(e Entity, k *Prefab, owner Owner) error {
	w := c.world()
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
	if err := w.takeIndex(e, p); err != nil {
		return fmt.Errorf("place %v: %w", e, err)
	}
	w.beginEntity(e, k.d, p)
	return nil
}

// Destroy removes an entity and its children; it returns false when the entity
// is already gone. It is deferred while the world is locked; until then further
// calls for the entity return false. It panics with [UsageError] when only a
// library may destroy the entity (see [Managed]).
func (w *World) Destroy(e Entity) bool {
	place := w.placeOf(e)
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
		return w.doom(e)
	}
	w.destroyEntity(e)
	return true
}

func (w *World) destroyEntity(e Entity) {
	place := w.placeOf(e)
	if place == 0 {
		return
	}
	if w.kids.used {
		w.destroyKids(e)
		if place = w.placeOf(e); place == 0 {
			return
		}
	}
	t := w.tables[tableOf(place)]
	w.version++
	t.dropRow(rowOf(place))
	w.touch(t)
	w.releaseIndex(e, t.part)
	w.count--
	if len(w.strays) >= maxStrays {
		w.returnStrays()
	}
}

// moveRow moves an entity's row to another table and returns the new row. It
// moves the components that both tables have. The caller sets those that only
// the new table has.
func (w *World) moveRow(e Entity, from *table, row int32, to *table) int32 {
	w.version++
	dst := to.pushRow(e)
	for _, d := range to.arch.types {
		if src := from.cols[d.slot]; src != nil {
			d.moveValue(to.valueAt(d, dst), unsafe.Add(src, uintptr(row)*d.size))
		}
	}
	from.dropRow(row)
	w.placeRecord(e, to, dst)
	w.touch(from)
	w.touch(to)
	return dst
}

// Transfer gives the entity to another owner; it is deferred while the world is
// locked. Histories of the old or of the new owner alone (see
// [Control.NewOwnerHistory]) can then no longer restore their earlier saves. Those of
// the whole world can. It returns [ErrStale] when the entity is gone.
func (w *World) Transfer(e Entity, o Owner) error {
	place := w.placeOf(e)
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
	from, to := t.part, w.tableFor(w.partOf(o), t.arch)
	if from != to.part {
		w.moveRow(e, t, rowOf(place), to)
		w.moved(e, from, to.part)
	}
	if to.part.owner != o {
		w.onFull(e, o)
	}
}

// moved records that an entity's row went from one part to another.
func (w *World) moved(e Entity, from, to *part) {
	from.cut, to.cut = w.version, w.version
	pg := &w.pages[e.index()>>pageBits]
	if bit := uint64(1) << (e.index() & (pageLen - 1)); pg.home == to.index {
		pg.away &^= bit
	} else if pg.home >= 0 {
		pg.away |= bit
	}
}
