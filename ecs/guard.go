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
	if slot == 0 || !w.guard.on || Mask(w.guard.allowed).Has(ID(slot-1)) || w.types.slots[slot].open {
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

// Guard switches, for what follows within the running system, the check that it
// touches only what it declared, and tells whether it was on: for a callback that
// a system's body calls on somebody else's behalf. Switch it back afterwards. It
// does nothing in builds without the foretick_debug tag, and between systems.
func (w *World) Guard(on bool) (was bool) {
	if !debug {
		return false
	}
	was = w.guard.on
	w.guard.on = on && w.guard.system != ""
	return was
}
