package simtest

import (
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
)

// taps watches for how long the players' scripts hold the bools of the command. A bool that
// scripts only tap is an action, which needs the tag oneshot.
type taps struct{ all []tap }

// tap is a bool of the command without the tag oneshot.
type tap struct {
	name            string
	field           int // index in the command's schema
	presses, single int // presses that ended, and how many of them lasted a single tick
}

// A bool is tapped if it was pressed tapLeast times or more, and of all presses at least 9 in
// 10 lasted for one tick.
const tapLeast = 10

// hold is a press that goes on.
type hold struct {
	on     bool
	newest foretick.Tick // newest tick of a frame in which the bool is held
	ticks  int
}

// listen watches one client's script.
func (t *taps) listen(c *client.Client) {
	in := probe.OfClient(c)
	cmd := in.Layout().Command
	if cmd == nil {
		return
	}
	if t.all == nil {
		t.all = tappable(cmd)
	}
	held := make([]hold, len(t.all))
	in.OnSample(func(tick foretick.Tick, command unsafe.Pointer) {
		for i := range held {
			held[i].noteHeld(&t.all[i], tick, cmd.Schema.Raw(t.all[i].field, command) != 0)
		}
	})
}

// tappable returns the bools of a command without the tag oneshot.
func tappable(cmd *layout.Command) []tap {
	all := []tap{}
	for i, f := range cmd.Schema.Fields() {
		if f.Type == "bool" && !f.OneShot {
			all = append(all, tap{name: cmd.Name + "." + f.Name, field: i})
		}
	}
	return all
}

// noteHeld notes whether the script holds a bool in a frame.
func (h *hold) noteHeld(t *tap, tick foretick.Tick, on bool) {
	switch {
	case on && !h.on:
		*h = hold{true, tick, 1}
	case on && tick != h.newest:
		h.newest, h.ticks = tick, h.ticks+1
	case !on && h.on:
		h.on = false
		t.presses++
		if h.ticks == 1 {
			t.single++
		}
	}
}

// names returns the bools that the scripts only tapped.
func (t *taps) names() (names []string) {
	for _, x := range t.all {
		if x.presses >= tapLeast && 10*x.single >= 9*x.presses {
			names = append(names, x.name)
		}
	}
	return names
}
