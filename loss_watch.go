package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// lossWatch is what a debug build keeps to name systems.
type lossWatch struct {
	queries []*ecs.Query // queries has one for each component.
	// wrote has, by component and field, the system that left it outside of its range.
	wrote   map[[2]int]string
	before  map[[2]int]bool  // before is what was outside ahead of the system that runs.
	systems []ecs.SystemInfo // systems are all of them: the schedule makes a new list for each call.
}

// beginTick forgets the systems that left values outside in the tick before: predicted values
// were rounded back into their range since.
func (l *losses) beginTick() {
	for k := range l.wrote {
		if l.p.Components[k[0]].Predicted {
			delete(l.wrote, k)
		}
	}
}

// beforeSystem saves the values to compare after a system.
func (l *losses) beforeSystem(f *Frame, system int) {
	f.run.name = l.systems[system].Name
	clear(l.before)
	l.visit(f.World, system, func(k [2]int) { l.before[k] = true })
	if !l.checkDue(f.Tick) {
		return
	}
	for k, was := range l.last {
		if at := f.World.Pointer(k.e, l.p.Components[k.comp].ID); at != nil {
			was.value = l.p.Components[k.comp].Schema.Raw(k.field, at)
			l.last[k] = was
		}
	}
}

// afterSystem notes what a system changed, and what it left outside of its range.
func (l *losses) afterSystem(f *Frame, system int) {
	name := f.run.name
	f.run.name = ""
	l.visit(f.World, system, func(k [2]int) {
		if !l.before[k] {
			l.wrote[k] = name
		}
	})
	if !l.checkDue(f.Tick) {
		return
	}
	for k, was := range l.last {
		if at := f.World.Pointer(k.e, l.p.Components[k.comp].ID); at != nil && l.p.Components[k.comp].Schema.Raw(k.field, at) != was.value {
			was.system = name
			l.last[k] = was
		}
	}
}

// visit calls found for each field that a system may write and that some entity has
// outside of its range.
func (l *losses) visit(w *ecs.World, system int, found func([2]int)) {
	sys := &l.systems[system]
	for _, ids := range [][]ecs.ID{sys.Writes, sys.OtherWrites} {
		for _, id := range ids {
			i := l.p.Index(id)
			if i < 0 {
				continue
			}
			c := &l.p.Components[i]
			for _, rows := range l.queries[i].All(w) {
				for k := range rows.Len() {
					l.visitValue(i, unsafe.Add(rows.Column(c.ID), uintptr(k)*c.Size), found)
				}
			}
		}
	}
	for i := range l.p.Components {
		if single := l.p.Components[i].Singleton; single >= 0 && slices.Contains(sys.SingleWrites, ecs.ID(single)) {
			l.visitValue(i, w.SingletonPointer(ecs.ID(single)), found)
		}
	}
}

// visitValue calls found for each field of a component's value that is outside of its range.
func (l *losses) visitValue(comp int, at unsafe.Pointer, found func([2]int)) {
	s := l.p.Components[comp].Schema
	for f := s.Outside(at, 0); f >= 0; f = s.Outside(at, f+1) {
		found([2]int{comp, f})
	}
}
