package game

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// lossWatch has the data with which a debug build names systems in losses.
type lossWatch struct {
	queries []*ecs.Query // queries has one query for each component.
	// wrote has, by component and field, the system that left it outside of its range.
	wrote  map[[2]int]string
	Before map[[2]int]bool // Before has the fields that were outside their range before the running system.
	// systems are all systems. They are kept because the schedule makes a new list for each call.
	systems []ecs.SystemInfo
}

// BeginTick forgets which systems left predicted values out of range in the tick before: they were
// rounded back into their range since.
func (l *Losses) BeginTick() {
	for k := range l.wrote {
		if l.Facts.Components[k[0]].Predicted {
			delete(l.wrote, k)
		}
	}
}

// BeforeSystem saves the values to compare after a system.
func (l *Losses) BeforeSystem(run *SystemRun, system int) {
	run.Name = l.systems[system].Name
	clear(l.Before)
	l.visit(system, func(k [2]int) { l.Before[k] = true })
	if !l.CheckDue(*l.tick) {
		return
	}
	for k, was := range l.last {
		if at := ecs.Engine(l.world).Pointer(k.e, l.Facts.Components[k.comp].ID); at != nil {
			was.value = l.Facts.Components[k.comp].Schema.Raw(k.field, at)
			l.last[k] = was
		}
	}
}

// AfterSystem records which values a system changed, and which it left outside their range.
func (l *Losses) AfterSystem(run *SystemRun, system int) {
	name := run.Name
	run.Name = ""
	l.visit(system, func(k [2]int) {
		if !l.Before[k] {
			l.wrote[k] = name
		}
	})
	if !l.CheckDue(*l.tick) {
		return
	}
	for k, was := range l.last {
		if at := ecs.Engine(l.world).Pointer(k.e, l.Facts.Components[k.comp].ID); at != nil && l.Facts.Components[k.comp].Schema.Raw(k.field, at) != was.value {
			was.system = name
			l.last[k] = was
		}
	}
}

// visit calls found for each field that a system may write and that is outside its range in some
// entity.
func (l *Losses) visit(system int, found func([2]int)) {
	sys := &l.systems[system]
	for _, ids := range [][]ecs.ID{sys.Writes, sys.OtherWrites} {
		for _, id := range ids {
			i := l.Facts.Index(id)
			if i < 0 {
				continue
			}
			c := &l.Facts.Components[i]
			for _, rows := range l.queries[i].All(l.world) {
				for k := range rows.Len() {
					l.visitValue(i, unsafe.Add(rows.Column(c.ID), uintptr(k)*c.Size), found)
				}
			}
		}
	}
	for i := range l.Facts.Components {
		if single := l.Facts.Components[i].Singleton; single >= 0 && slices.Contains(sys.SingleWrites, ecs.ID(single)) {
			l.visitValue(i, ecs.Engine(l.world).SingletonPointer(ecs.ID(single)), found)
		}
	}
}

// visitValue calls found for each field of a component's value that is outside its range.
func (l *Losses) visitValue(comp int, at unsafe.Pointer, found func([2]int)) {
	s := l.Facts.Components[comp].Schema
	for f := s.Outside(at, 0); f >= 0; f = s.Outside(at, f+1) {
		found([2]int{comp, f})
	}
}
