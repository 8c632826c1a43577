package ecs

// guard is what the running system declared, for builds with the
// foretick_debug tag.
type guard struct {
	on      bool
	system  string
	allowed [4]uint64 // by slot − 1
	singles [4]uint64
}

// check panics when a running system touches a component that it did not
// declare. Builds without the foretick_debug tag never call it.
func (w *World) check(slot uint16) {
	if slot == 0 || !w.guard.on || Mask(w.guard.allowed).Has(ID(slot-1)) {
		return
	}
	misuse("system %q touches %s without declaring it: name it in Read, Write, ReadOther or WriteOther",
		w.guard.system, w.types.slots[slot].name)
}

func (w *World) checkSingle(slot uint16) {
	if slot == 0 || !w.guard.on || Mask(w.guard.singles).Has(ID(slot-1)) {
		return
	}
	misuse("system %q touches singleton %s without declaring it: name it in Read or Write",
		w.guard.system, w.types.singles[slot-1].name)
}

func (w *World) guardFor(name string, sets, singles *accessSets) {
	w.guard = guard{on: true, system: name,
		allowed: [4]uint64(sets.touched().Or(sets.creates)),
		singles: [4]uint64(singles.touched())}
}
