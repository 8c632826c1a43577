package quantise

import "math"

// Class is how a leaf is stored in memory and in words. Its number is written in the
// bytes of schemas (docs/STANDARD-snapshot.md), so a new class goes to the end.
//
// To add one, add a constant here, a line in classes, the class to its sets below, and
// a case to this package's switches over classes. A test walks those switches.
type Class uint8

const (
	Bool Class = iota
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32 // raw bits
	Float64
	Step32 // a float32 on a grid
	Step64
	Angle32
	Angle64
	Ref
	Quat   // four words
	Text   // a string
	Length // the length of a slice

	NumClasses // the number of classes
)

// classes lists the properties of each class.
var classes = [NumClasses]struct {
	name string
	typ  string  // typ is the usual Go type. It is "" if there is none.
	size uintptr // size is the size in memory. A rotation's depends on its elements.
}{
	Bool:    {"bool", "bool", 1},
	Int8:    {"int8", "int8", 1},
	Int16:   {"int16", "int16", 2},
	Int32:   {"int32", "int32", 4},
	Int64:   {"int64", "int64", 8},
	Uint8:   {"uint8", "uint8", 1},
	Uint16:  {"uint16", "uint16", 2},
	Uint32:  {"uint32", "uint32", 4},
	Uint64:  {"uint64", "uint64", 8},
	Float32: {"float32", "float32", 4},
	Float64: {"float64", "float64", 8},
	Step32:  {"float32 with a step", "float32", 4},
	Step64:  {"float64 with a step", "float64", 8},
	Angle32: {"float32 angle", "float32", 4},
	Angle64: {"float64 angle", "float64", 8},
	Ref:     {"reference", "", 8},
	Quat:    {"rotation", "", 8},
	Text:    {"string", "string", 8},
	Length:  {"length of a slice", "", 8},
}

// set is a set of classes, a bit for each.
type set uint32

// Sets of classes.
const (
	signed   set = 1<<Int8 | 1<<Int16 | 1<<Int32 | 1<<Int64
	unsigned set = 1<<Uint8 | 1<<Uint16 | 1<<Uint32 | 1<<Uint64
	integers     = signed | unsigned | 1<<Bool
	raw      set = 1<<Float32 | 1<<Float64
	steps    set = 1<<Step32 | 1<<Step64
	angles   set = 1<<Angle32 | 1<<Angle64
	numbers      = integers | raw | steps | angles
	single   set = 1<<Float32 | 1<<Step32 | 1<<Angle32
	varying  set = 1<<Text | 1<<Length
	long     set = 1<<Quat | 1<<Text
)

func (c Class) in(s set) bool { return s>>c&1 != 0 }

// Name returns the name of a class in tests and faults.
func (c Class) Name() string { return classes[c].name }

// Families returns sets of classes by name. Every class is in one of them, and its
// family decides how its words are made. The switches of this package are over
// families.
func Families() map[string]func(Class) bool {
	return map[string]func(Class) bool{
		"integers": Class.Integer, "raw floats": Class.Raw, "floats on a grid": Class.Stepped,
		"references": func(c Class) bool { return c == Ref }, "rotations": func(c Class) bool { return c == Quat },
		"strings": func(c Class) bool { return c == Text }, "slices": func(c Class) bool { return c == Length },
	}
}

// Known reports whether there is such a class.
func (c Class) Known() bool { return c < NumClasses }

// Integer reports whether a field of the class is an integer or a bool.
func (c Class) Integer() bool { return c.in(integers) }

// Counts reports whether a field of the class is an integer and no bool.
func (c Class) Counts() bool { return c.in(signed | unsigned) }

// Signed reports whether a field of the class is a signed integer.
func (c Class) Signed() bool { return c.in(signed) }

// Unsigned reports whether a field of the class is an unsigned integer.
func (c Class) Unsigned() bool { return c.in(unsigned) }

// Raw reports whether a field of the class is a float that is sent as its bits.
func (c Class) Raw() bool { return c.in(raw) }

// Stepped reports whether a field of the class is a float on a grid. Angles are.
func (c Class) Stepped() bool { return c.in(steps | angles) }

// angle reports whether a field of the class is a float that wraps.
func (c Class) angle() bool { return c.in(angles) }

// Number reports whether a field of the class is an integer, a bool or a float.
func (c Class) Number() bool { return c.in(numbers) }

// Moves reports whether a field of the class is a number that has values between two others.
func (c Class) Moves() bool { return c.in(numbers &^ (1 << Bool)) }

// single reports whether a field of the class is a float32.
func (c Class) single() bool { return c.in(single) }

// Varies reports whether values differ in size when sent: strings and slices.
func (c Class) Varies() bool { return c.in(varying) }

// long reports whether a field of the class takes more than two words.
func (c Class) long() bool { return c.in(long) }

// Size returns the number of bytes of memory that a class takes. A rotation's elements
// have their own size.
func (c Class) Size() uintptr { return classes[c].size }

// IntegerOf returns the class of integers of size bytes.
func IntegerOf(size uintptr, signed bool) Class {
	c := Uint8
	if signed {
		c = Int8
	}
	for s := uintptr(1); s < size; s *= 2 {
		c++
	}
	return c
}

// Limits returns the least and greatest value of an integer class. A uint64 is kept in
// an int64 as its bits, so its limits are those of int64.
func (c Class) Limits() (lo, hi int64) {
	n := 8 * c.Size()
	switch {
	case c == Uint64:
		return math.MinInt64, math.MaxInt64
	case c.Unsigned():
		return 0, 1<<n - 1
	}
	return -1 << (n - 1), 1<<(n-1) - 1
}

// UsualType returns the Go type of fields of a class, unless they name another.
func (c Class) UsualType() string { return classes[c].typ }
