package foretick

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoteGolden(t *testing.T) {
	for _, c := range []struct {
		n    note
		wire []byte
	}{
		{note{substituted: 1}, []byte{1, 0}},
		{note{effect: 3, system: 7}, []byte{0, 3, 7}},
		{note{substituted: 200, effect: 1}, []byte{0xC8, 1, 1, 0}},
		{note{effect: 2, system: 3, raised: []noteEvent{{0, 1}, {16, 0}}}, []byte{0, 2, 3, 0, 1, 16, 0}},
	} {
		require.Equal(t, c.wire, c.n.append(nil))
		var n note
		require.NoError(t, n.parse(c.wire))
		require.Equal(t, c.n, n)
	}
	long := append([]byte{1, 0}, make([]byte, 2*(maxRaised+1))...)
	for _, bad := range [][]byte{nil, {1}, {0, 1}, {1, 0, 0}, {1, 0, 17, 0}, {0xFF, 0xFF, 0xFF, 1, 0}, long} {
		var n note
		require.Error(t, n.parse(bad), "%x", bad)
	}
}

func FuzzNote(f *testing.F) {
	f.Add([]byte{1, 0})
	f.Add([]byte{0xC8, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var n, again note
		if n.parse(b) == nil {
			require.NoError(t, again.parse(n.append(nil)))
			require.Equal(t, n, again)
		}
	})
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct{ ours, theirs, a, b string }{
		{"x\ny\n", "x\nz\n", "y", "z"},
		{"x\n", "x\ny\n", "", "y"},
		{"x\ny", "x", "y", ""},
		{"x", "x", "", ""},
	} {
		a, b := firstDifference(c.ours, c.theirs)
		require.Equal(t, [2]string{c.a, c.b}, [2]string{a, b}, "%q %q", c.ours, c.theirs)
	}
}

func TestAge(t *testing.T) {
	require.Zero(t, age(0, 5), "never")
	require.EqualValues(t, 1, age(5, 5), "this very tick")
	require.EqualValues(t, 4, age(2, 5))
	require.Zero(t, age(1, 1+noteWindow), "too long ago to tell")
}
