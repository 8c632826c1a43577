package foretick

import "unsafe"

// lateMatch remembers the predicted singletons of each tick that may still run again for a
// player: its client ran the tick with them, so it runs again with them, and not with those of
// the present.
type lateMatch struct {
	kept  []keptSingleton
	slots []lateMatchSlot // by tick
	now   []byte          // the present's, while a tick runs again
}

// keptSingleton is the place of one in a slot.
type keptSingleton struct {
	at   unsafe.Pointer // in the world
	from uintptr
	size uintptr
}

// lateMatchSlot has the values at the end of a tick, once it holds some.
type lateMatchSlot struct {
	holds bool
	tick  Tick
	bytes []byte
}

// newLateMatch makes the memory for the ticks of a window.
func newLateMatch(s *Server, window Tick) (m lateMatch) {
	size := uintptr(0)
	for _, v := range s.p.singletons {
		if v.predicted {
			m.kept = append(m.kept, keptSingleton{s.sim.world.SingletonPointer(v.id), size, v.size})
			size += v.size
		}
	}
	if size == 0 {
		return lateMatch{}
	}
	m.slots, m.now = make([]lateMatchSlot, window+2), make([]byte, size)
	for i := range m.slots {
		m.slots[i].bytes = make([]byte, size)
	}
	return m
}

// slot returns a tick's slot. A tick may be more than an int holds.
func (m *lateMatch) slot(tick Tick) *lateMatchSlot { return &m.slots[tick%Tick(len(m.slots))] }

// save keeps the values at the end of a tick.
func (m *lateMatch) save(tick Tick) {
	if len(m.slots) == 0 {
		return
	}
	to := m.slot(tick)
	to.holds, to.tick = true, tick
	m.copyTo(to.bytes)
}

// enter gives the world the values at the end of a tick, and keeps the present's.
func (m *lateMatch) enter(tick Tick) (entered bool) {
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
func (m *lateMatch) leave() { m.copyFrom(m.now) }

func (m *lateMatch) copyTo(b []byte) {
	for _, k := range m.kept {
		copy(b[k.from:k.from+k.size], unsafe.Slice((*byte)(k.at), k.size))
	}
}

func (m *lateMatch) copyFrom(b []byte) {
	for _, k := range m.kept {
		copy(unsafe.Slice((*byte)(k.at), k.size), b[k.from:k.from+k.size])
	}
}
