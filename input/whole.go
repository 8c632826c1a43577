package input

import (
	"math"
	"strconv"
	"strings"
)

// whole is an action that others are the parts of: a vector "move" of "move.x" and "move.y", or the
// choices "weapon.1" and so on of "weapon". It has no bindings of its own.
type whole struct {
	action
	parts []*action // of a vector x and y
	begun int       // the newest choice that was pressed in this frame, also if it was released since
	count uint64    // counts the choices that were pressed
	most  int       // the highest number of a choice
}

const maxChoices = 255

// joinParts finds the actions that are parts of others.
func (m *Map) joinParts(fault func(string, ...any)) {
	for _, a := range m.actions {
		at := strings.LastIndexByte(a.Name, '.')
		if at <= 0 {
			continue
		}
		name, end := a.Name[:at], a.Name[at+1:]
		n, err := strconv.Atoi(end)
		switch y := m.byName[name+".y"]; {
		case end == "x" && a.Kind == Analogue && y != nil && y.Kind == Analogue:
			if w := m.wholeOf(name, Analogue, fault); w != nil {
				w.parts = []*action{a, y}
				a.whole, y.whole = w, w
			}
		case a.Kind == Digital && err == nil && n > 0 && n <= maxChoices && strconv.Itoa(n) == end:
			if w := m.wholeOf(name, Digital, fault); w != nil {
				w.parts, w.most = append(w.parts, a), max(w.most, n)
				a.whole, a.number = w, n
			}
		}
	}
}

// wholeOf returns the whole of a name, or nil if something else has the name.
func (m *Map) wholeOf(name string, kind Kind, fault func(string, ...any)) *whole {
	for _, w := range m.wholes {
		if w.Name == name && w.Kind == kind {
			return w
		}
	}
	if m.byName[name] != nil {
		fault("%q is an action, and others are its parts by their names: rename it", name)
		return nil
	}
	w := &whole{action: action{Action: Action{Name: name, Kind: kind}}}
	w.whole = w
	m.wholes, m.byName[name] = append(m.wholes, w), &w.action
	return w
}

// isWhole reports whether an action has parts.
func (a *action) isWhole() bool { return a.whole != nil && a == &a.whole.action }

// choose notes that a choice was pressed.
func (w *whole) choose(part *action) {
	w.count++
	part.since, w.begun, w.justPressed = w.count, part.number, true
}

// chosen returns the choice in this frame: the newest that was pressed in it, or else the newest that is
// still pressed.
func (w *whole) chosen() int {
	if w.begun != 0 {
		return w.begun
	}
	n, since := 0, uint64(0)
	for _, part := range w.parts {
		if part.on && part.since > since {
			n, since = part.number, part.since
		}
	}
	return n
}

// boundLength bounds the length of a vector's parts by 1.
func (w *whole) boundLength() {
	if w.Kind != Analogue {
		return
	}
	x, y := w.parts[0].level.value(), w.parts[1].level.value()
	size := length(x, y)
	if size > 1 {
		w.parts[0].level, w.parts[1].level = span{high: x / size}, span{high: y / size}
	}
	w.level = span{high: min(size, 1)}
}

// settleWhole finds whether a whole is pressed, when its parts are settled.
func (w *whole) settleWhole() {
	if w.Kind == Digital {
		w.level = span{}
		for _, part := range w.parts {
			if part.on {
				w.level.high = 1
			}
		}
	}
	w.settleLevel()
}

func length(x, y float32) float32 { return float32(math.Hypot(float64(x), float64(y))) }

// otherAxis returns the name of a stick's other axis, or "" for a key that is none of two.
func otherAxis(name string) string {
	if n := len(name) - 2; n > 0 && classOf(name) != button {
		switch name[n:] {
		case "_x":
			return name[:n] + "_y"
		case "_y":
			return name[:n] + "_x"
		}
	}
	return ""
}
