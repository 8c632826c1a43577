package ecs

import (
	"reflect"
	"strconv"
	"strings"
)

// span is a range of bytes [from, to) of a type that hold a value, not padding.
type span struct{ from, to uintptr }

// pointerPaths appends the paths of fields that the garbage collector must see.
// The first element represents all elements of an array.
func pointerPaths(t reflect.Type, path string, out []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.String, reflect.Chan,
		reflect.Func, reflect.Interface, reflect.UnsafePointer:
		return append(out, path)
	case reflect.Array:
		if t.Len() > 0 {
			return pointerPaths(t.Elem(), path+"[0]", out)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			out = pointerPaths(f.Type, path+"."+f.Name, out)
		}
	}
	return out
}

// valueSpans lists the bytes that hold values, joining neighbours. Blank fields
// count as padding.
func valueSpans(t reflect.Type) (out []span) {
	eachValue(t, 0, func(t reflect.Type, at uintptr) {
		if n := len(out); n > 0 && out[n-1].to == at {
			out[n-1].to = at + t.Size()
		} else {
			out = append(out, span{at, at + t.Size()})
		}
	})
	return out
}

// eachValue visits the parts of a type that hold values, in the order of its fields: everything that is not a
// struct, an array or empty. Fields named _ hold no values.
func eachValue(t reflect.Type, at uintptr, visit func(t reflect.Type, at uintptr)) {
	switch {
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" {
				eachValue(f.Type, at+f.Offset, visit)
			}
		}
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			eachValue(t.Elem(), at+uintptr(i)*t.Elem().Size(), visit)
		}
	case t.Size() > 0:
		visit(t, at)
	}
}

// Field is a leaf of a registered type: a number, a bool, a string, or anything
// else that is not a struct or an array.
type Field struct {
	Path   string       // starts with the type's name, such as "Position.X" or "Bag.Items[2].Count"
	Type   reflect.Type // Go type of the leaf
	Offset uintptr      // bytes from the start of the row
	Tag    reflect.StructTag
	Enum   []string // names of its values from 0, if given with Enum, or by its tag, as in enum:"idle,run"
}

// enumOf returns the names of a field's values: those of its tag, as in enum:"idle,run", or
// those given with Enum.
func enumOf(d *typeData, t reflect.Type, tag reflect.StructTag) []string {
	named := tag.Get("enum")
	if named == "" || t.Kind() < reflect.Int || t.Kind() > reflect.Uint64 {
		return d.enums[t]
	}
	return strings.Split(named, ",")
}

func fieldsOf(d *typeData) []Field {
	var out []Field
	var walk func(t reflect.Type, path string, at uintptr, tag reflect.StructTag)
	walk = func(t reflect.Type, path string, at uintptr, tag reflect.StructTag) {
		switch {
		case t.Kind() == reflect.Struct:
			for i := range t.NumField() {
				if f := t.Field(i); f.Name != "_" {
					walk(f.Type, path+"."+f.Name, at+f.Offset, f.Tag)
				}
			}
		case t.Kind() == reflect.Array:
			for i := range t.Len() {
				walk(t.Elem(), path+"["+strconv.Itoa(i)+"]", at+uintptr(i)*t.Elem().Size(), tag)
			}
		default:
			out = append(out, Field{Path: path, Type: t, Offset: at, Tag: tag, Enum: enumOf(d, t, tag)})
		}
	}
	walk(d.rtype, d.name, 0, "")
	return out
}
