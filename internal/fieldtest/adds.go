// Package fieldtest checks structs field by field, by reflection, so that a field
// added later is checked as well: configs, and sums of counters.
package fieldtest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/foretick/foretick/internal/peek"
)

// Adds checks that add takes every exported number of T from one into sum, as a sum
// or as the greater of both, and changes no other. The fields named in except are
// left alone by add; a name that T does not have is an error.
func Adds[T any](tb testing.TB, add func(sum, one *T), except ...string) {
	tb.Helper()
	of := reflect.TypeFor[T]()
	unknown(tb, of, except)
	for _, l := range leaves(of) {
		sum, one := new(T), new(T)
		l.in(reflect.ValueOf(one)).Set(number(l.of, 7))
		add(sum, one)
		want := 7.
		if slices.Contains(except, l.top) {
			want = 0
		}
		for _, other := range leaves(of) {
			got := value(other.in(reflect.ValueOf(sum)))
			switch {
			case other.name == l.name && got != want:
				tb.Errorf("%v.Add of %s: 0 and 7 make %g, not %g", of, l.name, got, want)
			case other.name != l.name && got != 0:
				tb.Errorf("%v.Add of %s changes %s", of, l.name, other.name)
			}
		}
		before := value(l.in(reflect.ValueOf(sum)))
		add(sum, new(T))
		if got := value(l.in(reflect.ValueOf(sum))); got != before {
			tb.Errorf("%v.Add of %s: %g and 0 make %g", of, l.name, before, got)
		}
	}
}

// leaf is a number in a struct, or in what the struct holds.
type leaf struct {
	name, top string // in full, and that of the struct's own field
	of        reflect.Type
	path      []int
}

// in returns the number of a struct that p points to.
func (l leaf) in(p reflect.Value) reflect.Value {
	v := p.Elem()
	for _, i := range l.path {
		if v.Kind() == reflect.Struct {
			v = peek.Open(v.Field(i))
		} else {
			v = v.Index(i)
		}
	}
	return v
}

// leaves returns the exported numbers of a struct, and those of counts by an enum: of arrays the
// first and the last.
func leaves(of reflect.Type) (found []leaf) {
	var walk func(l leaf)
	walk = func(l leaf) {
		into := func(name string, of reflect.Type, i int) {
			in := leaf{l.name + name, l.top, of, append(slices.Clone(l.path), i)}
			if in.top == "" {
				in.top = name
			}
			walk(in)
		}
		switch k := l.of.Kind(); {
		case k >= reflect.Int && k <= reflect.Uint64, k == reflect.Float32, k == reflect.Float64:
			found = append(found, l)
		case k == reflect.Struct:
			_, counts := l.of.MethodByName("Of") // by an enum
			for i := range l.of.NumField() {
				if f := l.of.Field(i); f.IsExported() || counts {
					name := f.Name
					if l.name != "" {
						name = "." + name
					}
					into(name, f.Type, i)
				}
			}
		case k == reflect.Array && l.of.Len() > 0:
			into("[0]", l.of.Elem(), 0)
			if n := l.of.Len(); n > 1 {
				into(fmt.Sprintf("[%d]", n-1), l.of.Elem(), n-1)
			}
		}
	}
	walk(leaf{of: of})
	return found
}

func number(of reflect.Type, n int) reflect.Value { return reflect.ValueOf(n).Convert(of) }

func value(v reflect.Value) float64 { return v.Convert(reflect.TypeFor[float64]()).Float() }

// unknown reports names that no field has: what a list says of a field that is gone.
func unknown(tb testing.TB, of reflect.Type, names []string) {
	tb.Helper()
	for _, n := range names {
		inside := func(l leaf) bool { return l.name == n } // of a structure in it, such as Link.Queue
		if _, ok := of.FieldByName(n); !ok && !slices.ContainsFunc(leaves(of), inside) {
			tb.Errorf("%v has no field %s", of, n)
		}
	}
}
