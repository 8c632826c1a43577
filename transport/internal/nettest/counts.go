package nettest

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/foretick/foretick/transport"
)

// FillCounters sets each counter of a struct of counters to another number, which is more than it was.
func FillCounters(counters any) {
	v := reflect.ValueOf(counters).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Uint64 {
			f.SetUint(f.Uint() + uint64(1000*(i+1)))
		}
	}
}

// Counts tests that an endpoint's AppendCounts has each field of its Counters, under the field's name in small letters,
// and allocates nothing.
func Counts(t *testing.T, layer string, counters any, of transport.Counted) {
	t.Helper()
	v, all := reflect.ValueOf(counters), of.AppendCounts(nil)
	for i := range v.NumField() {
		if v.Field(i).Kind() != reflect.Uint64 {
			continue
		}
		name, found := small(v.Type().Field(i).Name), 0
		for _, c := range all {
			if c.Layer != layer || c.Name != name {
				continue
			}
			if found++; c.N != v.Field(i).Uint() {
				t.Errorf("%s %s is %d, and %d in AppendCounts", layer, name, v.Field(i).Uint(), c.N)
			}
		}
		if found != 1 {
			t.Errorf("%s %s is %d times in AppendCounts", layer, name, found)
		}
	}
	if n := testing.AllocsPerRun(100, func() { of.AppendCounts(all[:0]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// small returns a Go name in small letters: BadCookie is bad_cookie.
func small(name string) string {
	var b strings.Builder
	low := false
	for _, r := range name {
		if unicode.IsUpper(r) && low {
			b.WriteByte('_')
		}
		low = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
