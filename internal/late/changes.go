package late

import "github.com/foretick/foretick/ecs"

// Change is a value from outside the world, as it was before a tick changed it: the visibility of an
// entity, or its group. It is restored before the tick runs again.
type Change struct {
	Kind   uint8
	Player ecs.Owner
	Entity ecs.Entity
	Net    uint32 // its network id
	Was    uint64
	Eye    [3]float32

	tick Tick
}

// NoteChange records a value before it changes, so that it can be restored.
func (r *Room) NoteChange(c Change) {
	switch w := &r.world; {
	case !r.Whole || w.undoing || r.test.running:
	case !w.runs(): // this change would not be made again
		r.BlockWorld()
	default:
		c.tick = *r.Tick
		w.changes = append(w.changes, c)
	}
}

// undoChanges undoes the changes of tick from and of all later ticks, the newest first.
func (r *Room) undoChanges(from Tick) {
	w := &r.world
	w.undoing = true
	defer func() { w.undoing = false }()
	for n := len(w.changes); n > 0 && int32(w.changes[n-1].tick-from) >= 0; n-- {
		c := w.changes[n-1]
		w.changes = w.changes[:n-1]
		r.host.Undo(&c)
	}
}
