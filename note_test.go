package foretick

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
)

func TestNoteGolden(t *testing.T) {
	for _, c := range []struct {
		n    note
		wire []byte
	}{
		{note{substituted: 1, run: 2, how: prediction.Repeated, standIn: []byte{8, 9}}, []byte{1, 17, 0, 0, 8, 9}},
		{note{substituted: 2, effect: 1, system: 4, standIn: []byte{8, 9}, raised: []noteEvent{{1, 1}}}, []byte{2, 0, 1, 4, 0, 8, 9, 1, 1}},
		{note{substituted: 17, how: prediction.Neutral}, []byte{17, 3, 0, 0}},
		{note{effect: 3, system: 7}, []byte{0, 3, 7, 0}},
		{note{effect: 3, system: 7, pushed: 4, by: 2}, []byte{0, 3, 7, 4, 2}},
		{note{pushed: 1}, []byte{0, 0, 1, 0}},
		{note{substituted: 200, run: maxRun, how: prediction.Refused, effect: 1}, []byte{0xC8, 1, 0xFC, 0xFF, 1, 1, 0, 0}},
		{note{effect: 2, system: 3, raised: []noteEvent{{0, 1}, {16, 0}}}, []byte{0, 2, 3, 0, 0, 1, 16, 0}},
		{note{effect: 2, system: 3, raised: []noteEvent{{249, 1}}}, []byte{0, 2, 3, 0, 0xF9, 1, 1}},
	} {
		require.Equal(t, c.wire, c.n.append(nil))
		var n note
		require.NoError(t, n.parse(c.wire, 2))
		if len(n.standIn) == 0 {
			n.standIn = nil
		}
		if len(n.raised) == 0 {
			n.raised = nil
		}
		require.Equal(t, c.n, n)
	}
	long := append([]byte{0, 1, 0, 0}, make([]byte, 2*(maxRaised+1))...)
	for _, bad := range [][]byte{nil, {1}, {0, 1}, {1, 0}, {1, 0, 0, 0}, {1, 0, 0, 0, 8}, {1, 0, 0, 0, 8, 9, 0}, {0, 1, 0, 0, 0xFA, 1, 0}, {0, 0, 1}, {0xFF, 0xFF, 0xFF, 1, 0}, long} {
		var n note
		require.Error(t, n.parse(bad, 2), "%x", bad)
	}
}

func FuzzNote(f *testing.F) {
	recorded(f, byte(messageNote))
	f.Add([]byte{1, 17, 0, 0, 8, 9})
	f.Add([]byte{0xC8, 1, 0, 1, 0, 3, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _ = new(note).parse(b, 2) })
		var n, again note
		if n.parse(b, 2) == nil {
			require.NoError(t, again.parse(n.append(nil), 2))
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
	require.Zero(t, age(0, 5, 0), "never")
	require.EqualValues(t, 1, age(5, 5, 0), "this very tick")
	require.EqualValues(t, 4, age(2, 5, 0))
	require.EqualValues(t, 4, age(2, 5, 1))
	require.Zero(t, age(2, 5, 2), "the client has a snapshot of that tick")
	require.Zero(t, age(1, 1+noteWindow, 0), "too long ago to tell")
}

func FuzzTrail(f *testing.F) {
	f.Add([]byte{9, 0, 0, 0, 2, 1, 1, 2, 3, 4, 0})
	f.Add([]byte{1, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _ = (&Client{theirs: newTrails(8)}).trail(b) })
		c := Client{theirs: newTrails(8)}
		if c.trail(b) != nil {
			return
		}
		tick := binary.LittleEndian.Uint32(b)
		if b[4] > 0 {
			hs := c.theirs.ticks.Find(tick)
			require.True(t, hs == nil && b[4] > 8 || len(*hs) == int(b[5]))
		}
	})
}

func TestTrailRefusesWhatIsMalformed(t *testing.T) {
	for _, bad := range [][]byte{nil, {1, 0, 0, 0}, {1, 0, 0, 0, 33}, {1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 1, 0, 0, 0}, {1, 0, 0, 0, 0, 0}} {
		c := Client{theirs: newTrails(8)}
		require.Error(t, c.trail(bad), "%x", bad)
	}
}
