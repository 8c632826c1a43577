package fieldtest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Rules say what numbers mean in the fields of a config. In all others zero means the
// default and a negative number is an error.
type Rules struct {
	// Off names the fields in which a negative number switches something off.
	Off []string
	// Any names the fields in which every number has a meaning: seeds, identities.
	Any []string
	// Needed names the fields in which zero is an error; they are 10 while others are
	// tried.
	Needed []string
}

// Config checks every exported number of a config T. It sets one at a time to zero, to
// negative and huge numbers, to NaN and to infinity, and calls use, which makes what T
// configures, after it has filled in what T needs besides. use must take it, where the
// rules say so, or fail with an error that names the field and says what to do. A panic
// with an error counts as one, as constructors without a result for errors do.
func Config[T any](tb testing.TB, rules Rules, use func(T) error) {
	tb.Helper()
	of := reflect.TypeFor[T]()
	unknown(tb, of, slices.Concat(rules.Off, rules.Any, rules.Needed))
	for _, l := range leaves(of) {
		for _, c := range trials(l.of, l.rule(rules)) {
			cfg := new(T)
			for _, other := range leaves(of) {
				if slices.Contains(rules.Needed, other.name) {
					other.in(reflect.ValueOf(cfg)).Set(number(other.of, 10))
				}
			}
			l.in(reflect.ValueOf(cfg)).Set(c.value)
			fault, err := attempt(func() error { return use(*cfg) })
			if fault == "" {
				fault = c.judge(l.name, err)
			}
			if fault != "" {
				tb.Errorf("%v.%s of %v: %s", of, l.name, c.value, fault)
			}
		}
	}
}

// meaning is what the rules say of a field.
type meaning struct{ off, any, needed bool }

func (l leaf) rule(r Rules) meaning {
	return meaning{slices.Contains(r.Off, l.name), slices.Contains(r.Any, l.name), slices.Contains(r.Needed, l.name)}
}

// trial is a number to try, and whether it must be taken or refused. What is neither may
// be either, if it is refused in words.
type trial struct {
	value       reflect.Value
	take, fails bool
}

func trials(of reflect.Type, m meaning) (all []trial) {
	try := func(v any, take, fails bool) {
		x := reflect.ValueOf(v).Convert(of)
		if m.any {
			take, fails = true, false
		}
		all = append(all, trial{x, take, fails})
	}
	try(0, !m.needed, m.needed)
	switch k := of.Kind(); {
	case k == reflect.Float32 || k == reflect.Float64:
		m.any = false // none of these is a number to reckon with
		for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			try(f, false, true)
		}
		try(-1, m.off, !m.off)
		try(-math.MaxFloat32, m.off, !m.off)
		try(math.MaxFloat32, false, false)
		try(math.SmallestNonzeroFloat32, false, false)
	case k <= reflect.Int64:
		most := int64(math.MaxInt64) >> (64 - of.Bits())
		for _, n := range []int64{-1, -1000, -most, -most - 1} {
			try(n, m.off, !m.off)
		}
		try(most, false, true)
		try(most/2+1, false, of.Bits() > 32) // a gigabyte is no absurd number
		for _, n := range []int64{1, 2, 1 << 16, 1<<31 - 1, 1 << 40, most / 1000} {
			if n <= most {
				try(n, false, false)
			}
		}
	default:
		most := uint64(math.MaxUint64) >> (64 - of.Bits())
		try(most, false, true)
		try(most/2+1, false, of.Bits() > 16)
	}
	return all
}

// fix is what an error that tells what to do has in it.
var fix = regexp.MustCompile(`\b(use|set|raise|may|must|needs)\b`)

// judge returns what is wrong with what became of a trial; "" is nothing.
func (c trial) judge(field string, err error) string {
	short := field[strings.LastIndex(field, ".")+1:]
	switch {
	case err == nil && c.fails:
		return "taken without an error"
	case err == nil:
		return ""
	case c.take:
		return fmt.Sprintf("refused with %q", err)
	case !regexp.MustCompile(`\b` + short + `\b`).MatchString(err.Error()):
		return fmt.Sprintf("the error %q does not name the field", err)
	case !fix.MatchString(err.Error()):
		return fmt.Sprintf("the error %q does not say what to do", err)
	}
	return ""
}

// attempt runs use. A panic is a fault, but of an error that the package raises.
func attempt(use func() error) (fault string, err error) {
	defer func() {
		if p := recover(); p != nil {
			var own runtime.Error
			if e, ok := p.(error); ok && !errors.As(e, &own) {
				err = e
				return
			}
			fault = fmt.Sprintf("panic: %v", p)
		}
	}()
	return "", use()
}
