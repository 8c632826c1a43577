package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foretick/foretick/internal/misuse"
)

// Map turns the input of devices into actions. Make one with [New].
type Map struct {
	actions []*action
	wholes  []*whole // actions that have parts; they are not in actions
	byName  map[string]*action
	sets    []*set
	order   []*set // enabled sets; the one enabled last is at the end
	keys    map[string]*key
	moving  []*key // keys with a pulse
	sources int
	// own is the source that the Map's own Key, Axis, Move and Emit feed.
	own    *Source
	last   DeviceKind
	scan   *scan
	loaded leftover
}

// New returns a Map of the actions and sets of a game. The first set is on, the others
// are off. The error names every fault and its fix, not only the first.
func New(actions []Action, sets ...Set) (*Map, error) {
	m := &Map{byName: map[string]*action{}, keys: map[string]*key{}}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("input: "+format, args...)) }
	for _, a := range actions {
		switch {
		case a.Name == "" || strings.Contains(a.Name, ","):
			fault("an action is named %q: use a name without a comma", a.Name)
		case m.byName[a.Name] != nil:
			fault("two actions are named %q", a.Name)
		case a.Kind > Relative:
			fault("action %q is of %v: use Digital, Analogue or Relative", a.Name, a.Kind)
		default:
			m.byName[a.Name] = &action{Action: a}
			m.actions = append(m.actions, m.byName[a.Name])
		}
	}
	m.joinParts(fault)
	for name, c := range standardClass {
		m.keys[name] = &key{name: name, class: c, device: deviceOf(name)}
	}
	for _, d := range derived {
		k, from := m.keys[d.name], m.keys[d.from]
		k.from, from.to = append(k.from, link{from, d.part}), append(from.to, k)
	}
	for _, s := range sets {
		m.addSet(s, fault)
	}
	m.checkNames(fault)
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	m.own = m.NewSource()
	if len(m.sets) > 0 {
		m.order = append(m.order, m.sets[0])
	}
	m.activate()
	return m, nil
}

// addSet adds a set.
func (m *Map) addSet(s Set, fault func(string, ...any)) {
	if slices.ContainsFunc(m.sets, func(o *set) bool { return o.name == s.Name }) {
		fault("two sets are named %q", s.Name)
		return
	}
	in := &set{name: s.Name, group: s.Group}
	m.sets = append(m.sets, in)
	for _, name := range sorted(s.Keymap) {
		switch a := m.byName[name]; {
		case a == nil:
			fault("set %q binds %q, which is no action%s", s.Name, name, nearest(name, m.names()))
		case a.isWhole():
			fault("set %q binds %q: bind its parts, such as %q", s.Name, name, a.whole.parts[0].Name)
		}
	}
	for _, a := range m.actions {
		list, ok := s.Keymap[a.Name]
		if !ok {
			continue
		}
		e := &entry{set: in, action: a, defaults: slices.Clone(list)}
		in.entries = append(in.entries, e)
		if len(list) > maxBindings {
			fault("set %q, action %q: %d bindings are too many: use %d at most", s.Name, a.Name, len(list), maxBindings)
		}
		for _, b := range list {
			if why := b.checkFor(a.Action); why != "" {
				fault("set %q, action %q: %s", s.Name, a.Name, why)
			} else {
				e.bounds = append(e.bounds, m.bindKeys(a, b))
			}
		}
	}
}

// checkNames reports actions in no set, and names that JSON files could not tell apart.
func (m *Map) checkNames(fault func(string, ...any)) {
	for _, a := range m.actions {
		in := 0
		for _, s := range m.sets {
			if s.entry(a.Name) == nil {
				continue
			}
			if in++; s.name == "" && slices.ContainsFunc(m.sets, func(o *set) bool { return o.name == a.Name }) {
				fault("%q is an action of the set without a name, and a set: rename one", a.Name)
			}
		}
		if in == 0 {
			fault("action %q is in no set: list it in a Keymap, with no bindings if only Emit drives it", a.Name)
		}
	}
}

func (m *Map) names() []string {
	names := make([]string, 0, len(m.actions)+len(m.wholes))
	for _, a := range m.actions {
		names = append(names, a.Name)
	}
	for _, w := range m.wholes {
		names = append(names, w.Name)
	}
	return names
}

// bindKeys makes a checked binding ready for use.
func (m *Map) bindKeys(a *action, b Binding) *bound {
	names, _ := b.split()
	in := &bound{Binding: b}
	for _, name := range names {
		in.keys = append(in.keys, m.key(name))
	}
	if other := otherAxis(names[len(names)-1]); other != "" && a.whole != nil {
		in.other = m.key(other)
	}
	return in
}

// key returns a key's state. It makes the state of a key that is not a standard key.
func (m *Map) key(name string) *key {
	k := m.keys[name]
	if k == nil {
		k = &key{name: name, class: ownKey, device: deviceOf(name), fed: make([]float32, m.sources), seen: make([]bool, m.sources)}
		m.keys[name] = k
	}
	return k
}

// Pressed reports whether an action is pressed, or became pressed in this frame and was
// released again. An analogue action is pressed beyond half of its range. It panics with a
// foretick.UsageError if there is no action of that name, as JustPressed, JustReleased
// and Value do.
func (m *Map) Pressed(action string) bool {
	a := m.action(action)
	return a.on || a.justPressed
}

// JustPressed reports whether an action became pressed in this frame. While one key
// holds an action, a second one does not press it again. Each of several choices is an action
// for that.
func (m *Map) JustPressed(action string) bool { return m.action(action).justPressed }

// JustReleased reports whether an action stopped being pressed in this frame: the player released its
// key, its set was switched off, or all keys were released.
func (m *Map) JustReleased(action string) bool { return m.action(action).justReleased }

// Value returns an analogue action's state from -1 to 1, a vector's length, a relative
// action's movement in this frame, or 1 for a digital action that is pressed. Of choices it
// returns the number of the one that was pressed last in this frame, or else of those still
// pressed.
func (m *Map) Value(action string) float32 { return m.action(action).value() }

func (a *action) value() float32 {
	switch {
	case a.Kind == Relative:
		return a.moved
	case a.Kind == Analogue:
		return a.level.value()
	case a.isWhole():
		return float32(a.whole.chosen())
	case a.on || a.justPressed:
		return 1
	}
	return 0
}

// EndFrame ends a frame. Call it once a frame, after the game has read its actions.
func (m *Map) EndFrame() {
	for _, a := range m.actions {
		a.justPressed, a.justReleased, a.moved = false, false, 0
	}
	for _, w := range m.wholes {
		w.justPressed, w.justReleased, w.begun = false, false, 0
	}
	for _, k := range m.moving {
		k.pulse = 0
		m.keyChanged(k)
	}
	m.moving = m.moving[:0]
	for _, s := range m.sets {
		for _, e := range s.entries {
			for _, b := range e.bounds {
				b.pulse = false
			}
		}
	}
	m.refresh()
	m.endScan()
}

func (m *Map) action(name string) *action {
	a := m.byName[name]
	if a == nil {
		misuse.Panicf("input: no action is named %q%s", name, nearest(name, m.names()))
	}
	return a
}

func sorted[V any](of map[string]V) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
