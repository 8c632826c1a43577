package input

import (
	"slices"
	"strings"
)

// scan waits for the keys of a binding.
type scan struct {
	done func(key string)
	keys []*key // keys pressed since the scan began
	end  bool   // one of keys was released
}

// Scan waits for the player to press the keys of a binding, and calls done with their name once one of
// them is released: "f", "ctrl+r", "gamepad_lstick_up". Keys held when Scan is called do not count, nor
// do the mouse's movements, and what [Map.ReleaseAll] releases. Until then all actions are released and no key does anything else. done may
// call [Map.Bind], and decides itself what "escape" means. A second Scan replaces the first.
func (m *Map) Scan(done func(key string)) {
	m.scan = &scan{done: done}
	m.activate()
}

// CancelScan ends a scan without calling its function.
func (m *Map) CancelScan() {
	m.scan = nil
	m.activate()
}

// Scanning reports whether a scan waits for keys.
func (m *Map) Scanning() bool { return m.scan != nil }

// noteKey records a key that was pressed or released.
func (s *scan) noteKey(k *key) {
	switch {
	case k.rests():
	case k.class == axis || k.class == relativeKey || strings.HasSuffix(k.name, "_motion") || strings.Contains(k.name, "+"):
	case !k.on:
		s.end = s.end || slices.Contains(s.keys, k)
	case slices.ContainsFunc(s.keys, k.opposes): // an axis that goes back crosses its other side
	case len(s.keys) < 2*maxHeld && !slices.Contains(s.keys, k):
		s.keys = append(s.keys, k)
	}
}

// forgetReleased drops the keys that are no longer down, as if they had not been pressed.
func (s *scan) forgetReleased() {
	s.keys, s.end = slices.DeleteFunc(s.keys, func(k *key) bool { return !k.on }), false
}

// endScan calls the function of a scan once one of its keys was released.
func (m *Map) endScan() {
	if m.scan == nil || !m.scan.end {
		return
	}
	s := m.scan
	m.CancelScan()
	if s.done != nil {
		s.done(s.name())
	}
}

var sides = []struct{ name, modifier string }{
	{"control_left", "control"}, {"control_right", "control"}, {"control", "control"},
	{"shift_left", "shift"}, {"shift_right", "shift"}, {"shift", "shift"},
	{"alt_left", "alt"}, {"alt_right", "alt"}, {"alt", "alt"},
}

func modifier(k *key) string {
	for _, s := range sides {
		if s.name == k.name {
			return s.modifier
		}
	}
	return ""
}

// name joins the keys that were pressed: modifiers first, without their side, then the other keys in
// their order. A modifier alone is named with its side.
func (s *scan) name() string {
	var parts []string
	for _, name := range []string{"control", "shift", "alt"} {
		if slices.ContainsFunc(s.keys, func(k *key) bool { return modifier(k) == name }) {
			if name == "control" {
				name = "ctrl"
			}
			parts = append(parts, name)
		}
	}
	modifiers := len(parts)
	for _, k := range s.keys {
		if modifier(k) == "" {
			parts = append(parts, k.name)
		}
	}
	if len(parts) == 1 && modifiers == 1 {
		for _, k := range s.keys {
			if strings.Contains(k.name, "_") {
				return k.name
			}
		}
		return s.keys[0].name
	}
	return strings.Join(parts[:min(len(parts), maxHeld)], "+")
}
