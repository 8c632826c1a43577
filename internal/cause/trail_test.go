package cause

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
)

// filled makes a trail of ticks from … to with n hashes each.
func filled(from, to Tick, n int) *Trail {
	r := NewTrail(TrailTicks)
	for t := from; t <= to; t++ {
		r.Begin(t)
		for i := range n {
			r.Note(t*100 + uint32(i))
		}
	}
	return &r
}

func TestTrailTravels(t *testing.T) {
	sent := filled(1, 40, 3)
	got := NewTrail(8)
	b := sent.Append([]byte("ahead"), 40, 36, 1000)
	require.NoError(t, got.Parse(b[len("ahead"):]))
	for k := Tick(37); k <= 40; k++ {
		require.Equal(t, sent.Of(k), got.Of(k), k)
	}
	require.Nil(t, got.Of(36), "the client has a snapshot of it")
	short := sent.Append(nil, 40, 0, 5+2*13)
	require.EqualValues(t, 2, short[4], "as many ticks as fit")
	require.NotNil(t, sent.Of(9), "the oldest that is kept")
	require.Nil(t, sent.Of(8))
}

func TestFirstDifference(t *testing.T) {
	a, b := filled(1, 9, 3), filled(1, 9, 3)
	_, _, found := FirstDifference(a, b, 1, 9)
	require.False(t, found)
	b.Begin(5)
	b.Note(500)
	b.Note(7)
	b.Begin(7)
	b.Note(1)
	at, i, found := FirstDifference(a, b, 1, 9)
	require.Equal(t, []any{Tick(5), 1, true}, []any{at, i, found}, "in the first system")
	at, i, found = FirstDifference(a, b, 6, 9)
	require.Equal(t, []any{Tick(7), 0, true}, []any{at, i, found}, "ahead of the systems")
	_, _, found = FirstDifference(a, b, 8, 9)
	require.False(t, found)
}

// A trail that keeps nothing takes hashes and has none.
func TestTrailWithoutTick(t *testing.T) {
	r := NewTrail(4)
	r.Note(1)
	require.False(t, r.Begun())
	require.Nil(t, r.Of(0))
}

func TestTrailRefusesWhatIsMalformed(t *testing.T) {
	for _, bad := range [][]byte{nil, {1, 0, 0, 0}, {1, 0, 0, 0, 33}, {1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 1, 0, 0, 0}, {1, 0, 0, 0, 0, 0}} {
		r := NewTrail(8)
		require.ErrorIs(t, r.Parse(bad), ErrTrail, "%x", bad)
	}
}

func FuzzTrail(f *testing.F) {
	f.Add([]byte{9, 0, 0, 0, 2, 1, 1, 2, 3, 4, 0})
	f.Add([]byte{1, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { r := NewTrail(8); _ = r.Parse(b) })
		r := NewTrail(8)
		if r.Parse(b) != nil {
			return
		}
		if b[4] > 0 {
			hs := r.Of(binary.LittleEndian.Uint32(b))
			require.True(t, hs == nil && b[4] > 8 || len(hs) == int(b[5]))
		}
	})
}
