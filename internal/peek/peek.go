// Package peek reaches unexported fields, for tests that look into both ends of a match. No other
// code imports it.
package peek

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// At returns a pointer to a field of a struct that v points to. path names the fields on the way,
// as in "link.conn"; pointers and interfaces on the way are followed.
func At[T any](v any, path string) *T {
	at := reflect.ValueOf(v)
	for _, name := range strings.Split(path, ".") {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface {
			at = at.Elem()
		}
		f := at.FieldByName(name)
		if !f.IsValid() {
			panic(fmt.Sprintf("peek: %v has no field %s of %s", at.Type(), name, path))
		}
		at = Open(f)
	}
	p, ok := at.Addr().Interface().(*T)
	if !ok {
		panic(fmt.Sprintf("peek: %s is a %v", path, at.Type()))
	}
	return p
}

// Open returns v so that it can be set, also if it is an unexported field. v must be addressable.
func Open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
