package input

import "github.com/foretick/foretick/internal/misuse"

// Source is one device, or one part of the program, that feeds a [Map]. The Map's own
// methods of the same names are a source too. Use further ones where two devices have
// the same keys, such as two gamepads: letting go of a key on one does not release
// it on the other. The strongest source counts; movements add up.
type Source struct {
	m  *Map
	id int
}

// NewSource returns a further source. Keep it for as long as the Map: a source cannot be
// removed.
func (m *Map) NewSource() *Source {
	s := &Source{m, m.sources}
	m.sources++
	for _, k := range m.keys {
		k.fed, k.seen = append(k.fed, 0), append(k.seen, false)
	}
	for _, a := range m.actions {
		a.emitted, a.waits = append(a.emitted, 0), append(a.waits, false)
	}
	return s
}

// Key sets whether a key or button is down. Repeating the same state changes nothing, so an
// adapter may pass on events, or every key's state each frame.
func (s *Source) Key(name string, down bool) {
	v := float32(0)
	if down {
		v = 1
	}
	s.Axis(name, v)
}

// Axis sets the position of a stick or trigger, from -1 to 1. A key may be fed as an axis
// too. A value out of range is clamped, and NaN is 0.
func (s *Source) Axis(name string, value float32) {
	k := s.m.key(name)
	value = clamp(value, 1)
	k.noteRest(s.id, value)
	if k.fed[s.id] == value {
		return
	}
	k.fed[s.id] = value
	if value != 0 {
		s.m.last = k.device
	}
	s.m.keyChanged(k)
	s.m.refresh()
	s.m.endScan()
}

// Move reports a movement of a mouse or wheel: name is its relative key, such as
// "mouse_dx", and by the distance in any unit, for example pixels or wheel notches. The
// bindings scale it. Movements within a frame add up.
func (s *Source) Move(name string, by float32) {
	m := s.m
	if by = clamp(by, farthest); by == 0 {
		return
	}
	k := m.key(name)
	m.last = k.device
	for _, in := range m.sets {
		for _, e := range in.entries {
			if !in.active || e.action.Kind != Relative {
				continue
			}
			for _, b := range e.bounds {
				if b.keys[len(b.keys)-1] == k && b.modifiersHeld() && !b.waits {
					e.action.addMovement(by * b.scale())
				}
			}
		}
	}
	pulse := float32(1)
	if by < 0 {
		pulse = -1
	}
	if k.pulse == pulse {
		return
	}
	if k.pulse == 0 {
		m.moving = append(m.moving, k)
	}
	k.pulse = pulse
	m.keyChanged(k)
	m.refresh()
}

// Emit drives an action itself: an on-screen button, auto-fire, a bot. A digital action is
// pressed from 0.5 on and released at 0; an analogue one has the value until the next Emit;
// a relative one moves by it. Emit does nothing while no active set lists the action. A
// value that is emitted before such a set is enabled has no effect until a 0 and a new
// value are emitted. It panics if there is no action of that name, or if the action has parts:
// emit these.
func (s *Source) Emit(action string, value float32) {
	a := s.m.action(action)
	if a.isWhole() {
		misuse.Panicf("input: Emit of %q, which has parts: emit these, such as %q", action, a.whole.parts[0].Name)
	}
	if a.Kind == Relative {
		if a.live {
			a.addMovement(clamp(value, farthest))
		}
		return
	}
	if value = clamp(value, 1); a.Kind == Digital {
		value = max(value, 0)
	}
	if a.emitted[s.id] == value {
		return
	}
	a.emitted[s.id] = value
	a.waits[s.id] = value != 0 && (a.waits[s.id] || !a.live)
	s.m.refresh()
}

// ReleaseAll releases all keys that this source holds, and ends all that it emits. Call it when a
// gamepad was unplugged, for example.
func (s *Source) ReleaseAll() { s.m.releaseSources(s.id, s.id+1) }

// Key sets whether a key or button is down: see [Source.Key].
func (m *Map) Key(name string, down bool) { m.own.Key(name, down) }

// Axis sets the position of a stick or trigger, from -1 to 1: see [Source.Axis].
func (m *Map) Axis(name string, value float32) { m.own.Axis(name, value) }

// Move says by how much a mouse or wheel moved: see [Source.Move].
func (m *Map) Move(name string, by float32) { m.own.Move(name, by) }

// Emit drives an action itself: see [Source.Emit].
func (m *Map) Emit(action string, value float32) { m.own.Emit(action, value) }

// ReleaseAll releases all keys that any source holds, and ends all that any source emits.
// Call it when the window loses the focus, because devices then no longer report that a key
// is released. Bindings for JustReleased do not act.
func (m *Map) ReleaseAll() { m.releaseSources(0, m.sources) }

// releaseSources clears the sources from number first to before end.
func (m *Map) releaseSources(first, end int) {
	for _, k := range m.keys {
		clear(k.fed[first:end])
	}
	waiting := m.scan // nobody let go of what is released here, so a scan does not end with it
	m.scan = nil
	for _, k := range m.keys {
		m.keyChanged(k)
	}
	if m.scan = waiting; waiting != nil {
		waiting.forgetReleased()
	}
	for _, a := range m.actions {
		clear(a.emitted[first:end])
		clear(a.waits[first:end])
	}
	for _, s := range m.sets {
		for _, e := range s.entries {
			for _, b := range e.bounds {
				b.acts = b.acts && b.When != JustReleased
			}
		}
	}
	m.refresh()
	m.endScan()
}

// keyChanged updates a key and the keys that follow it.
func (m *Map) keyChanged(k *key) {
	m.update(k)
	for _, follower := range k.to {
		m.update(follower)
	}
}

func (m *Map) update(k *key) {
	was := k.on
	k.update()
	if m.scan != nil && was != k.on {
		m.scan.noteKey(k)
	}
}
