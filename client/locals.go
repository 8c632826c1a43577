package client

import (
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

func newLocalEntities(b *base) localEntities {
	co := localEntities{base: b}
	if b.p.Spawning {
		co.query = ecs.NewQuery(b.p.Types, ecs.With(&b.p.Identity))
		co.kept = ecs.Engine(b.world).NewOwnerHistory(ecs.ClientOnly, 1)
	}
	return co
}

// localEntities has the entities that the client simulates for itself and that no rollback changes.
// Their prefabs have the policy ClientOnly, and their partition is ecs.ClientOnly.
type localEntities struct {
	*base
	query       *ecs.Query
	kept        *ecs.History // one slot: the newest tick, while a frame is drawn into the world
	now, before record
	lived       foretick.Tick // the tick after the newest one that ran
}

// ranBefore reports whether a tick runs another time. Entities and components that no rollback changes
// skip such a run.
func (co *localEntities) ranBefore(t foretick.Tick) bool {
	return co.frame.Replay || co.practice || int32(t-co.lived) < 0
}

// keepLocalEntities rounds the values, as the server does with its copies, and keeps them for frames
// between two ticks.
func (co *localEntities) keepLocalEntities(rc *recorder) {
	co.now, co.before = co.before, co.now
	co.now.clearRecord()
	for _, rows := range co.query.Owned(co.world, ecs.ClientOnly) {
		for _, e := range rows.Entities() {
			rc.keepEntity(&co.now, e)
		}
	}
	co.kept.Save(0)
}

// undrawLocalEntities replaces the drawn values with the simulated ones.
func (co *localEntities) undrawLocalEntities() {
	if co.p.ClientOnly && co.kept.Holds(0) {
		co.kept.Restore(0)
	}
}

func (co *localEntities) localEntityCount() int {
	n := 0
	if co.p.ClientOnly {
		for _, rows := range co.query.Owned(co.world, ecs.ClientOnly) {
			n += rows.Len()
		}
	}
	return n
}

// locals keeps the values that only this client has of predicted entities: their components declared
// with Protocol.LocalComponent. Every frame and every correction loads a save. These components keep
// their values when it does, even on an entity that a replay or the server brings back.
type locals struct {
	*base
	stashed bool // values were kept since the world was last put back
	kept    []ecs.Entity
	// data has, for each of kept, the components' values, and a byte for each that says whether the
	// entity has it.
	data  []byte
	zeros []byte
	next  int // indexOf begins its search here
}

func (l *locals) indexOf(e ecs.Entity) int {
	if l.next >= len(l.kept) {
		l.next = 0
	}
	for i := range l.kept {
		k := l.next + i
		if k >= len(l.kept) {
			k -= len(l.kept)
		}
		if l.kept[k] == e {
			l.next = k + 1
			return k
		}
	}
	return -1
}

// forgetLocal drops an entity whose handle will be used for another.
func (l *locals) forgetLocal(e ecs.Entity) {
	stride := l.p.LocalStride()
	if i := l.indexOf(e); i >= 0 {
		n := len(l.kept) - 1
		copy(l.data[i*stride:(i+1)*stride], l.data[n*stride:])
		l.kept[i] = l.kept[n]
		l.kept, l.data = l.kept[:n], l.data[:n*stride]
	}
}

func (l *locals) clearLocals() { l.kept, l.data, l.stashed = l.kept[:0], l.data[:0], false }

// stashDue reports whether stash has to be called before a save is loaded.
func (l *locals) stashDue() bool { return len(l.p.Locals) > 0 && !l.stashed }

// stash keeps the components of entities, before the first save is loaded.
func (l *locals) stash(entities []ecs.Entity) {
	l.stashed = true
	stride := l.p.LocalStride()
	for _, e := range entities {
		if !l.world.Alive(e) {
			continue
		}
		i := l.indexOf(e)
		if i < 0 {
			i = len(l.kept)
			l.kept = append(l.kept, e)
			for len(l.zeros) < stride {
				l.zeros = append(l.zeros, 0)
			}
			l.data = append(l.data, l.zeros[:stride]...)
		}
		row := l.data[i*stride:][:stride]
		for k, t := range l.p.Locals {
			at := ecs.Engine(l.world).Pointer(e, t.ID)
			if row[k] = 0; at != nil {
				row[k] = 1
				copy(row[t.At:], unsafe.Slice((*byte)(at), t.Size))
			}
		}
	}
}

// putBack restores the components of the entities that are alive, once all saves are loaded and all
// ticks have run again. It reports whether an entity got or lost one.
func (l *locals) putBack(entities []ecs.Entity) (moved bool) {
	l.stashed = false
	stride := l.p.LocalStride()
	for _, e := range entities {
		i := -1
		if l.world.Alive(e) {
			i = l.indexOf(e)
		}
		if i < 0 {
			continue
		}
		row := l.data[i*stride:][:stride]
		for k, t := range l.p.Locals {
			at, there := ecs.Engine(l.world).Pointer(e, t.ID), row[k] != 0
			switch {
			case there && at != nil:
				copy(unsafe.Slice((*byte)(at), t.Size), row[t.At:])
			case there:
				ecs.Engine(l.world).AddByID(e, t.ID, unsafe.Pointer(unsafe.SliceData(row[t.At:])))
				moved = true
			case at != nil:
				ecs.Engine(l.world).RemoveByID(e, t.ID)
				moved = true
			}
		}
	}
	return moved
}
