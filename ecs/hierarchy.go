package ecs

import (
	"fmt"
	"slices"
)

// link is the hidden component of an entity that has a parent. Because it is a
// column, it is saved, restored and rolled back like the rest.
type link struct{ Parent Entity }

// kidIndex finds the children of a parent. It is derived from the link columns,
// updated by commands and rebuilt after a restore.
type kidIndex struct {
	used  bool // used is true once the world has had a parent.
	stale bool
	// of has the children by parent. It is never iterated. A list is sorted when it is read.
	of   map[Entity][]Entity
	free [][]Entity
}

// SetParent makes child a child of parent; with None it removes the parent.
// Destroying a parent destroys its children. It returns [ErrStale] when either
// entity is gone, and [ErrCycle] when parent is child or a descendant of it. It
// is deferred while the world is locked; a cycle that arises only then is
// dropped.
func (w *World) SetParent(child, parent Entity) error {
	if !w.Alive(child) {
		return fmt.Errorf("set parent of %v: %w", child, ErrStale)
	}
	if parent != None && !w.Alive(parent) {
		return fmt.Errorf("set parent of %v to %v: %w", child, parent, ErrStale)
	}
	if w.below(parent, child) {
		return fmt.Errorf("set parent of %v to %v: %w", child, parent, ErrCycle)
	}
	if w.locks > 0 {
		w.defer1(command{op: opParent, e: child, arg: uint64(parent)})
		return nil
	}
	w.setParent(child, parent)
	return nil
}

// below reports whether e is top or a descendant of it.
func (w *World) below(e, top Entity) bool {
	for ; e != None; e = w.Parent(e) {
		if e == top {
			return true
		}
	}
	return false
}

// Parent returns the entity's parent, or None.
func (w *World) Parent(e Entity) Entity {
	if w.blind != 0 {
		w.climbed = true
	}
	if place := w.placeOf(e); place != 0 {
		t := w.tables[tableOf(place)]
		if t.arch.linked {
			if p := (*link)(t.valueAt(w.types.link, rowOf(place))).Parent; w.Alive(p) {
				return p
			}
		}
	}
	return None
}

// Children returns the entity's children, in query order. The slice is valid
// until the next structural change.
func (w *World) Children(e Entity) []Entity {
	w.peek(w.blind != 0)
	if !w.kids.used {
		return nil
	}
	w.refreshKids()
	kids := w.kids.of[e]
	slices.SortFunc(kids, w.compareEntities)
	return kids
}

// compareEntities orders living entities as queries visit them.
func (w *World) compareEntities(a, b Entity) int {
	ra, rb := w.placeOf(a), w.placeOf(b)
	if ta, tb := w.tables[tableOf(ra)], w.tables[tableOf(rb)]; ta != tb {
		if ta.staging != tb.staging {
			if tb.staging {
				return -1
			}
			return 1
		}
		return compareTables(ta, tb)
	}
	return int(rowOf(ra) - rowOf(rb))
}

func (w *World) setParent(child, parent Entity) {
	if parent != None && (!w.Alive(parent) || w.below(parent, child)) {
		return
	}
	w.refreshKids()
	old := w.Parent(child)
	if old == parent {
		return
	}
	if old != None {
		w.dropKid(old, child)
	}
	place := w.placeOf(child)
	if parent == None {
		w.removeComponent(child, place, int(w.types.link.slot))
		return
	}
	w.kids.used = true
	v := w.values[w.types.link.slot].spare(w.types.link)
	(*link)(v).Parent = parent
	w.addComponent(child, place, w.types.link, v)
	w.addKid(parent, child)
}

func (w *World) addKid(parent, child Entity) {
	if w.kids.of == nil {
		w.kids.of = map[Entity][]Entity{}
	}
	kids, ok := w.kids.of[parent]
	if n := len(w.kids.free); !ok && n > 0 {
		kids = w.kids.free[n-1]
		w.kids.free = w.kids.free[:n-1]
	}
	w.kids.of[parent] = append(kids, child)
}

func (w *World) dropKid(parent, child Entity) {
	kids := w.kids.of[parent]
	if i := slices.Index(kids, child); i >= 0 {
		kids[i] = kids[len(kids)-1]
		w.kids.of[parent] = kids[:len(kids)-1]
		if len(kids) == 1 {
			w.forgetKids(parent)
		}
	}
}

func (w *World) forgetKids(parent Entity) {
	if kids, ok := w.kids.of[parent]; ok {
		w.kids.free = append(w.kids.free, kids[:0])
		delete(w.kids.of, parent)
	}
}

// refreshKids rebuilds the index after a restore.
func (w *World) refreshKids() {
	if !w.kids.stale {
		return
	}
	w.kids.stale = false
	w.kids.reset()
	for _, t := range w.ordered {
		if !t.arch.linked {
			continue
		}
		for row, e := range t.ids[:t.n] {
			if p := (*link)(t.valueAt(w.types.link, int32(row))).Parent; w.Alive(p) {
				w.addKid(p, e)
				w.kids.used = true
			}
		}
	}
}

// orphan cuts links to parents that no longer exist: the restore of one part
// removed them, or they were destroyed in another part since the save.
func (w *World) orphan() {
	for _, t := range w.ordered {
		if !t.arch.linked {
			continue
		}
		for row := range t.n {
			if l := (*link)(t.valueAt(w.types.link, row)); l.Parent != None && !w.Alive(l.Parent) {
				l.Parent = None
			}
		}
	}
}

// reset empties the index. The order of its pooled memory does not affect any
// result.
func (k *kidIndex) reset() {
	for p, kids := range k.of {
		k.free = append(k.free, kids[:0])
		delete(k.of, p)
	}
}

func (w *World) destroyKids(e Entity) {
	w.refreshKids()
	if p := w.Parent(e); p != None {
		w.dropKid(p, e)
	}
	if _, ok := w.kids.of[e]; !ok {
		return
	}
	kids := w.Children(e)
	delete(w.kids.of, e) // so that destroying a child does not change the list
	for _, k := range kids {
		w.destroyEntity(k)
	}
	w.kids.free = append(w.kids.free, kids[:0])
}
