package foretick

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/reason"
)

// Notes of a recorded match are read.
func FuzzRecordedNote(f *testing.F) {
	recorded(f, byte(messageNote))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l reason.Log
		costtest.Bound(t, len(b), func() { _, _ = l.Arrive(b, 2) })
	})
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct{ ours, theirs, a, b string }{
		{"x\ny\n", "x\nz\n", "y", "z"},
		{"x\n", "x\ny\n", "", "y"},
		{"x\ny", "x", "y", ""},
		{"x", "x", "", ""},
		{"a\nc\nd\n", "a\nb\nc\nd\n", "", "b"}, // new on the server
		{"a\nb\nc\n", "a\nc\n", "b", ""},
		{"a\nb 1\nc\n", "a\nb 2\nc\n", "b 1", "b 2"},
		{"a\nb\n", "b\na\n", "a", "b"}, // in another order
	} {
		a, b := firstDifference(c.ours, c.theirs)
		require.Equal(t, [2]string{c.a, c.b}, [2]string{a, b}, "%q %q", c.ours, c.theirs)
	}
}
