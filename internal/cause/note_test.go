package cause

import (
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/stretchr/testify/require"
)

func TestNoteGolden(t *testing.T) {
	for _, c := range []struct {
		n    Note
		wire []byte
	}{
		{Note{Substituted: 1, Run: 2, How: prediction.Repeated, StandIn: []byte{8, 9}}, []byte{1, 17, 0, 0, 0, 8, 9}},
		{Note{Substituted: 2, Effect: 1, System: 4, StandIn: []byte{8, 9}, Raised: []Raised{{1, 1}}}, []byte{2, 0, 1, 4, 0, 0, 8, 9, 1, 1}},
		{Note{Substituted: 1, How: prediction.Repeated, Earlier: EarlierRun{Gap: 2, Run: 3, How: prediction.Neutral}, StandIn: []byte{8, 9}}, []byte{1, 0x81, 0x80, 2, 2, 27, 0, 0, 0, 8, 9}},
		{Note{Substituted: 17, How: prediction.Neutral}, []byte{17, 3, 0, 0, 0}},
		{Note{Effect: 3, System: 7}, []byte{0, 3, 7, 0, 0}},
		{Note{Effect: 3, System: 7, Pushed: 4, By: 2}, []byte{0, 3, 7, 4, 2, 0}},
		{Note{Pushed: 1}, []byte{0, 0, 1, 0, 0}},
		{Note{Concealed: 7}, []byte{0, 0, 0, 7}},
		{Note{Effect: 3, System: 7, Concealed: 2 * Window, Raised: []Raised{{1, 1}}}, []byte{0, 3, 7, 0, 0xF4, 3, 1, 1}},
		{Note{Substituted: 200, Run: MaxRun, How: prediction.Refused, Effect: 1}, []byte{0xC8, 1, 0xFC, 0xFF, 1, 1, 0, 0, 0}},
		{Note{Effect: 2, System: 3, Raised: []Raised{{0, 1}, {16, 0}}}, []byte{0, 2, 3, 0, 0, 0, 1, 16, 0}},
		{Note{Effect: 2, System: 3, Raised: []Raised{{249, 1}}}, []byte{0, 2, 3, 0, 0, 0xF9, 1, 1}},
	} {
		require.Equal(t, c.wire, c.n.Append(nil))
		var n Note
		require.NoError(t, n.Parse(c.wire, 2))
		if len(n.StandIn) == 0 {
			n.StandIn = nil
		}
		if len(n.Raised) == 0 {
			n.Raised = nil
		}
		require.Equal(t, c.n, n)
	}
	long := append([]byte{0, 1, 0, 0, 0}, make([]byte, 2*(MaxRaised+1))...)
	for _, bad := range [][]byte{nil, {1}, {0, 1}, {1, 0}, {1, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 8}, {1, 0, 0, 0, 0, 8, 9, 0}, {0, 1, 0, 0, 0, 0xFA, 1, 0}, {0, 0, 1}, {0, 0, 0}, {0, 0, 0, 0xF5, 3}, {0, 0, 0, 0x81}, {17, 0x81, 0x80, 2}, {17, 0x81, 0x80, 2, 0, 27, 0, 0, 0}, {17, 0x81, 0x80, 2, 2, 0x81, 0x80, 2, 0, 0, 0}, {0xFF, 0xFF, 0xFF, 1, 0}, long} {
		var n Note
		require.Error(t, n.Parse(bad, 2), "%x", bad)
	}
}

func FuzzNote(f *testing.F) {
	f.Add([]byte{1, 17, 0, 0, 0, 8, 9})
	f.Add([]byte{1, 0x81, 0x80, 2, 2, 27, 0, 0, 0, 8, 9})
	f.Add([]byte{0xC8, 1, 0, 1, 0, 3, 2, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _ = new(Note).Parse(b, 2) })
		var n, again Note
		if n.Parse(b, 2) == nil {
			require.NoError(t, again.Parse(n.Append(nil), 2))
			require.Equal(t, n, again)
		}
	})
}

func TestAge(t *testing.T) {
	require.Zero(t, age(0, 5, 0), "never")
	require.EqualValues(t, 1, age(5, 5, 0), "this very tick")
	require.EqualValues(t, 4, age(2, 5, 0))
	require.EqualValues(t, 4, age(2, 5, 1))
	require.Zero(t, age(2, 5, 2), "the client has a snapshot of that tick")
	require.Zero(t, age(1, 1+Window, 0), "too long ago to tell")
}
