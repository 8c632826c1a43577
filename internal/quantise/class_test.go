package quantise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFamilies: each class has a name of its own and is of one family, and the sets agree.
func TestFamilies(t *testing.T) {
	names := map[string]bool{}
	for c := range NumClasses {
		require.True(t, c.Known())
		require.NotEmpty(t, c.Name(), "class %d", c)
		require.False(t, names[c.Name()], "two classes are called %s", c.Name())
		names[c.Name()] = true
		n := 0
		for _, of := range Families() {
			if of(c) {
				n++
			}
		}
		require.Equal(t, 1, n, c.Name())
		require.NotZero(t, c.Size(), c.Name())
		require.Equal(t, c.Number(), c.Integer() || c.Raw() || c.Stepped(), c.Name())
		require.Equal(t, c.Moves(), c.Number() && c != Bool, c.Name())
		require.Equal(t, c.Counts(), c.Signed() || c.Unsigned(), c.Name())
		require.False(t, c.Signed() && c.Unsigned(), c.Name())
		l := leafOf(c)
		require.Equal(t, c.long(), l.Words() > 2, c.Name())
		if c.Number() {
			require.Equal(t, c.Size() == 8 && !c.Stepped(), l.Words() == 2, c.Name())
		}
	}
	require.False(t, NumClasses.Known())
}

func TestIntegerOf(t *testing.T) {
	for _, c := range []struct {
		size   uintptr
		signed bool
		want   Class
		lo, hi int64
	}{
		{1, true, Int8, math.MinInt8, math.MaxInt8},
		{2, true, Int16, math.MinInt16, math.MaxInt16},
		{4, true, Int32, math.MinInt32, math.MaxInt32},
		{8, true, Int64, math.MinInt64, math.MaxInt64},
		{1, false, Uint8, 0, math.MaxUint8},
		{2, false, Uint16, 0, math.MaxUint16},
		{4, false, Uint32, 0, math.MaxUint32},
		{8, false, Uint64, math.MinInt64, math.MaxInt64}, // as bits
	} {
		got := IntegerOf(c.size, c.signed)
		require.Equal(t, c.want, got)
		lo, hi := got.Limits()
		require.Equal(t, [2]int64{c.lo, c.hi}, [2]int64{lo, hi}, got.Name())
		require.Equal(t, c.size, got.Size())
	}
}

// TestSetRange: an integer that fits into a word takes one, with the bits of its range.
func TestSetRange(t *testing.T) {
	for _, c := range []struct {
		class  Class
		lo, hi int64
		words  int
		bits   int
	}{
		{Int64, -5, 10, 1, 4},
		{Int64, math.MinInt32, math.MaxInt32, 1, 32},
		{Int64, 0, math.MaxUint32, 1, 32},
		{Int64, -1, math.MaxUint32, 2, 64},
		{Uint64, 0, 1 << 40, 2, 64},
		{Uint8, 3, 3 + 63, 1, 6},
	} {
		l := Leaf{Class: c.class, Wide: c.class.Size() == 8, Shape: &Shape{Bits: int(8 * c.class.Size())}}
		l.SetRange(c.lo, c.hi)
		require.Equal(t, c.words, l.Words(), "%s from %d to %d", c.class.Name(), c.lo, c.hi)
		require.Equal(t, c.bits, l.Bits, "%s from %d to %d", c.class.Name(), c.lo, c.hi)
	}
}
