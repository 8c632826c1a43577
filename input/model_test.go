package input_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/input"
)

// model computes what digital actions do in the simplest way: it keeps which keys are down, by source,
// and which bindings wait, and looks at all of that after each step.
type model struct {
	keymaps map[string]input.Keymap // by set
	group   map[string]string
	on      []string // the sets that are on, the one enabled last at the end
	down    map[string]bool
	waits   map[string]bool // by "set/action/binding", or by "source/action" for an Emit
	was     map[string]bool // the actions that were pressed
	just    map[string]string
}

func (m *model) held(combination string) bool {
	for part := range strings.SplitSeq(combination, "+") {
		if part == "ctrl" {
			if !m.either("control_left") && !m.either("control_right") {
				return false
			}
		} else if !m.either(part) {
			return false
		}
	}
	return true
}

func (m *model) either(key string) bool { return m.down["0:"+key] || m.down["1:"+key] }

func (m *model) active(set string) bool {
	at := slices.Index(m.on, set)
	if at < 0 {
		return false
	}
	for _, later := range m.on[at+1:] {
		if m.group[later] == m.group[set] && m.group[set] != "" {
			return false
		}
	}
	return true
}

func (m *model) live(action string) bool {
	for set, keymap := range m.keymaps {
		if _, ok := keymap[action]; ok && m.active(set) {
			return true
		}
	}
	return false
}

// switchSets changes which sets are on. Keys that are held and get an action by that wait until they
// are released.
func (m *model) switchSets(change func()) {
	active, live := map[string]bool{}, map[string]bool{}
	for set := range m.keymaps {
		active[set] = m.active(set)
	}
	for _, a := range modelActions {
		live[a] = m.live(a)
	}
	change()
	for set, keymap := range m.keymaps {
		for a, bindings := range keymap {
			for _, b := range bindings {
				if !active[set] && m.active(set) {
					m.waits[set+"/"+a+"/"+b.Key] = true
				}
			}
		}
	}
	for _, a := range modelActions {
		if !live[a] && m.live(a) {
			m.waits["0:!"+a], m.waits["1:!"+a] = true, true
		}
	}
	m.look()
}

func (m *model) look() {
	for _, a := range modelActions {
		now := false
		for set, keymap := range m.keymaps {
			for _, b := range keymap[a] {
				id := set + "/" + a + "/" + b.Key
				m.waits[id] = m.waits[id] && m.held(b.Key)
				now = now || m.active(set) && m.held(b.Key) && !m.waits[id]
			}
		}
		for _, source := range []string{"0:!", "1:!"} {
			m.waits[source+a] = m.down[source+a] && (m.waits[source+a] || !m.live(a))
			now = now || m.down[source+a] && m.live(a) && !m.waits[source+a]
		}
		if now && !m.was[a] && !strings.Contains(m.just[a], "j") {
			m.just[a] = "j" + m.just[a]
		}
		if !now && m.was[a] && !strings.Contains(m.just[a], "l") {
			m.just[a] += "l"
		}
		m.was[a] = now
	}
}

var modelActions = []string{"a", "b", "c"}

func (m *model) state(a string) string {
	if m.was[a] || strings.Contains(m.just[a], "j") {
		return "p" + m.just[a]
	}
	return m.just[a]
}

// TestModel plays random frames against the model.
func TestModel(t *testing.T) {
	keys := []string{"k", "l", "control_left", "control_right", "gamepad_a"}
	sets := []input.Set{
		{Name: "foot", Group: "mode", Keymap: input.Keymap{"a": input.Keys("k", "ctrl+l"), "b": input.Keys("l", "k+gamepad_a")}},
		{Name: "car", Group: "mode", Keymap: input.Keymap{"a": input.Keys("l"), "c": input.Keys("k", "control_left")}},
		{Name: "talk", Keymap: input.Keymap{"c": input.Keys("gamepad_a"), "b": nil}},
	}
	steps, frames := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		real, err := input.New(actionsOf(sets), sets...)
		require.NoError(t, err)
		sources := []*input.Source{real.NewSource(), real.NewSource()}
		m := &model{keymaps: map[string]input.Keymap{}, group: map[string]string{}, on: []string{"foot"},
			down: map[string]bool{}, waits: map[string]bool{}, was: map[string]bool{}, just: map[string]string{}}
		for _, s := range sets {
			m.keymaps[s.Name], m.group[s.Name] = s.Keymap, s.Group
		}
		var log []string
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			steps++
			i := rapid.IntRange(0, 1).Draw(t, "source")
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); op {
			case 0, 1, 2, 3:
				key, down := rapid.SampledFrom(keys).Draw(t, "key"), rapid.Bool().Draw(t, "down")
				log = append(log, fmt.Sprint(i, ":", key, down))
				sources[i].Key(key, down)
				m.down[fmt.Sprint(i, ":", key)] = down
				m.look()
			case 4:
				a, down := rapid.SampledFrom(modelActions).Draw(t, "action"), rapid.Bool().Draw(t, "down")
				log = append(log, fmt.Sprint(i, ":!", a, down))
				sources[i].Emit(a, map[bool]float32{true: 1}[down])
				m.down[fmt.Sprint(i, ":!", a)] = down
				m.look()
			case 5, 6:
				set, on := rapid.SampledFrom(sets).Draw(t, "set").Name, op == 5
				log = append(log, fmt.Sprint(set, on))
				if on {
					require.NoError(t, real.Enable(set))
				} else {
					require.NoError(t, real.Disable(set))
				}
				m.switchSets(func() {
					if !on || !m.active(set) {
						m.on = slices.DeleteFunc(m.on, func(s string) bool { return s == set })
					}
					if on && !slices.Contains(m.on, set) {
						m.on = append(m.on, set)
					}
				})
			case 7:
				all := rapid.Bool().Draw(t, "all")
				log = append(log, fmt.Sprint("release ", i, all))
				if all {
					real.ReleaseAll()
				} else {
					sources[i].ReleaseAll()
				}
				for id := range m.down {
					if all || strings.HasPrefix(id, fmt.Sprint(i, ":")) {
						m.down[id] = false
					}
				}
				m.look()
			default:
				frames++
				log = append(log, ".")
				real.EndFrame()
				clear(m.just)
			}
			for _, a := range modelActions {
				require.Equal(t, m.state(a), state(real, a), "%s after %s", a, strings.Join(log, " "))
			}
		}
	})
	t.Logf("%d steps, %d frames", steps, frames)
}
