package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
)

// The client can read the notes of a recorded match.
func FuzzRecordedNote(f *testing.F) {
	recorded(f, byte(game.MessageNote))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l cause.Log
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
		{"a\nschema 1\n", "a\nb\nschema 2\n", "", "b"},
		{"a\nb\nschema 1\n", "a\nschema 2\n", "b", ""},
		{"a\nschema 1\n", "a\nschema 2\n", "schema 1", "schema 2"},
	} {
		a, b := firstDifference(c.ours, c.theirs)
		require.Equal(t, [2]string{c.a, c.b}, [2]string{a, b}, "%q %q", c.ours, c.theirs)
	}
}

// A long description keeps as many of its first lines as fit beside the hashes of the others.
func TestShortenedDescriptions(t *testing.T) {
	long := "aaaaaaaaaaaaaaaaaaaa\nb\ncccccccccccccccccccc\ndddddddddddddddddddd\n"
	require.Equal(t, long, game.Shorten(long, len(long)))
	short := game.Shorten(long, 60)
	require.Equal(t, "aaaaaaaaaaaaaaaaaaaa\nb\ncccccccccccccccccccc\n#3a82e485\n", short, "FNV-1a of the line, as the standard says")
	a, b := firstDifference(long, short)
	require.Equal(t, [2]string{}, [2]string{a, b})
	a, b = firstDifference("aaaaaaaaaaaaaaaaaaaa\nb\ncccccccccccccccccccc\neeeeeeeeeeeeeeeeeeee\n", short)
	require.Equal(t, [2]string{"eeeeeeeeeeeeeeeeeeee", "(something after cccccccccccccccccccc)"}, [2]string{a, b})
	require.Equal(t, "...\n", game.Shorten(long, 12), "no hash fits either")
	require.LessOrEqual(t, len(game.Shorten(long, 30)), 30)
}
