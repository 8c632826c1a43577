package campaign

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/foretick/foretick/simtest"
)

// Flat checks that memory and the number of goroutines do not grow during a long
// match. It measures at quiet points (see Plan.Quiet), after a garbage
// collection. It measures the whole process, so the process must do no other work.
type Flat struct {
	// Every is the minimum time between measurements. 0 means an hour.
	Every time.Duration
	// Growth is the allowed growth of the heap from the first measurements to
	// the last, as a share; see HeapGrowth. 0 means 0.02.
	Growth float64
	// Allowance is allowed in addition, in bytes, for matches so short that the
	// growth of a single table shows. 0 means 64 KiB.
	Allowance uint64

	next       time.Duration
	heaps      []uint64
	goroutines []int
}

// Tick implements [simtest.Checker].
func (f *Flat) Tick(*simtest.Match) error { return nil }

// Quiet implements [simtest.Checker]: it measures, at most once in Every.
func (f *Flat) Quiet(m *simtest.Match) error {
	if f.Every == 0 {
		f.Every = time.Hour
	}
	if f.next == 0 {
		f.next = f.Every
	}
	if now := m.Net.Now(); now >= f.next {
		f.next = max(f.next+f.Every, now)
		f.measureHeap()
	}
	return nil
}

func (f *Flat) measureHeap() {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // the second one empties pools, and frees what finalizers kept
	runtime.ReadMemStats(&s)
	n := runtime.NumGoroutine()
	for range 16 { // let goroutines of the collector end
		runtime.Gosched()
		n = min(n, runtime.NumGoroutine())
	}
	f.heaps, f.goroutines = append(f.heaps, s.HeapAlloc), append(f.goroutines, n)
}

// Heaps returns the measurements of the heap so far, in bytes.
func (f *Flat) Heaps() []uint64 { return f.heaps }

// quarterMedians returns the medians of the first and of the last quarter of the
// measurements. Single values vary by some percent with the age of the players'
// sessions.
func (f *Flat) quarterMedians() (first, last uint64) {
	n := max(len(f.heaps)/4, 1)
	return median(f.heaps[:n]), median(f.heaps[len(f.heaps)-n:])
}

func median(of []uint64) uint64 {
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// HeapGrowth returns the growth of the heap in percent, from the median of the
// first quarter of the measurements to that of the last.
func (f *Flat) HeapGrowth() float64 {
	if len(f.heaps) < 2 {
		return 0
	}
	first, last := f.quarterMedians()
	return 100 * (float64(last)/float64(first) - 1)
}

// GoroutinesDelta returns the change of the number of goroutines.
func (f *Flat) GoroutinesDelta() int {
	if len(f.goroutines) < 2 {
		return 0
	}
	return f.goroutines[len(f.goroutines)-1] - f.goroutines[0]
}

// Worked implements [simtest.Checker].
func (f *Flat) Worked(*simtest.Match) (string, error) {
	if len(f.heaps) < 2 {
		return "", fmt.Errorf("measured %d times: the match is shorter than two of Every, %v", len(f.heaps), f.Every)
	}
	first, last := f.quarterMedians()
	line := fmt.Sprintf("flat: %d measurements, heap %d → %d B (%+.2f %%), goroutines %+d", len(f.heaps), first, last, f.HeapGrowth(), f.GoroutinesDelta())
	growth, allowance := f.Growth, f.Allowance
	if growth == 0 {
		growth = 0.02
	}
	if allowance == 0 {
		allowance = 64 << 10
	}
	if float64(last) > float64(first)*(1+growth)+float64(allowance) || f.GoroutinesDelta() > 0 {
		return line, fmt.Errorf("not flat: %s", line)
	}
	return line, nil
}

// MapEntries counts the entries of every map that can be reached from a value,
// by the path to the map, without empty maps. It reads unexported fields, and
// follows pointers, interfaces, slices and map values, but not functions.
func MapEntries(root any) map[string]int {
	w := walker{seen: map[visit]bool{}, found: map[string]int{}}
	w.walk(reflect.ValueOf(root), reflect.TypeOf(root).String())
	return w.found
}

type visit struct {
	at  uintptr
	typ reflect.Type
}

type walker struct {
	seen  map[visit]bool
	found map[string]int
}

func (w *walker) walk(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		k := visit{v.Pointer(), v.Type()}
		if v.IsNil() || w.seen[k] {
			return
		}
		w.seen[k] = true
		w.walk(v.Elem(), path)
	case reflect.Interface:
		if !v.IsNil() && v.Elem().Kind() != reflect.Func {
			w.walk(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Array:
		if holdsPointers(v.Type().Elem(), nil) {
			for i := range v.Len() {
				w.walk(v.Index(i), path+"[]")
			}
		}
	case reflect.Map:
		if n := v.Len(); n > 0 {
			w.found[path] += n
		}
		for it := v.MapRange(); it.Next(); {
			w.walk(it.Value(), path+"{}")
		}
	}
}

// holdsPointers reports whether values of a type can reach other values.
func holdsPointers(t reflect.Type, within []reflect.Type) bool {
	if slices.Contains(within, t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return holdsPointers(t.Elem(), within)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsPointers(t.Field(i).Type, append(within, t)) {
				return true
			}
		}
	}
	return false
}
