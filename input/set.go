package input

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Keymap holds the bindings of each action, by the action's name. An action with an
// empty list is driven by [Map.Emit] alone.
type Keymap map[string][]Binding

// Set is a keymap that is switched on and off as one: on foot, in a car, in a menu.
type Set struct {
	// Name may be empty, for a game with one set. Its actions are then at the top level of
	// JSON files.
	Name string
	// Group, if not empty, makes the set exclude the other sets of the group: the one enabled last is
	// active.
	Group  string
	Keymap Keymap
}

// set is a Set in a Map.
type set struct {
	name, group string
	entries     []*entry // in the order of the Map's actions
	active      bool
}

// entry has the bindings of one action in one set.
type entry struct {
	set      *set
	action   *action
	bounds   []*bound // present bindings
	defaults []Binding
	extra    []json.RawMessage // bindings of a loaded list that were not understood
}

func (s *set) entry(action string) *entry {
	for _, e := range s.entries {
		if e.action.Name == action {
			return e
		}
	}
	return nil
}

// Enable switches a set on. If the set is in a group, it becomes the group's active set.
// The set that was active before stays on, and becomes active again when this one is
// switched off: see [Map.Disable]. A set that is active already stays as it is. It
// returns an error if there is no set of that name.
func (m *Map) Enable(name string) error {
	s, err := m.findSet(name)
	if err != nil || s.active {
		return err
	}
	m.order = append(without(m.order, s), s)
	m.activate()
	return nil
}

// Disable switches a set off. If it was the active set of its group, the one of the
// group's other sets that was enabled last, and is still on, becomes active. It returns
// an error if there is no set of that name.
func (m *Map) Disable(name string) error {
	s, err := m.findSet(name)
	if err != nil {
		return err
	}
	m.order = without(m.order, s)
	m.activate()
	return nil
}

// Active reports whether a set is on and not covered by another of its group.
func (m *Map) Active(name string) bool {
	s, err := m.findSet(name)
	return err == nil && s.active
}

func (m *Map) findSet(name string) (*set, error) {
	names := make([]string, 0, 8)
	for _, s := range m.sets {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("input: no set is named %q%s", name, nearest(name, names))
}

func without(order []*set, s *set) []*set {
	return slices.DeleteFunc(order, func(o *set) bool { return o == s })
}

// top reports whether no other set of its group was enabled after an enabled set.
func (m *Map) top(at int) bool {
	s := m.order[at]
	return s.group == "" || !slices.ContainsFunc(m.order[at+1:], func(o *set) bool { return o.group == s.group })
}

// activate finds out which sets are active. While a scan waits for keys, none is.
func (m *Map) activate() {
	for _, s := range m.sets {
		at := slices.Index(m.order, s)
		active := m.scan == nil && at >= 0 && m.top(at)
		if active == s.active {
			continue
		}
		s.active = active
		for _, e := range s.entries {
			for _, b := range e.bounds {
				b.forgetNoted()
				b.waits = active
			}
		}
	}
	for _, a := range m.actions {
		was := a.live
		a.live = slices.ContainsFunc(m.sets, func(s *set) bool { return s.active && s.entry(a.Name) != nil })
		if !a.live {
			a.moved = 0
		} else if !was {
			for i, v := range a.emitted {
				a.waits[i] = v != 0
			}
		}
	}
	m.refresh()
}

// refresh computes the present state of every action.
func (m *Map) refresh() {
	for _, a := range m.actions {
		a.level = span{}
		for i, v := range a.emitted {
			if a.live && !a.waits[i] {
				a.level.widen(v)
			}
		}
	}
	for _, s := range m.sets {
		if !s.active {
			continue
		}
		for _, e := range s.entries {
			for _, b := range e.bounds {
				e.action.level.widen(b.readLevel(e.action.Kind))
			}
		}
	}
	for _, w := range m.wholes {
		w.boundLength()
	}
	for _, a := range m.actions {
		a.settleLevel()
	}
	for _, w := range m.wholes {
		w.settleWhole()
	}
}
