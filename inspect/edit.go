package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// Edit sets one value in a server's world.
type Edit struct {
	Entity EntityID `json:"entity"` // the entity; 0: a singleton of the world
	Path   string   `json:"path"`   // component and field, such as Health.Points
	Value  any      `json:"value"`  // a bool, a number, a json.Number, a string, or the name of a value
	By     string   `json:"by"`     // name of the person or tool that edits, for recordings and logs; empty: "inspector"
}

// ErrEdit is wrapped by the errors of Edit for paths and values that cannot be set.
var ErrEdit = errors.New("inspect: the value is not set")

const mostEditText = 256 // bytes of a path or a string

// Edit sets a value with [server.Server.Do] at the end of a tick, and waits until that is done.
// It checks the range of the field's tag first. It returns the value before the edit. If the
// edit makes a prediction wrong, the explanation of the correction names an edit. The error is
// [ErrClient] for a client, wraps [ErrEdit] or [ecs.ErrStale], or is one of Server.Do.
func (in *Inspector) Edit(ctx context.Context, name string, ed Edit) (before any, err error) {
	e, err := in.findEnd(name)
	if err != nil {
		return nil, err
	}
	x, ok := e.collect.(*serverEnd)
	if !ok {
		return nil, ErrClient
	}
	if ed.Value, err = e.fits(&ed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEdit, err)
	}
	if ed.By == "" {
		ed.By = "inspector"
	}
	title := fmt.Sprintf("%.32s: set %.80s", ed.By, ed.Path)
	type result struct {
		before any
		err    error
	}
	done := make(chan result, 1)
	err = x.s.Do(title, func(f *foretick.ServerFrame) {
		was, err := set(f.World, &ed)
		done <- result{was, err}
	})
	if err != nil {
		return nil, err
	}
	select {
	case r := <-done:
		if r.err != nil && !errors.Is(r.err, ecs.ErrStale) {
			r.err = fmt.Errorf("%w: %w", ErrEdit, r.err)
		}
		return r.before, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("inspect: %s computed no tick in time: the edit is still queued: %w", e.name, ctx.Err())
	}
}

// set sets a value, and returns the value before.
func set(w *ecs.World, ed *Edit) (before any, err error) {
	get, put := func(path string) (any, error) { return w.Value(ecs.Entity(ed.Entity), path) }, func(path string, v any) error { return w.SetValue(ecs.Entity(ed.Entity), path, v) }
	if ed.Entity == 0 {
		get, put = w.SingletonValue, w.SetSingletonValue
	}
	if before, err = get(ed.Path); err != nil {
		return nil, err
	}
	return plain(before), put(ed.Path, ed.Value)
}

// fits checks a value before it is queued, and returns it in a type that SetValue accepts.
func (e *end) fits(ed *Edit) (any, error) {
	if len(ed.Path) > mostEditText {
		return nil, fmt.Errorf("a path of %d bytes: use a component and a field, such as Health.Points", len(ed.Path))
	}
	info, f, err := e.field(ed)
	switch {
	case err != nil:
		return nil, err
	case !editable(info.Name, f.Type):
		return nil, fmt.Errorf("%s is a %v: only bools, numbers and strings of the game's own components can be set", ed.Path, f.Type)
	}
	v, err := number(ed.Value)
	if err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok && len(s) > mostEditText {
		return nil, fmt.Errorf("a text of %d bytes: use up to %d", len(s), mostEditText)
	}
	of, ok := e.sentFields(info.Name, e.schemaOf(info.Name))[ed.Path]
	if !ok {
		return v, nil
	}
	return v, ranged(&of, ed.Path, v)
}

// field finds the field that is to be set.
func (e *end) field(ed *Edit) (ecs.TypeInfo, ecs.Field, error) {
	types := e.internals.Layout().Types
	if ed.Entity != 0 {
		return types.Field(ed.Path)
	}
	for _, info := range types.Singletons() {
		for _, f := range info.Fields {
			if f.Path == ed.Path {
				return info, f, nil
			}
		}
	}
	return ecs.TypeInfo{}, ecs.Field{}, fmt.Errorf("no singleton has the field %q", ed.Path)
}

// schemaOf returns the schema of a component or singleton by its name, nil if it is not sent.
func (e *end) schemaOf(name string) *schema.Schema {
	l := e.internals.Layout()
	for i := range l.Components {
		if l.Components[i].Name == name {
			return l.Components[i].Schema
		}
	}
	return nil
}

// editable reports whether a field of a type can be set.
func editable(component string, t reflect.Type) bool {
	if strings.HasPrefix(component, "foretick.") || t == reflect.TypeFor[ecs.Entity]() {
		return false
	}
	return t.Kind() == reflect.Bool || t.Kind() == reflect.String || t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
}

// number turns a json.Number into a number of Go.
func number(v any) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		return v, nil
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	var u uint64
	if err := json.Unmarshal([]byte(n), &u); err == nil {
		return u, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("%s is no number that fits", n)
	}
	return f, nil
}

// ranged returns an error for a number outside of its tag's range, and for a text that is too
// long. Clients would receive another value than the server has.
func ranged(f *schema.Field, path string, v any) error {
	if s, ok := v.(string); ok && f.Text && len(s) > f.Most {
		return fmt.Errorf("%s has room for %d bytes", path, f.Most)
	}
	r := reflect.ValueOf(v)
	var x float64
	switch {
	case f.Min == 0 && f.Max == 0:
		return nil
	case !r.IsValid():
		return fmt.Errorf("%s is given no value", path)
	case r.CanFloat():
		x = r.Float()
	case r.CanInt():
		x = float64(r.Int())
	case r.CanUint():
		x = float64(r.Uint())
	default:
		return nil // a name, which SetValue checks
	}
	if !(x >= f.Min && x <= f.Max) {
		return fmt.Errorf("%s is %v: its range is %g to %g", path, v, f.Min, f.Max)
	}
	return nil
}
