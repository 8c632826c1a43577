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
		at = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	p, ok := at.Addr().Interface().(*T)
	if !ok {
		panic(fmt.Sprintf("peek: %s is a %v", path, at.Type()))
	}
	return p
}
