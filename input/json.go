package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxFile bounds a file of bindings.
const maxFile = 1 << 20

// leftover holds the parts of a file for sets and actions that this version of the game does not have.
// Save writes them again.
type leftover struct {
	sets    map[string]json.RawMessage
	actions map[string]map[string]json.RawMessage // by set, then by action
}

// bindingJSON is a Binding in a file. A binding with nothing but a key is written as a string.
type bindingJSON struct {
	Key      string  `json:"key"`
	When     string  `json:"when,omitempty"`
	Scale    float32 `json:"scale,omitempty"`
	DeadZone float32 `json:"dead_zone,omitempty"`
	Curve    float32 `json:"curve,omitempty"`
}

// Load reads a player's bindings. They replace bindings that [New] was given:
//
//	{
//	  "play": {
//	    "fire": ["f", "ctrl+mouse_left_button"],
//	    "move.x": [{"key": "a", "scale": -1}, "d", {"key": "gamepad_lstick_x", "dead_zone": 0.2}],
//	    "menu": []
//	  }
//	}
//
// Each list replaces all bindings of its action in its set, and an empty one removes them.
// Actions that the file leaves out have their defaults. Actions of a set without a name are
// at the top level, next to the sets.
//
// Load takes the entries that it understands. ignored names the others, and why, for a log. Save writes
// unknown sets, actions and bindings again. A list without a known binding leaves the defaults. If Load
// returns an error, as for a file that is not JSON, nothing has changed.
func (m *Map) Load(r io.Reader) (ignored []string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("input: cannot read the bindings: %w", err)
	}
	if len(data) > maxFile {
		return nil, errors.New("input: the bindings are longer than 1 MiB")
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) // editors on Windows begin a file with a byte order mark
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("input: the bindings are not JSON of sets and actions: %w", err)
	}
	l := loading{m: m, lists: map[*entry][]Binding{}, extra: map[*entry][]json.RawMessage{}}
	l.loaded.actions = map[string]map[string]json.RawMessage{}
	l.file(file)
	m.loaded = l.loaded
	for _, s := range m.sets {
		for _, e := range s.entries {
			list, ok := l.lists[e]
			if !ok {
				list = e.defaults
			}
			e.extra = l.extra[e]
			m.putBindings(e, list)
		}
	}
	m.refresh()
	return l.ignored, nil
}

// loading collects what Load finds in a file.
type loading struct {
	m       *Map
	lists   map[*entry][]Binding
	extra   map[*entry][]json.RawMessage
	loaded  leftover
	ignored []string
}

func (l *loading) ignore(format string, args ...any) {
	l.ignored = append(l.ignored, fmt.Sprintf(format, args...))
}

func (l *loading) file(file map[string]json.RawMessage) {
	top := map[string]json.RawMessage{}
	for _, name := range sorted(file) {
		value := file[name]
		if value[0] == '[' {
			top[name] = value
			continue
		}
		s, err := l.m.findSet(name)
		var actions map[string]json.RawMessage
		switch {
		case value[0] != '{':
			l.ignore("%q is neither a set, in braces, nor an action's list of keys", name)
		case err != nil || name == "":
			if l.loaded.sets == nil {
				l.loaded.sets = map[string]json.RawMessage{}
			}
			l.loaded.sets[name] = value
			l.ignore("no set is named %q", name)
		case json.Unmarshal(value, &actions) == nil:
			l.loadSet(s, actions)
		}
	}
	if len(top) == 0 {
		return
	}
	s, err := l.m.findSet("")
	if err != nil {
		s = &set{}
	}
	l.loadSet(s, top)
}

func (l *loading) loadSet(s *set, actions map[string]json.RawMessage) {
	for _, name := range sorted(actions) {
		if e := s.entry(name); e != nil {
			l.entry(e, actions[name])
			continue
		}
		if l.loaded.actions[s.name] == nil {
			l.loaded.actions[s.name] = map[string]json.RawMessage{}
		}
		l.loaded.actions[s.name][name] = actions[name]
		l.ignore("%sno action is named %q", in(s), name)
	}
}

func in(s *set) string {
	if s.name == "" {
		return ""
	}
	return fmt.Sprintf("set %q: ", s.name)
}

