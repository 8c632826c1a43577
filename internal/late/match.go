package late

import "unsafe"

// Singleton is the place of a predicted one in the world.
type Singleton struct {
	At   unsafe.Pointer
	Size uintptr
}

// matchState remembers the predicted singletons of each tick that may still run again for a
// player: its client ran the tick with them, so it runs again with them, and not with those of
// the present.
type matchState struct {
	kept  []Singleton
	slots []matchSlot // slots has one for each tick that is kept.
	now   []byte      // now has the present's values while a tick runs again.
}

// matchSlot has the values at the end of a tick, once it holds some.
type matchSlot struct {
	holds bool
	tick  Tick
	bytes []byte
}

// newMatchState makes the memory for the ticks of a window.
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

// slot returns a tick's slot. A tick may be more than an int holds.
func (m *matchState) slot(tick Tick) *matchSlot { return &m.slots[tick%Tick(len(m.slots))] }

// save keeps the values at the end of a tick.
func (m *matchState) save(tick Tick) {
	if len(m.slots) == 0 {
		return
	}
	to := m.slot(tick)
	to.holds, to.tick = true, tick
	m.copyTo(to.bytes)
}

// enter gives the world the values at the end of a tick, and keeps the present's.
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

// leave gives the present's values back: what handlers of late commands do is of the present.
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
