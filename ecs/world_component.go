package ecs

import (
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

// AddByID adds a component to the entity, or sets it if present, from the
// Info(id).Size bytes at src. It is [Component.Add] for callers without the
// type. It copies src before it returns. A nil src is the zero value.
func (c *Control) AddByID(e Entity, id ID, src unsafe.Pointer) {
	w := c.world()
	d := w.typeOf(id)
	if src == nil {
		src = d.zero
	}
	if debug {
		w.checkAdd(d.slot, e)
	}
	if p := w.pointer(e, id); p != nil && !w.pending(e) {
		d.moveValue(p, src)
		return
	}
	w.addSlot(e, int(d.slot), src)
}

// RemoveByID removes a component from the entity, like [Component.Remove].
func (c *Control) RemoveByID(e Entity, id ID) {
	w := c.world()
	w.removeSlot(e, int(w.typeOf(id).slot))
}

func (w *World) typeOf(id ID) *typeData {
	if int(id) >= w.types.Len() {
		misuse.Panicf("ecs: component %d of %d", id, w.types.Len())
	}
	return w.types.slots[int(id)+1]
}

func (w *World) addSlot(e Entity, slot int, src unsafe.Pointer) {
	place := w.placeOf(e)
	if place == 0 {
		return
	}
	d := w.types.slots[slot]
	if w.locks > 0 {
		w.defer1(command{op: opAdd, e: e, slot: uint16(slot), arg: uint64(w.values[slot].pushValue(d, src))})
		return
	}
	w.addComponent(e, place, d, src)
}

func (w *World) addComponent(e Entity, place uint64, d *typeData, src unsafe.Pointer) {
	t := w.tables[tableOf(place)]
	if p := t.cols[d.slot]; p != nil {
		d.moveValue(t.valueAt(d, rowOf(place)), src)
		return
	}
	to := w.tableFor(t.part, w.with(t.arch, int(d.slot)))
	row := w.moveRow(e, t, rowOf(place), to)
	d.moveValue(to.valueAt(d, row), src)
	if to.part != t.part {
		w.strand(e, t.part, to.part)
	}
}

func (w *World) removeSlot(e Entity, slot int) {
	place := w.placeOf(e)
	if place == 0 {
		return
	}
	if w.locks > 0 {
		w.removals++
		w.defer1(command{op: opRemove, e: e, slot: uint16(slot)})
		return
	}
	w.removeComponent(e, place, slot)
}

func (w *World) removeComponent(e Entity, place uint64, slot int) {
	t := w.tables[tableOf(place)]
	if t.cols[slot] == nil {
		return
	}
	to := w.tableFor(t.part, w.without(t.arch, slot))
	w.moveRow(e, t, rowOf(place), to)
	if to.part != t.part {
		w.strand(e, t.part, to.part)
	}
}
