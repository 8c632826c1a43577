package rollback

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// outside finds what code outside of systems writes into the world. Between two Steps nothing may change it, so it
// is compared with the save of its tick.
type outside struct {
	sim     *simulation
	types   []ecs.TypeInfo
	singles []watchedSingle
	check   ecs.TypeInfo // check is the component that is compared.
	found   func(r ecs.Rows, i int, was unsafe.Pointer)
	writes  []write // writes are the newest ones, oldest first.
}

// watchedSingle is a singleton, with its bytes at the end of the newest tick.
type watchedSingle struct {
	info ecs.TypeInfo
	was  []byte
}

// write is a value that code outside of systems wrote.
type write struct {
	entity      ecs.Entity
	prefab      uint16 // prefab is that of settled.Finding.
	field       string // field is a path such as "position.X".
	first, last foretick.Tick
	was, is     string
}

// mostWrites is how many fields are kept that were written outside of systems.
const mostWrites = 32

func newOutside(m *simulation) outside {
	o := outside{sim: m}
	for id := range m.p.Types.Len() {
		o.types = append(o.types, m.p.Types.Info(ecs.ID(id)))
	}
	for _, info := range m.p.Types.Singletons() {
		if flat(&info) {
			o.singles = append(o.singles, watchedSingle{info, make([]byte, info.Size)})
		}
	}
	return o
}

// flat reports whether the values of a type have no pointers.
func flat(info *ecs.TypeInfo) bool {
	for _, f := range info.Fields {
		if k := f.Type.Kind(); k > reflect.Complex128 {
			return false
		}
	}
	return true
}

func (s *watchedSingle) bytes(w *ecs.World) []byte {
	return unsafe.Slice((*byte)(ecs.Engine(w).SingletonPointer(s.info.ID)), s.info.Size)
}

// keep notes the singletons at the end of a Step.
func (o *outside) keep() {
	for i := range o.singles {
		copy(o.singles[i].was, o.singles[i].bytes(o.sim.world))
	}
}

// look compares the world with what it was at the end of the Step before.
func (o *outside) look() {
	if o.found == nil {
		o.found = o.note
	}
	slot := o.sim.slotOf(o.sim.newest)
	if !o.sim.history.Holds(slot) {
		return // there is no world yet
	}
	for i := range o.types {
		o.check = o.types[i]
		o.sim.history.Diff(slot, o.check.ID, o.found)
	}
	for i := range o.singles {
		s := &o.singles[i]
		if now := s.bytes(o.sim.world); string(now) != string(s.was) {
			o.check = s.info
			o.noteFields(ecs.None, unsafe.Pointer(&now[0]), unsafe.Pointer(&s.was[0]))
		}
	}
}

// note takes a row of a component that differs from the save.
func (o *outside) note(r ecs.Rows, i int, was unsafe.Pointer) {
	now := unsafe.Add(r.Column(o.check.ID), uintptr(i)*o.check.Size)
	o.noteFields(r.Entity(i), now, was)
}

func (o *outside) noteFields(e ecs.Entity, now, was unsafe.Pointer) {
	if was == nil {
		o.add(write{entity: e, field: o.check.Name, was: missing, is: "there"})
		return
	}
	for k := range o.check.Fields {
		f := &o.check.Fields[k]
		if a, b := unsafe.Add(now, f.Offset), unsafe.Add(was, f.Offset); bitsAt(f, a) != bitsAt(f, b) {
			o.add(write{entity: e, field: f.Path, was: textAt(f, b), is: textAt(f, a)})
		}
	}
}

// add notes a write after the newest tick.
func (o *outside) add(w write) {
	w.first, w.last, w.prefab = o.sim.newest, o.sim.newest, prefabOf(o.sim.p, o.sim.world, w.entity)
	for i := range o.writes {
		if old := &o.writes[i]; old.entity == w.entity && old.field == w.field && int32(w.first-old.last) <= int32(o.sim.p.TickRate) {
			old.last, old.is = w.last, w.is
			return
		}
	}
	if len(o.writes) == mostWrites {
		o.writes = append(o.writes[:0], o.writes[1:]...)
	}
	o.writes = append(o.writes, w)
}

// since returns the first write after a tick and up to another. Its field is empty if there is none.
func (o *outside) since(after, until foretick.Tick) write {
	for _, w := range o.writes {
		if int32(w.last-after) >= 0 && int32(until-w.first) > 0 {
			return w
		}
	}
	return write{}
}
