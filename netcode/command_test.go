package netcode_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/netcode"
)

func command(t netcode.Tick, data ...byte) netcode.Command {
	return netcode.Command{Tick: t, Render: t - 9, Fraction: 128, Data: data}
}

func TestCommandsArriveAndAreTakenOnce(t *testing.T) {
	s := netcode.NewCommandSender(3, netcode.CommandConfig{})
	b := netcode.NewCommandBuffer(3, 32)
	for k := netcode.Tick(100); k < 105; k++ {
		s.Push(command(k, 1, byte(k), 0))
	}
	require.NoError(t, b.Read(s.Append(nil, 500), 98.5))
	early, ok := b.Early()
	require.True(t, ok)
	require.EqualValues(t, 384, early)
	_, ok = b.Early()
	require.False(t, ok)
	_, ok = b.Take(99)
	require.False(t, ok)
	require.EqualValues(t, 104, b.Ack())
	for k := netcode.Tick(100); k < 105; k++ {
		c, ok := b.Take(k)
		require.True(t, ok)
		require.Equal(t, command(k, 1, byte(k), 0), c)
		_, ok = b.Take(k)
		require.False(t, ok)
	}
}

func TestUnchangedCommandCostsLessThanAByte(t *testing.T) {
	s := netcode.NewCommandSender(8, netcode.CommandConfig{})
	for k := netcode.Tick(1000); k < 1020; k++ {
		s.Push(command(k, 1, 2, 3, 4, 5, 6, 7, 8))
	}
	require.LessOrEqual(t, len(s.Append(nil, 500)), 4+1+1+2+1+8+2)
}

func TestCommandsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "size")
		s := netcode.NewCommandSender(size, netcode.CommandConfig{Redundancy: 64, Budget: 1 << 20})
		b := netcode.NewCommandBuffer(size, 1000)
		k := rapid.Uint32Range(0, 1<<32-1).Draw(t, "tick")
		at := float64(k)
		want := map[netcode.Tick]netcode.Command{}
		n := rapid.IntRange(1, 64).Draw(t, "n")
		data := make([]byte, size)
		for range n {
			if rapid.Bool().Draw(t, "change") {
				data = rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")
			}
			c := netcode.Command{
				Tick: k, Render: k - rapid.SampledFrom([]uint32{5, 5, 5, 6, 4, 0, 1 << 31}).Draw(t, "render"),
				Fraction: rapid.SampledFrom([]uint8{0, 0, 255}).Draw(t, "fraction"),
				Offset:   rapid.SampledFrom([]uint8{0, 0, 9}).Draw(t, "offset"), Data: data,
			}
			s.Push(c)
			want[k] = c
			k += rapid.SampledFrom([]uint32{1, 1, 1, 1, 2, 9}).Draw(t, "step")
		}
		require.NoError(t, b.Read(s.Append(nil, 1<<20), at))
		for k, w := range want {
			b2 := *b
			got, ok := b2.Take(k)
			require.True(t, ok)
			require.Equal(t, w, got)
		}
	})
}
