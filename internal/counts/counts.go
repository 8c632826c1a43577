// Package counts writes structs of counters as one line.
package counts

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Line returns the fields of a struct of counters that are not zero, in their order,
// such as "ticks 900, packets out 1800". Fields of struct types follow as their own,
// arrays and fields named in skip are left out. It allocates, and is for logs.
func Line(v any, skip ...string) string {
	var parts []string
	of := reflect.ValueOf(v)
	for i := range of.NumField() {
		field, f := of.Type().Field(i), of.Field(i)
		if !field.IsExported() || f.IsZero() || slices.Contains(skip, field.Name) {
			continue
		}
		if text := value(f); text != "" {
			parts = append(parts, words(field.Name)+" "+text)
		}
	}
	if len(parts) == 0 {
		return "nothing counted"
	}
	return strings.Join(parts, ", ")
}

func value(f reflect.Value) string {
	switch v := f.Interface().(type) {
	case time.Duration:
		return v.Round(time.Microsecond).String()
	case fmt.Stringer:
		return "(" + v.String() + ")"
	}
	switch f.Kind() {
	case reflect.Array, reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer:
		return ""
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("%.3g", f.Float())
	default:
		return fmt.Sprint(f.Interface())
	}
}

// Add adds each counter of a struct to that of another one of its type. Both are pointers.
func Add(to, from any) {
	of, more := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range of.NumField() {
		if f := of.Field(i); f.CanUint() {
			f.SetUint(f.Uint() + more.Field(i).Uint())
		}
	}
}

// Each calls fn with the name and the value of each counter of a struct, in their order.
func Each(v any, fn func(name string, n uint64)) {
	of := reflect.ValueOf(v)
	for i := range of.NumField() {
		if f := of.Field(i); f.CanUint() {
			fn(of.Type().Field(i).Name, f.Uint())
		}
	}
}

// Words splits a Go name into lower-case words, as [Line] writes it.
func Words(name string) string { return words(name) }

// words splits a Go name into lower-case words, abbreviations apart: "RTT", "packets out".
func words(name string) string {
	var b strings.Builder
	rs := []rune(name)
	for i, r := range rs {
		upper := unicode.IsUpper(r)
		if upper && i > 0 && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])) {
			b.WriteByte(' ')
		}
		if next := i+1 < len(rs) && unicode.IsUpper(rs[i+1]); upper && !next && (i == 0 || !unicode.IsUpper(rs[i-1]) || i+1 < len(rs)) {
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Of returns the count of e in counts by an enum. It is 0 for a value that the enum does not have.
func Of[E ~uint8](by []uint64, e E) uint64 {
	if int(e) < len(by) {
		return by[e]
	}
	return 0
}

// All returns counts by an enum with its values, in their order.
func All[E ~uint8](by []uint64) iter.Seq2[E, uint64] {
	return func(yield func(E, uint64) bool) {
		for e, n := range by {
			if !yield(E(e), n) {
				return
			}
		}
	}
}

// Named returns the counts by an enum that are not zero with the names of its values, such as
// "input 3, server_effect 9", or "none". It allocates, and is for logs.
func Named[E interface {
	~uint8
	fmt.Stringer
}](by []uint64) string {
	var parts []string
	for e, n := range All[E](by) {
		if n > 0 {
			parts = append(parts, fmt.Sprint(e, " ", n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
