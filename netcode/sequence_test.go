package netcode_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/netcode"
)

func TestNewerAndDistanceAcrossTheWrap(t *testing.T) {
	for _, c := range []struct {
		a, b     netcode.Seq
		newer    bool
		distance int
	}{
		{1, 0, true, 1}, {0, 1, false, -1}, {5, 5, false, 0},
		{0, 65535, true, 1}, {65535, 0, false, -1},
		{32767, 0, true, 32767}, {32768, 0, false, -32768}, {0, 32768, false, -32768},
		{100, 65000, true, 636},
	} {
		require.Equal(t, c.newer, netcode.Newer(c.a, c.b), "%v", c)
		require.Equal(t, c.distance, netcode.Distance(c.a, c.b), "%v", c)
	}
	require.True(t, netcode.Newer(uint8(3), uint8(250)))
	require.True(t, netcode.Newer(netcode.Tick(3), netcode.Tick(1<<32-5)))
	require.Equal(t, -8, netcode.Distance(uint64(1<<64-5), uint64(3)))
}

func TestNewerIsAntisymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint16().Draw(t, "a"), rapid.Uint16().Draw(t, "b")
		require.False(t, netcode.Newer(a, b) && netcode.Newer(b, a))
		if a-b != 1<<15 {
			require.Equal(t, a != b, netcode.Newer(a, b) || netcode.Newer(b, a))
			require.Equal(t, netcode.Distance(a, b), -netcode.Distance(b, a))
		}
		require.Equal(t, a, b+netcode.Seq(netcode.Distance(a, b)))
	})
}

func TestSequenceBuffer(t *testing.T) {
	b := netcode.NewSequenceBuffer[[]byte](5)
	require.Equal(t, 8, b.Size())
	require.Nil(t, b.Find(0), "an empty buffer holds no number, 0 included")
	s := b.Insert(65535)
	require.Nil(t, *s)
	*s = []byte("old")
	require.Equal(t, "old", string(*b.Find(65535)))
	require.Nil(t, b.Find(65527), "another number of the same slot")
	s = b.Insert(7)
	require.Equal(t, "old", string(*s), "the slot keeps its buffers for reuse")
	require.Nil(t, b.Find(65535), "evicted")
	b.Remove(65535)
	require.NotNil(t, b.Find(7), "removing what is not held changes nothing")
	b.Remove(7)
	require.Nil(t, b.Find(7))
	require.Equal(t, 1, netcode.NewSequenceBuffer[int](-3).Size())
	require.Equal(t, 1<<16, netcode.NewSequenceBuffer[int](1<<20).Size())
}

// The buffer agrees with a map of the last n numbers inserted.
func TestSequenceBufferAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := netcode.NewSequenceBuffer[int](16)
		seq := rapid.Uint16().Draw(t, "start")
		model := map[netcode.Seq]int{}
		for i := range 100 {
			seq += rapid.Uint16Range(1, 3).Draw(t, "step")
			*b.Insert(seq) = i
			for k := range model {
				if (k-seq)%16 == 0 {
					delete(model, k)
				}
			}
			model[seq] = i
			for d := range netcode.Seq(40) {
				want, held := model[seq-d]
				got := b.Find(seq - d)
				require.Equal(t, held, got != nil)
				if held {
					require.Equal(t, want, *got)
				}
			}
		}
	})
}
