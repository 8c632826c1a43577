package ecs

import (
	"unsafe"

	"github.com/foretick/foretick/internal/misuse"
)

type op uint8

const (
	opSpawn op = iota
	opDestroy
	opAdd
	opRemove
	opTransfer
	opParent
)

// command is a structural change that waits for the flush.
type command struct {
	op   op
	slot uint16
	e    Entity
	// arg is, for opAdd, the index of the pending value; for opTransfer, the owner; for opParent, the parent.
	arg uint64
}

// pendingValues holds values of one component that wait for the flush.
type pendingValues struct {
	base   unsafe.Pointer
	n, cap int
}

// spare returns room for one more value, which pushValue then keeps.
func (p *pendingValues) spare(d *typeData) unsafe.Pointer {
	if p.n == p.cap {
		c := max(16, 2*p.cap)
		base := d.ops.alloc(c)
		if p.n > 0 {
			d.moveN(base, p.base, p.n)
		}
		p.base, p.cap = base, c
	}
	return p.at(d, p.n)
}

func (p *pendingValues) pushValue(d *typeData, src unsafe.Pointer) int {
	if to := p.spare(d); to != src {
		d.moveValue(to, src)
	}
	p.n++
	return p.n - 1
}

func (p *pendingValues) at(d *typeData, i int) unsafe.Pointer {
	return unsafe.Add(p.base, uintptr(i)*d.size)
}

func (w *World) defer1(c command) {
	if w.parallel {
		misuse.Panicf("ecs: a structural command inside parallel systems: declare ecs.Create or ecs.Structural on the system that gives it")
	}
	if debug {
		w.checkStructural(c.op)
	}
	w.commands = append(w.commands, c)
}

// doom queues the destruction of an entity. It returns false if that is queued already.
func (w *World) doom(e Entity) bool {
	i, bit := int(e.index()>>6), uint64(1)<<(e.index()&63)
	if i < len(w.doomed) && w.doomed[i]&bit != 0 {
		return false
	}
	w.defer1(command{op: opDestroy, e: e})
	for len(w.doomed) <= i {
		w.doomed = append(w.doomed, 0)
	}
	w.doomed[i] |= bit
	return true
}

// pending reports whether a component removal of the entity is queued, so that
// a later Add must be queued too.
func (w *World) pending(e Entity) bool {
	if w.removals == 0 {
		return false
	}
	for i := range w.commands {
		if c := &w.commands[i]; c.op == opRemove && c.e == e {
			return true
		}
	}
	return false
}

// lock is [Control.Lock].
func (w *World) lock() { w.locks++ }

// unlock is [Control.Unlock].
func (w *World) unlock() {
	if w.locks == 0 {
		misuse.Panicf("ecs: Unlock of a world that is not locked")
	}
	w.locks--
	if w.locks == 0 && len(w.commands) > 0 {
		w.flushCommands()
	}
}

// Recover makes the world usable after the caller has recovered a panic of a
// system: it undoes every lock and runs the commands queued so far.
func (c *Control) Recover() {
	w := c.world()
	w.locks, w.parallel, w.guard.on, w.guard.system, w.running = 1, false, false, "", 0
	w.unlock()
}

// Deferred returns the number of structural commands that wait for the end of the system, or
// for [Control.Unlock].
func (c *Control) Deferred() int { return len(c.commands) }

// DeferredChange returns the entity and the component of the i-th command that waits, counted
// from 0. ok is false if it neither adds nor removes a component.
func (c *Control) DeferredChange(i int) (e Entity, id ID, ok bool) {
	waits := &c.commands[i]
	if waits.op != opAdd && waits.op != opRemove {
		return None, 0, false
	}
	return waits.e, c.types.slots[waits.slot].id, true
}

// Locked reports whether structural commands are being deferred.
func (c *Control) Locked() bool { return c.locks > 0 }

func (w *World) flushCommands() {
	for i := range w.commands {
		if c := w.commands[i]; c.op == opDestroy {
			w.doomed[c.e.index()>>6] &^= 1 << (c.e.index() & 63)
		}
		w.applyCommand(w.commands[i])
	}
	for _, t := range w.staged {
		for _, d := range t.arch.rigid {
			d.ops.clear(t.cols[d.slot], int(t.n))
		}
		t.n, w.emptied = 0, true
	}
	w.staged = w.staged[:0]
	for i := range w.values {
		if v := &w.values[i]; v.n > 0 {
			if d := w.types.slots[i]; !d.plain {
				d.ops.clear(v.base, v.n)
			}
			v.n = 0
		}
	}
	w.commands = w.commands[:0]
	w.removals = 0
}

func (w *World) applyCommand(c command) {
	place := w.placeOf(c.e)
	if place == 0 {
		return // destroyed by an earlier command
	}
	switch c.op {
	case opSpawn:
		w.moveFromStaging(c.e, place)
	case opDestroy:
		w.destroyEntity(c.e)
	case opAdd:
		d := w.types.slots[c.slot]
		w.addComponent(c.e, place, d, w.values[c.slot].at(d, int(c.arg)))
	case opRemove:
		w.removeComponent(c.e, place, int(c.slot))
	case opTransfer:
		w.transfer(c.e, place, Owner(c.arg))
	case opParent:
		w.setParent(c.e, Entity(c.arg))
	}
}

// moveFromStaging moves a row from staging to its table. Staging rows keep their place
// until the end of the flush.
func (w *World) moveFromStaging(e Entity, place uint64) {
	from := w.tables[tableOf(place)]
	to := w.tableFor(from.part, from.arch)
	w.version++
	row := to.pushRow(e)
	for _, d := range to.arch.types {
		d.moveValue(to.valueAt(d, row), from.valueAt(d, rowOf(place)))
	}
	w.placeRecord(e, to, row)
	w.touch(to)
	if to.part != from.part {
		w.strand(e, from.part, to.part)
	}
}
