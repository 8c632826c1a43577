package late

import "unsafe"

// Singleton is the memory of a predicted singleton in the world.
type Singleton struct {
	At   unsafe.Pointer
	Size uintptr
}

// matchState remembers the predicted singletons at the end of each tick that may run again for a
// player. The player's client ran the tick with them, so the server runs it again with them, not with
// the present values.
type matchState struct {
	kept  []Singleton
	slots []matchSlot // slots has one for each tick that is kept.
	now   []byte      // now has the present values while a tick runs again.
}

// matchSlot has the values at the end of a tick, if holds is true.
type matchSlot struct {
	holds bool
	tick  Tick
	bytes []byte
}

// newMatchState allocates the memory for the ticks of a window.
func newMatchState(kept []Singleton, window Tick) matchState {
	size := uintptr(0)
	for _, k := range kept {
		size += k.Size
	}
	if size == 0 {
		return matchState{}
	}
	m := matchState{kept, make([]matchSlot, window+2), make([]byte, size)}
	for i := range m.slots {
		m.slots[i].bytes = make([]byte, size)
	}
	return m
}

// slot returns a tick's slot. The index is computed as a Tick, because a tick may exceed an int.
func (m *matchState) slot(tick Tick) *matchSlot { return &m.slots[tick%Tick(len(m.slots))] }

// save stores the values at the end of a tick.
func (m *matchState) save(tick Tick) {
	if len(m.slots) == 0 {
		return
	}
	to := m.slot(tick)
	to.holds, to.tick = true, tick
	m.copyTo(to.bytes)
}

// enter sets the singletons to their values at the end of a tick, and stores the present values in now.
// It reports whether the tick's values were stored.
func (m *matchState) enter(tick Tick) (entered bool) {
	if len(m.slots) == 0 {
		return false
	}
	was := m.slot(tick)
	if !was.holds || was.tick != tick {
		return false
	}
	m.copyTo(m.now)
	m.copyFrom(was.bytes)
	return true
}

// leave restores the present values. Call it before the handlers of late commands run, because they act
// on the present.
func (m *matchState) leave() { m.copyFrom(m.now) }

func (m *matchState) copyTo(b []byte) {
	for _, k := range m.kept {
		b = b[copy(b, unsafe.Slice((*byte)(k.At), k.Size)):]
	}
}

func (m *matchState) copyFrom(b []byte) {
	for _, k := range m.kept {
		b = b[copy(unsafe.Slice((*byte)(k.At), k.Size), b):]
	}
}
