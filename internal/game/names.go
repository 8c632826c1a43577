package game

import (
	"hash/fnv"
	"reflect"
)

// HashText returns a hash of a text, the same in each build.
func HashText(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// TypeName returns the name of a Go type for messages and the hash. It has no package, so that two
// builds of one game agree.
func TypeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// TypeNameOf returns TypeName of a type parameter.
func TypeNameOf[T any]() string { return TypeName(reflect.TypeFor[T]()) }
