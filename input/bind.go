package input

import (
	"fmt"
	"slices"
)

// Bind replaces the bindings of an action in a set. Without bindings only [Map.Emit] triggers the
// action. If Bind returns an error, nothing has changed. Keys that are held do nothing until they are
// released.
func (m *Map) Bind(set, action string, bindings ...Binding) error {
	e, err := m.entry(set, action)
	if err != nil {
		return err
	}
	if len(bindings) > maxBindings {
		return fmt.Errorf("input: set %q, action %q: %d bindings are too many: use %d at most", set, action, len(bindings), maxBindings)
	}
	for _, b := range bindings {
		if why := b.checkIn(e.action); why != "" {
			return fmt.Errorf("input: set %q, action %q: %s", set, action, why)
		}
	}
	e.extra = nil
	m.putBindings(e, bindings)
	m.refresh()
	return nil
}

// putBindings replaces an entry's bindings by checked ones, unless they are equal.
func (m *Map) putBindings(e *entry, bindings []Binding) {
	if slices.Equal(e.bindings(), bindings) {
		return
	}
	e.bounds = nil
	for _, b := range bindings {
		in := m.bindKeys(e.action, b)
		in.waits = e.set.active
		e.bounds = append(e.bounds, in)
	}
}

// Bindings returns the present bindings of an action in a set.
func (m *Map) Bindings(set, action string) ([]Binding, error) {
	e, err := m.entry(set, action)
	if err != nil {
		return nil, err
	}
	return e.bindings(), nil
}

func (e *entry) bindings() []Binding {
	list := make([]Binding, len(e.bounds))
	for i, b := range e.bounds {
		list[i] = b.Binding
	}
	return list
}

// Reset gives all actions the bindings that [New] was given, and forgets what [Map.Load] read.
func (m *Map) Reset() {
	m.loaded = leftover{}
	for _, s := range m.sets {
		for _, e := range s.entries {
			e.extra = nil
			m.putBindings(e, e.defaults)
		}
	}
	m.refresh()
}

func (m *Map) entry(set, action string) (*entry, error) {
	s, err := m.findSet(set)
	if err != nil {
		return nil, err
	}
	switch a := m.byName[action]; {
	case a == nil:
		return nil, fmt.Errorf("input: no action is named %q%s", action, nearest(action, m.names()))
	case a.isWhole():
		return nil, fmt.Errorf("input: %q has parts: bind these, such as %q", action, a.whole.parts[0].Name)
	}
	e := s.entry(action)
	if e == nil {
		return nil, fmt.Errorf("input: set %q does not list action %q: give it to New in the set's Keymap", set, action)
	}
	return e, nil
}

// KeyNames returns the keys of an action, for prompts: "e", "ctrl+r". It looks in the
// active sets that list the action, or in all sets if none of these is active. It returns
// only keys whose devices are all in devices; [Map.LastDevice] is a good choice. It panics
// if there is no action of that name.
func (m *Map) KeyNames(action string, devices DeviceKind) []string {
	a := m.action(action)
	var names []string
	for _, s := range m.sets {
		e := s.entry(action)
		if e == nil || a.live && !s.active {
			continue
		}
		for _, b := range e.bounds {
			if b.usesOnly(devices) && !slices.Contains(names, b.Key) {
				names = append(names, b.Key)
			}
		}
	}
	return names
}

func (b *bound) usesOnly(devices DeviceKind) bool {
	return !slices.ContainsFunc(b.keys, func(k *key) bool { return k.device&devices == 0 })
}

// LastDevice returns the kind of device that was used last, so that prompts show its keys
// or buttons. It returns keyboard and mouse together as one kind. That is also the result
// before any device was used.
func (m *Map) LastDevice() DeviceKind {
	if desk := KeyboardDevice | MouseDevice; m.last&^desk == 0 {
		return desk
	}
	return m.last
}
