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
		want := command(k, 1, byte(k), 0)
		want.Early = int16(k-98)*256 - 128
		require.Equal(t, want, c)
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
			w.Early = int16(min(int64(k-netcode.Tick(at))*256, 1<<15-1))
			require.Equal(t, w, got)
		}
	})
}

// body is what a sender of one byte a command says of these ticks.
func body(ticks ...netcode.Tick) []byte {
	s := netcode.NewCommandSender(1, netcode.CommandConfig{Redundancy: 64, Budget: 1 << 16})
	for _, k := range ticks {
		s.Push(command(k, byte(k)))
	}
	return s.Append(nil, 1<<16)
}

func TestCommandsLateDuplicateAndFarAreCounted(t *testing.T) {
	b := netcode.NewCommandBuffer(1, 32)
	require.NoError(t, b.Read(body(99, 100, 101), 100.5))
	early, _ := b.Early()
	require.EqualValues(t, -384, early, "tick 99 came 1.5 ticks late")
	late, duplicate, far, malformed := b.Stats()
	require.Equal(t, [4]uint64{2, 0, 0, 0}, [4]uint64{late, duplicate, far, malformed})
	_, ok := b.Take(100)
	require.False(t, ok, "late commands are not stored for execution")
	_, ok = b.Take(101)
	require.True(t, ok)

	require.NoError(t, b.Read(body(99, 100, 101), 101.5))
	_, ok = b.Early()
	require.False(t, ok, "only first arrivals are measured")
	late, duplicate, _, _ = b.Stats()
	require.Equal(t, [2]uint64{2, 3}, [2]uint64{late, duplicate})

	require.NoError(t, b.Read(body(133, 134), 101.5))
	_, _, far, _ = b.Stats()
	require.EqualValues(t, 1, far)
	early, ok = b.Early()
	require.True(t, ok)
	require.EqualValues(t, (133-101)*256-128, early)
	newest, _ := b.Newest()
	require.EqualValues(t, 133, newest)

	require.ErrorIs(t, b.Read([]byte{1}, 101), netcode.ErrMalformed)
	_, _, _, malformed = b.Stats()
	require.EqualValues(t, 1, malformed)
}

// Of several commands for one tick the one whose maker saw the most runs, whichever
// comes last, if it comes in time.
func TestCommandsMadeAnew(t *testing.T) {
	made := func(tick, render netcode.Tick, fraction, value byte) []byte {
		s := netcode.NewCommandSender(1, netcode.CommandConfig{})
		s.Push(netcode.Command{Tick: tick, Render: render, Fraction: fraction, Data: []byte{value}})
		return s.Append(nil, 100)
	}
	b := netcode.NewCommandBuffer(1, 32)
	for i, c := range []struct {
		body []byte
		at   float64
		want byte
	}{
		{made(110, 95, 7, 1), 100, 1},
		{made(110, 95, 7, 2), 100.5, 1}, // as old: the first stays
		{made(110, 95, 8, 3), 101, 3},   // newer
		{made(110, 95, 7, 1), 101.5, 3}, // what was late is no news
		{made(110, 1<<31+100, 0, 4), 102, 3},
		{made(110, 101, 0, 5), 104, 5},
	} {
		require.NoError(t, b.Read(c.body, c.at))
		got := *b
		x, ok := got.Take(110)
		require.True(t, ok)
		require.Equal(t, c.want, x.Data[0], "%d", i)
	}
	require.EqualValues(t, 2, b.Replaced())
	_, duplicate, _, _ := b.Stats()
	require.EqualValues(t, 3, duplicate)
	early, ok := b.Early()
	require.True(t, ok)
	require.EqualValues(t, 10*256, early, "the first arrival alone steers the clock")
	x, ok := b.Take(110)
	require.True(t, ok)
	require.EqualValues(t, 6*256, x.Early, "but it waited since it was made anew")
	require.NoError(t, b.Read(made(110, 105, 0, 6), 110.5))
	_, ok = b.Take(110)
	require.False(t, ok, "what ran has run")
	require.EqualValues(t, 2, b.Replaced())
}

func TestCommandExactlyAtItsTickIsInTime(t *testing.T) {
	b := netcode.NewCommandBuffer(1, 32)
	require.NoError(t, b.Read(body(100), 100))
	early, ok := b.Early()
	require.True(t, ok)
	require.Zero(t, early)
	_, ok = b.Take(100)
	require.True(t, ok)
}

// How early a command came is told with it, by its first arrival, whatever its
// sender wrote into the field.
func TestCommandTellsHowEarlyItFirstArrived(t *testing.T) {
	s := netcode.NewCommandSender(1, netcode.CommandConfig{})
	b := netcode.NewCommandBuffer(1, 1000)
	send := func(at float64, ticks ...netcode.Tick) {
		for _, k := range ticks {
			s.Push(netcode.Command{Tick: k, Data: []byte{1}, Early: 9999})
		}
		require.NoError(t, b.Read(s.Append(nil, 500), at))
	}
	send(99.75, 100, 102)
	send(101.5, 103, 600) // brings 102 again
	for tick, early := range map[netcode.Tick]int16{102: 576, 103: 384, 600: 1<<15 - 1} {
		b := *b
		c, ok := b.Take(tick)
		require.True(t, ok)
		require.Equal(t, early, c.Early, "tick %d", tick)
	}
	// Late, then for real after the ring has turned: nothing of the old remains.
	require.NoError(t, b.Read(body(102+2048), 2148.5))
	c, ok := b.Take(102 + 2048)
	require.True(t, ok)
	require.EqualValues(t, 384, c.Early)
}

