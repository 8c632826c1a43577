package ecs

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// Enum names the values of an integer type from 0 on, for every field of the
// component with that type. Inspectors show the names, and [World.SetValue]
// accepts them.
func Enum[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](names ...string) TypeOption {
	return func(d *typeData) error {
		if d.enums == nil {
			d.enums = map[reflect.Type][]string{}
		}
		d.enums[reflect.TypeFor[T]()] = names
		return nil
	}
}

// Field finds a leaf field by its path, such as "Position.X", and returns it
// with its type. This and the functions below are for configuration, editors
// and inspectors, not for hot paths.
func (t *Types) Field(path string) (TypeInfo, Field, error) {
	d, f, err := findField(t.userTypes(), path)
	if err != nil {
		return TypeInfo{}, Field{}, err
	}
	return d.info(), *f, nil
}

func findField(among []*typeData, path string) (*typeData, *Field, error) {
	name := path
	if i := strings.IndexAny(path, ".["); i >= 0 {
		name = path[:i]
	}
	for _, d := range among {
		if d.name != name && !strings.HasPrefix(path, d.name+".") && !strings.HasPrefix(path, d.name+"[") {
			continue
		}
		for i := range d.fields {
			if d.fields[i].Path == path {
				return d, &d.fields[i], nil
			}
		}
		if d.name == name {
			paths := make([]string, len(d.fields))
			for i, f := range d.fields {
				paths[i] = f.Path
			}
			return nil, nil, fmt.Errorf("ecs: no field %q: %s has %s", path, name, strings.Join(paths, ", "))
		}
	}
	return nil, nil, fmt.Errorf("ecs: no field %q: no type is named %q", path, name)
}

// Value returns a leaf of an entity's component by its path. The error lists
// the valid paths, or says that the entity lacks the component; it wraps
// [ErrStale] when the entity is gone.
func (w *World) Value(e Entity, path string) (any, error) {
	p, f, err := w.leaf(e, path)
	if err != nil {
		return nil, err
	}
	return f.valueAt(p), nil
}

// SetValue sets a leaf of an entity's component by its path. It accepts numbers
// of any type if they fit (including JSON's float64), and names where the field
// has an [Enum]. Otherwise it changes nothing. The error is that of
// [World.Value], or says which values fit.
func (w *World) SetValue(e Entity, path string, v any) error {
	p, f, err := w.leaf(e, path)
	if err != nil {
		return err
	}
	return f.setValueAt(p, v)
}

func (w *World) leaf(e Entity, path string) (unsafe.Pointer, *Field, error) {
	d, f, err := findField(w.types.userTypes(), path)
	if err != nil {
		return nil, nil, err
	}
	if !w.Alive(e) {
		return nil, nil, fmt.Errorf("ecs: %s of %v: %w", path, e, ErrStale)
	}
	p := w.pointer(e, d.id)
	if p == nil {
		return nil, nil, fmt.Errorf("ecs: %s of %v: the entity has no %s", path, e, d.name)
	}
	return unsafe.Add(p, f.Offset), f, nil
}

// userTypes returns the registered components without the hidden one.
func (t *Types) userTypes() []*typeData { return t.slots[1 : t.Len()+1] }

// SingletonValue returns a leaf of a singleton by its path.
func (w *World) SingletonValue(path string) (any, error) {
	d, f, err := findField(w.types.singles, path)
	if err != nil {
		return nil, err
	}
	if debug {
		w.checkSingle(d.slot)
	}
	return f.valueAt(unsafe.Add(w.singles[d.id], f.Offset)), nil
}

// SetSingletonValue sets a leaf of a singleton by its path, like SetValue.
func (w *World) SetSingletonValue(path string, v any) error {
	d, f, err := findField(w.types.singles, path)
	if err != nil {
		return err
	}
	if debug {
		w.checkSingle(d.slot)
	}
	return f.setValueAt(unsafe.Add(w.singles[d.id], f.Offset), v)
}

// SetDefaultValue sets a leaf of a prefab's default by its path, like SetValue.
// A configuration file can use it before the first world exists; after that the
// error wraps [ErrFrozen].
func (t *Types) SetDefaultValue(k *Prefab, path string, v any) error {
	if t.frozen {
		return fmt.Errorf("default %q: %w: set it before", path, ErrFrozen)
	}
	if k.d == nil || k.d.types != t {
		return fmt.Errorf("ecs: default %q: the prefab is not registered here", path)
	}
	d, f, err := findField(t.userTypes(), path)
	if err != nil {
		return err
	}
	p := k.Default(d.id)
	if p == nil {
		return fmt.Errorf("ecs: default %q: prefab %q has no %s", path, k.d.name, d.name)
	}
	return f.setValueAt(unsafe.Add(p, f.Offset), v)
}

func (f *Field) valueAt(p unsafe.Pointer) any { return reflect.NewAt(f.Type, p).Elem().Interface() }

func (f *Field) setValueAt(p unsafe.Pointer, v any) error {
	to, from := reflect.NewAt(f.Type, p).Elem(), reflect.ValueOf(v)
	if !from.IsValid() {
		return fmt.Errorf("ecs: set %s: no value", f.Path)
	}
	if from.Type() == f.Type {
		to.Set(from)
		return nil
	}
	if s, ok := v.(string); ok && len(f.Enum) > 0 {
		for i, name := range f.Enum {
			if name == s {
				return f.writeNumber(to, reflect.ValueOf(i))
			}
		}
		return fmt.Errorf("ecs: set %s: %q is none of %s", f.Path, s, strings.Join(f.Enum, ", "))
	}
	return f.writeNumber(to, from)
}

func (f *Field) writeNumber(to, from reflect.Value) error {
	bad := fmt.Errorf("ecs: set %s: %v (%v) does not fit %v", f.Path, from, from.Type(), f.Type)
	switch {
	case to.Kind() == reflect.Bool && from.Kind() == reflect.Bool:
		to.SetBool(from.Bool())
	case to.Kind() == reflect.String && from.Kind() == reflect.String:
		to.SetString(from.String())
	case to.CanFloat():
		v, ok := asFloat(from)
		if !ok || to.OverflowFloat(v) {
			return bad
		}
		to.SetFloat(v)
	case to.CanInt():
		v, ok := asInt(from)
		if !ok || to.OverflowInt(v) {
			return bad
		}
		to.SetInt(v)
	case to.CanUint():
		v, ok := asUint(from)
		if !ok || to.OverflowUint(v) {
			return bad
		}
		to.SetUint(v)
	default:
		return bad
	}
	return nil
}

func asFloat(v reflect.Value) (float64, bool) {
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}

func asInt(v reflect.Value) (int64, bool) {
	switch {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint():
		return int64(v.Uint()), v.Uint() <= math.MaxInt64
	case v.CanFloat():
		f := v.Float()
		return int64(f), f == math.Trunc(f) && f >= -(1<<63) && f < 1<<63
	}
	return 0, false
}

func asUint(v reflect.Value) (uint64, bool) {
	switch {
	case v.CanUint():
		return v.Uint(), true
	case v.CanInt():
		return uint64(v.Int()), v.Int() >= 0
	case v.CanFloat():
		f := v.Float()
		return uint64(f), f == math.Trunc(f) && f >= 0 && f < 1<<64
	}
	return 0, false
}
