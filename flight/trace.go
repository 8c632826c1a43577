package flight

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
)

// Trace is what each system of one tick did to one entity.
type Trace struct {
	Tick    foretick.Tick
	Entity  ecs.Entity
	Before  []Value // values at the beginning of the tick; empty: the entity did not exist
	Systems []SystemTrace
	After   []Value // values at the end of the tick; empty: the entity is gone
}

// SystemTrace is one system's run. What hooks, request handlers and event handlers changed
// between two systems is the difference between the first one's After and the second one's Before.
type SystemTrace struct {
	System        string
	Shared        bool              // both ends run it
	Again         foretick.PlayerID // the player for whose late input the system runs again; 0: none
	Before, After []Value
}

// Value is a field of an entity.
type Value struct {
	Path  string // such as "Position.X"
	Value any
}

// Change is a field that changed.
type Change struct {
	Path          string
	Before, After any // nil: the entity did not have the field
}

// Changes lists the fields that differ between two lists of one entity.
func Changes(before, after []Value) (list []Change) {
	at := map[string]any{}
	for _, v := range after {
		at[v.Path] = v.Value
	}
	for _, v := range before {
		if now, ok := at[v.Path]; !ok || !same(now, v.Value) {
			list = append(list, Change{v.Path, v.Value, now})
		}
		delete(at, v.Path)
	}
	for _, v := range after {
		if _, isNew := at[v.Path]; isNew {
			list = append(list, Change{v.Path, nil, v.Value})
		}
	}
	return list
}

func same(a, b any) bool {
	return reflect.DeepEqual(a, b) || a != a && b != b //nolint:staticcheck // two values that are no numbers are the same here
}

// Trace plays the next tick, as Next does, and returns what each system did to an entity.
// Errors are those of Next. If a system panics, the trace has what happened before the panic,
// and the error is a [PanicError].
func (r *Replay) Trace(e ecs.Entity) (*Trace, error) {
	t := &Trace{Tick: r.srv.Tick() + 1, Entity: e, Before: r.Values(e)}
	stop := probe.OfServer(r.srv).OnSystem(func(s probe.SystemRun) {
		now := r.Values(e)
		if !s.After {
			t.Systems = append(t.Systems, SystemTrace{System: s.System, Shared: s.Shared, Again: s.Again, Before: now})
			return
		}
		for i := len(t.Systems) - 1; i >= 0; i-- {
			if at := &t.Systems[i]; at.System == s.System && at.After == nil {
				at.After = now
				break
			}
		}
	})
	defer stop()
	_, err := r.Next()
	t.After = r.Values(e)
	return t, err
}

// Values returns the fields of the game's components of an entity as they are now, nil if it does not exist.
func (r *Replay) Values(e ecs.Entity) (list []Value) {
	w := r.srv.World()
	if !w.Alive(e) {
		return nil
	}
	was := w.Guard(false)
	defer w.Guard(was)
	mask, types := ecs.Engine(w).Mask(e), w.Types()
	for id := range ecs.ID(types.Len()) {
		info := types.Info(id)
		if !mask.Has(id) || strings.HasPrefix(info.Name, "foretick.") {
			continue
		}
		for _, f := range info.Fields {
			if v, err := w.Value(e, f.Path); err == nil {
				list = append(list, Value{f.Path, owned(v)})
			}
		}
	}
	return list
}

// owned copies a value that is a slice, because the world will change it.
func owned(v any) any {
	from := reflect.ValueOf(v)
	if from.Kind() != reflect.Slice {
		return v
	}
	to := reflect.MakeSlice(from.Type(), from.Len(), from.Len())
	reflect.Copy(to, from)
	return to.Interface()
}

// Entity is an entity of the server.
type Entity struct {
	Entity ecs.Entity
	Net    uint32 // its network id
	Prefab string
	Owner  foretick.PlayerID
}

// Entities lists the replicated entities as they are now, in the order of their network ids.
func (r *Replay) Entities() (list []Entity) {
	w := r.srv.World()
	for _, e := range probe.OfServer(r.srv).Replicated() {
		list = append(list, Entity{e.Entity, e.Net, e.Prefab, w.Owner(e.Entity)})
	}
	return list
}

// Print writes the trace as text: each system that changed the entity, with the values
// before and after.
func (t *Trace) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "tick %d, entity %v\n", t.Tick, t.Entity)
	last := t.Before
	show := func(who string, before, after []Value) {
		changes := Changes(before, after)
		if len(changes) == 0 {
			return
		}
		fmt.Fprintf(&b, "  %s\n", who)
		for _, c := range changes {
			fmt.Fprintf(&b, "    %-32s %v -> %v\n", c.Path, c.Before, c.After)
		}
	}
	for _, s := range t.Systems {
		show("hooks and handlers", last, s.Before)
		who := s.System
		if s.Shared {
			who += " (shared)"
		}
		if s.Again != 0 {
			who += fmt.Sprintf(", again for a late input of player %d", s.Again)
		}
		if s.After == nil {
			fmt.Fprintf(&b, "  %s did not end\n", who)
			last = s.Before
			continue
		}
		show(who, s.Before, s.After)
		last = s.After
	}
	show("after the systems", last, t.After)
	_, err := io.WriteString(w, b.String())
	return err
}