func (l *loading) entry(e *entry, value json.RawMessage) {
	var raw []json.RawMessage
	if err := json.Unmarshal(value, &raw); err != nil || raw == nil {
		l.ignore("%saction %q: not a list of keys, as in [\"space\", \"gamepad_a\"]", in(e.set), e.action.Name)
		return
	}
	list := []Binding{}
	for _, one := range raw {
		b, why := parse(one)
		if why == "" {
			why = b.checkIn(e.action)
		}
		if why == "" && len(list) == maxBindings {
			why = fmt.Sprintf("more than %d bindings", maxBindings)
		}
		if why != "" {
			l.extra[e] = append(l.extra[e], one)
			l.ignore("%saction %q: %s", in(e.set), e.action.Name, why)
			continue
		}
		list = append(list, b)
	}
	if len(list) > 0 || len(raw) == 0 {
		l.lists[e] = list
	}
}

// parse reads one binding, a string or an object.
func parse(raw json.RawMessage) (b Binding, why string) {
	if json.Unmarshal(raw, &b.Key) == nil && raw[0] == '"' {
		return b, ""
	}
	var in bindingJSON
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || raw[0] != '{' {
		return b, fmt.Sprintf("%s is no binding: write a key's name, or {\"key\": ..., \"when\", \"scale\", \"dead_zone\", \"curve\"}", short(raw))
	}
	when := max(slices.Index(whens, in.When), 0)
	if in.When != "" && in.When != whens[when] {
		return b, fmt.Sprintf("%q is no time to act: use %s", in.When, strings.Join(whens, ", "))
	}
	return Binding{in.Key, When(when), in.Scale, in.DeadZone, in.Curve}, ""
}

func short(raw []byte) string {
	if len(raw) > 60 {
		return string(raw[:60]) + "..."
	}
	return string(raw)
}

// Save writes the bindings that differ from those that [New] was given, for [Load]. So a player who
// changed one key still gets the new defaults of the next version.
func (m *Map) Save(w io.Writer) error { return m.saveBindings(w, false) }

// SaveAll writes all bindings, for a file that players edit by hand.
func (m *Map) SaveAll(w io.Writer) error { return m.saveBindings(w, true) }

func (m *Map) saveBindings(w io.Writer, all bool) error {
	var top []string
	for _, s := range m.sets {
		lines := m.lines(s, all)
		if s.name == "" {
			top = append(top, lines...)
		} else if len(lines) > 0 {
			top = append(top, fmt.Sprintf("%s: {\n    %s\n  }", quote(s.name), strings.Join(lines, ",\n    ")))
		}
	}
	if _, err := m.findSet(""); err != nil {
		top = append(top, m.strange("")...)
	}
	for _, name := range sorted(m.loaded.sets) {
		top = append(top, quote(name)+": "+compact(m.loaded.sets[name]))
	}
	text := "{}\n"
	if len(top) > 0 {
		text = "{\n  " + strings.Join(top, ",\n  ") + "\n}\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// lines returns the lines of a set's actions in a file.
func (m *Map) lines(s *set, all bool) []string {
	var lines []string
	for _, e := range s.entries {
		list := e.bindings()
		if !all && slices.Equal(list, e.defaults) && len(e.extra) == 0 {
			continue
		}
		parts := make([]string, 0, len(list)+len(e.extra))
		for _, b := range list {
			parts = append(parts, b.json())
		}
		for _, raw := range e.extra {
			parts = append(parts, compact(raw))
		}
		lines = append(lines, quote(e.action.Name)+": ["+strings.Join(parts, ", ")+"]")
	}
	return append(lines, m.strange(s.name)...)
}

// strange returns the lines of a set's loaded actions that the game does not have.
func (m *Map) strange(set string) []string {
	var lines []string
	for _, name := range sorted(m.loaded.actions[set]) {
		lines = append(lines, quote(name)+": "+compact(m.loaded.actions[set][name]))
	}
	return lines
}

func (b *Binding) json() string {
	if *b == (Binding{Key: b.Key}) {
		return quote(b.Key)
	}
	out := bindingJSON{Key: b.Key, Scale: b.Scale, DeadZone: b.DeadZone, Curve: b.Curve}
	if b.When != Pressed {
		out.When = b.When.String()
	}
	text, _ := json.Marshal(out) // cannot fail: finite numbers and strings
	return string(text)
}

func quote(s string) string {
	text, _ := json.Marshal(s) // cannot fail
	return string(text)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "null"
	}
	return b.String()
}