func TestCommandAckGoesAsFarAsNothingIsOpen(t *testing.T) {
	b := netcode.NewCommandBuffer(1, 32)
	require.Zero(t, b.Ack())
	require.NoError(t, b.Read(body(100, 101, 103), 99.5))
	require.EqualValues(t, 101, b.Ack())
	require.NoError(t, b.Read(body(102), 99.75))
	require.EqualValues(t, 103, b.Ack())
	b.Take(104)
	require.EqualValues(t, 104, b.Ack(), "past")
	require.NoError(t, b.Read(body(103), 108.5))
	require.EqualValues(t, 108, b.Ack())
}

func TestCommandsGivenUpAreMeasured(t *testing.T) {
	b := netcode.NewCommandBuffer(1, 32)
	require.NoError(t, b.Read(body(100), 99.5))
	b.Early()
	// 101 was lost, its tick passed, the client was told and left it out.
	require.NoError(t, b.Read(body(102), 101.75))
	early, ok := b.Early()
	require.True(t, ok)
	require.EqualValues(t, -192, early)
	// A gap that is still ahead says nothing.
	require.NoError(t, b.Read(body(105), 102.5))
	early, _ = b.Early()
	require.EqualValues(t, 640, early)
}

func TestCommandBufferAcrossTheWrap(t *testing.T) {
	b := netcode.NewCommandBuffer(1, 32)
	last := netcode.Tick(1<<32 - 3)
	for i := range netcode.Tick(6) {
		k := last + i
		at := float64(k)
		require.NoError(t, b.Read(body(k, k+1), at-0.5+0))
		_, ok := b.Take(k)
		require.True(t, ok, "tick %d", k)
	}
}

func TestSpeedHackGainsNothing(t *testing.T) {
	b := netcode.NewCommandBuffer(1, 32)
	executed := 0
	for k := netcode.Tick(0); k < 300; k++ {
		for i := range netcode.Tick(40) { // 1 200 commands a second at 30 Hz
			require.NoError(t, b.Read(body(k*40+i), float64(k)))
		}
		if _, ok := b.Take(k); ok {
			executed++
		}
		for back := range netcode.Tick(5) {
			_, ok := b.Take(k - back)
			require.False(t, ok)
		}
	}
	require.LessOrEqual(t, executed, 300)
}

func TestSenderKeepsWhatIsNotAcked(t *testing.T) {
	s := netcode.NewCommandSender(1, netcode.CommandConfig{Redundancy: 2, Budget: 30})
	require.Empty(t, s.Append(nil, 100))
	for k := netcode.Tick(1); k <= 10; k++ {
		s.Push(netcode.Command{Tick: k, Offset: byte(k * 17), Data: []byte{byte(k * 31)}})
	}
	has := func(b []byte) (ticks []netcode.Tick) {
		r := netcode.NewCommandBuffer(1, 64)
		require.NoError(t, r.Read(b, 0))
		for k := netcode.Tick(0); k < 64; k++ {
			if _, ok := r.Take(k); ok {
				ticks = append(ticks, k)
			}
		}
		return ticks
	}
	require.Len(t, has(s.Append(nil, 100)), 10, "what is new goes at once")
	b := s.Append(nil, 100)
	require.LessOrEqual(t, len(b), 30)
	got := has(b)
	require.Greater(t, len(got), 2)
	require.EqualValues(t, 10, got[len(got)-1])
	require.Equal(t, []netcode.Tick{9, 10}, has(s.Append(nil, 18)), "in a small room the newest")
	require.Empty(t, s.Append(nil, 6))
	s.Acked(8)
	require.Equal(t, []netcode.Tick{9, 10}, has(s.Append(nil, 100)))
	s.Acked(3)
	require.Equal(t, 2, s.Unacked(), "an old ack changes nothing")
	s.Push(netcode.Command{Tick: 9}) // the clock jumped back
	require.Equal(t, []netcode.Tick{9}, has(s.Append(nil, 100)))
	s.Push(netcode.Command{Tick: 50}) // and forward
	require.Equal(t, []netcode.Tick{9, 50}, has(s.Append(nil, 100)))
	for k := netcode.Tick(51); k < 200; k++ {
		s.Push(netcode.Command{Tick: k})
	}
	require.Equal(t, 64, s.Unacked())
}

// Who made many commands since the last packet sends all of them, whatever the budget
// says, and the oldest of what was sent before as far as that allows.
func TestAllNewCommandsGoAtOnce(t *testing.T) {
	const size = 24
	s, b := netcode.NewCommandSender(size, netcode.CommandConfig{}), netcode.NewCommandBuffer(size, 128)
	k := netcode.Tick(100)
	push := func(n int) {
		for range n {
			data := make([]byte, size)
			for i := range data {
				data[i] = byte(int(k)*31 + i*7 + 1)
			}
			s.Push(netcode.Command{Tick: k, Data: data})
			k++
		}
	}
	push(26)
	body := s.Append(nil, 1100)
	require.Greater(t, len(body), 26*size)
	require.NoError(t, b.Read(body, 90))
	require.EqualValues(t, 26, body[0])
	push(1)
	require.Less(t, len(s.Append(nil, 1100)), 256+1, "the rest goes as far as the budget lets")
	for at := netcode.Tick(100); at < 126; at++ {
		_, ok := b.Take(at)
		require.True(t, ok)
	}
}
