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
	require.False(t, b.Has(99), "past")
	require.False(t, b.Has(105), "has not come")
	require.False(t, b.Has(100+32), "beyond the window")
	for k := netcode.Tick(100); k < 105; k++ {
		require.True(t, b.Has(k))
		c, ok := b.Take(k)
		require.False(t, b.Has(k), "taken")
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
	require.LessOrEqual(t, len(s.Append(nil, 500)), 5+1+2+8+19/2+1, "half a byte")
}

func TestCommandsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "size")
		fields := drawFields(t, size)
		s := netcode.NewCommandSender(size, netcode.CommandConfig{Redundancy: 64, Fields: fields})
		b := netcode.NewCommandBuffer(size, 1000, fields...)
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
	s := netcode.NewCommandSender(1, netcode.CommandConfig{Redundancy: 64})
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

// Of several commands for one tick, the one that was made with the newest view runs. It need not come last, but
// it must come in time.
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
		{made(110, 95, 7, 1), 101.5, 3}, // a late command is not measured again
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

// If a tick's command is made again, the server may acknowledge the first command. The second one is still sent
// in three packets. After that it costs no more bytes.
func TestCommandsMadeAgainTravelInThreePackets(t *testing.T) {
	s, b := netcode.NewCommandSender(1, netcode.CommandConfig{}), netcode.NewCommandBuffer(1, 64)
	for k := netcode.Tick(101); k <= 120; k++ {
		s.Push(netcode.Command{Tick: k, Render: 90, Data: []byte{1}})
	}
	for range 3 {
		require.NoError(t, b.Read(s.Append(nil, 1000), 100))
	}
	require.Empty(t, s.Append(nil, 1000))
	for k := netcode.Tick(105); k <= 121; k++ { // the clock was set back
		s.Push(netcode.Command{Tick: k, Render: 95, Data: []byte{2}})
	}
	for lost := range 2 {
		require.NotEmpty(t, s.Append(nil, 1000))
		s.Acked(b.Ack(), true)
		oldest, ok := s.Oldest()
		require.True(t, ok)
		require.EqualValues(t, 105, oldest, "body %d", lost)
	}
	require.NoError(t, b.Read(s.Append(nil, 1000), 101))
	require.EqualValues(t, 16, b.Replaced())
	for k := netcode.Tick(101); k <= 121; k++ {
		c, ok := b.Take(k)
		require.True(t, ok)
		require.Equal(t, k >= 105, c.Data[0] == 2, "tick %d", k)
	}
	s.Acked(b.Ack(), true)
	require.Zero(t, s.Unacked())
	require.Empty(t, s.Append(nil, 1000))

	s.Push(netcode.Command{Tick: 119, Render: 96, Data: []byte{3}})
	s.Acked(121, false)
	require.Zero(t, s.Unacked(), "its tick is past")
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

// A command's earliness is that of its first arrival, whatever its sender wrote into
// the field.
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
	// The command of 101 was lost, and its tick passed. The client learned that and left the command out.
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
	s := netcode.NewCommandSender(1, netcode.CommandConfig{Redundancy: 2})
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
	require.Equal(t, []netcode.Tick{9, 10}, has(s.Append(nil, 15)), "in a small room the newest")
	require.Empty(t, s.Append(nil, 6))
	require.Len(t, has(s.Append(nil, 100)), 10, "what was in too few packets")
	require.Len(t, has(s.Append(nil, 100)), 10, "eight were in one packet, and two are newer")
	require.Empty(t, s.Append(nil, 100), "all were")
	s.Push(netcode.Command{Tick: 11})
	require.Equal(t, []netcode.Tick{11}, has(s.Append(nil, 100)))
	s.Acked(3, false)
	require.Equal(t, 8, s.Unacked())
	s.Acked(2, false)
	require.Equal(t, 8, s.Unacked(), "an old ack changes nothing")
	s.Acked(10, false)
	s.Push(netcode.Command{Tick: 10})
	require.Equal(t, []netcode.Tick{10}, has(s.Append(nil, 100)))
	s.Push(netcode.Command{Tick: 9}) // the clock jumped back
	require.Equal(t, []netcode.Tick{9}, has(s.Append(nil, 100)))
	s.Push(netcode.Command{Tick: 50}) // and forward
	require.Equal(t, []netcode.Tick{9, 50}, has(s.Append(nil, 100)))
	for k := netcode.Tick(51); k < 200; k++ {
		s.Push(netcode.Command{Tick: k})
	}
	require.Equal(t, 64, s.Unacked())
}

// drawFields draws the widths of a command's fields: none, all or some of its bits.
func drawFields(t *rapid.T, size int) (fields []uint8) {
	for left := 8 * size; left > 0 && rapid.IntRange(0, 9).Draw(t, "more") > 0; {
		bits := min(left, rapid.IntRange(1, 64).Draw(t, "bits"))
		fields, left = append(fields, uint8(bits)), left-bits
	}
	return fields
}

// A client that made many commands since the last packet sends all of them, and each in
// three packets.
func TestEveryCommandInThreePackets(t *testing.T) {
	const size = 6
	for _, frame := range []int{1, 2, 6, 12, 26} {
		s := netcode.NewCommandSender(size, netcode.CommandConfig{})
		times := map[netcode.Tick]int{}
		k := netcode.Tick(100)
		for range 40 {
			first := k
			for range frame {
				s.Push(netcode.Command{Tick: k, Data: []byte{byte(k * 31), 1, byte(k * 7), 2, byte(k), 3}})
				k++
			}
			b := netcode.NewCommandBuffer(size, 128)
			require.NoError(t, b.Read(s.Append(nil, 1100), float64(first-2*26)))
			for at := first - 2*26; at < k; at++ {
				_, ok := b.Take(at)
				require.True(t, ok || at < first, "all that is new")
				if ok {
					times[at]++
				}
			}
		}
		for at, n := range times {
			switch {
			case frame > 21: // the sender keeps no more
				require.LessOrEqual(t, n, 3)
			case at < k-netcode.Tick(2*frame):
				require.Equal(t, 3, n, "%d commands a packet, tick %d", frame, at)
			}
		}
	}
}

// With Late, all commands that can still be of use go into every other packet, and into every packet while the
// same tick is acknowledged.
func TestLateCommandsAreSent(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		s := netcode.NewCommandSender(1, netcode.CommandConfig{Late: 5})
		next := netcode.Tick(100)
		oldest := func() netcode.Tick {
			if s.Push(netcode.Command{Tick: next}); stuck {
				s.Acked(90, false)
			}
			next++
			b := netcode.NewCommandBuffer(1, 64)
			require.NoError(t, b.Read(s.Append(nil, 100), 90))
			for k := netcode.Tick(90); ; k++ {
				if _, ok := b.Take(k); ok {
					return next - k
				}
			}
		}
		for range 20 {
			oldest()
		}
		a, b := oldest(), oldest()
		require.EqualValues(t, 5, max(a, b))
		require.EqualValues(t, map[bool]int{false: 3, true: 5}[stuck], min(a, b))
	}
}

// A buffer that keeps late commands returns each once, for as many ticks as KeepLate says, and acknowledges no
// tick that still waits.
func TestLateCommandsAreKept(t *testing.T) {
	s := netcode.NewCommandSender(2, netcode.CommandConfig{Redundancy: 8})
	for _, start := range []netcode.Tick{100, 1<<32 - 3} {
		b, none := netcode.NewCommandBuffer(2, 64), netcode.NewCommandBuffer(2, 64)
		b.KeepLate(4)
		for i := range netcode.Tick(6) {
			s.Push(netcode.Command{Tick: start + i, Data: []byte{byte(i), 7}})
		}
		for _, b := range []*netcode.CommandBuffer{b, none} {
			for i := range netcode.Tick(6) {
				_, ok := b.Take(start + i)
				require.False(t, ok)
			}
		}
		require.Equal(t, start+1, b.AckFrom(start+1))
		require.Equal(t, start+5, b.AckFrom(start+9), "no tick that is to come")
		body := s.Append(nil, 200)
		for range 2 { // the second is a duplicate
			require.NoError(t, b.Read(body, float64(start+5)+0.5))
			require.NoError(t, none.Read(body, float64(start+5)+0.5))
		}
		for i := range netcode.Tick(6) {
			c, ok := b.TakeLate(start + i)
			require.Equal(t, i >= 2, ok, "tick %d", i)
			if ok {
				require.Equal(t, []byte{byte(i), 7}, c.Data)
				require.Less(t, c.Early, int16(0))
			}
			_, ok = b.TakeLate(start + i)
			require.False(t, ok, "once")
			_, ok = none.TakeLate(start + i)
			require.False(t, ok)
		}
		late, duplicate, _, _ := b.Stats()
		require.EqualValues(t, 2, late)
		require.EqualValues(t, 6, duplicate)
		late, _, _, _ = none.Stats()
		require.EqualValues(t, 6, late)
	}
}

// A client and a server that exchange commands and acknowledgements over a bad path read
// the same commands, whatever they are coded relative to: also where the client's clock is
// set back and it makes commands again.
func TestCommandsOnBases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12).Draw(t, "size")
		fields := drawFields(t, size)
		s := netcode.NewCommandSender(size, netcode.CommandConfig{Fields: fields})
		b := netcode.NewCommandBuffer(size, 64, fields...)
		start := rapid.SampledFrom([]uint32{1000, 1<<32 - 20, 1<<31 - 10, 4090}).Draw(t, "start")
		lead := rapid.Uint32Range(1, 8).Draw(t, "lead")
		made := map[netcode.Tick][][]byte{}
		var flying [][]byte
		var acks [][2]netcode.Tick
		next, short, whole := start+lead, 0, 0
		data := make([]byte, size)
		for now := start; now != start+100; now++ {
			if rapid.IntRange(0, 30).Draw(t, "back") == 0 {
				next -= min(lead, 3)
			}
			for netcode.Newer(now+lead+1, next) {
				if rapid.Bool().Draw(t, "change") {
					data[rapid.IntRange(0, size-1).Draw(t, "at")] += byte(rapid.IntRange(1, 255).Draw(t, "by"))
				}
				c := netcode.Command{Tick: next, Render: now - 7, Fraction: byte(now), Offset: byte(now / 16), Data: append([]byte(nil), data...)}
				made[next] = append(made[next], c.Data)
				s.Push(c)
				next++
			}
			body := s.Append(nil, 1000)
			if rapid.IntRange(0, 3).Draw(t, "lost") > 0 {
				flying = append(flying, body)
			}
			if body[0]&1 == 1 {
				short++
			} else {
				whole++
			}
			for len(flying) > 0 && rapid.Bool().Draw(t, "arrives") {
				i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
				require.NoError(t, b.Read(flying[i], float64(now)))
				flying = append(flying[:i], flying[i+1:]...)
			}
			if c, ok := b.Take(now); ok {
				require.Contains(t, made[now], c.Data, "tick %d", now)
				require.EqualValues(t, byte(c.Render+7), c.Fraction)
				require.EqualValues(t, byte((c.Render+7)/16), c.Offset)
			}
			acks = append(acks, [2]netcode.Tick{now, b.Ack()})
			for len(acks) > 0 && rapid.Bool().Draw(t, "acked") {
				s.Acked(acks[0][1], netcode.Newer(acks[0][1], acks[0][0]))
				acks = acks[1:]
			}
		}
		_, _, _, malformed := b.Stats()
		require.Zero(t, malformed)
		require.NotZero(t, whole)
	})
}

// A body whose base is not known any more counts as late, and its commands are not read.
func TestUnknownBase(t *testing.T) {
	s := netcode.NewCommandSender(1, netcode.CommandConfig{})
	s.Push(command(100, 1))
	s.Push(command(101, 2))
	first := s.Append(nil, 100)
	s.Acked(100, true)
	based := s.Append(nil, 100)
	require.Less(t, len(based), len(first)-2)
	newest, ok := netcode.NewestCommand(based, 95)
	require.True(t, ok)
	require.EqualValues(t, 101, newest)
	b := netcode.NewCommandBuffer(1, 32)
	require.NoError(t, b.Read(based, 95))
	late, _, _, malformed := b.Stats()
	require.Equal(t, [2]uint64{1, 0}, [2]uint64{late, malformed})
	_, ok = b.Newest()
	require.False(t, ok)
	require.NoError(t, b.Read(first, 95))
	require.NoError(t, b.Read(based, 95))
	_, duplicate, _, _ := b.Stats()
	require.EqualValues(t, 1, duplicate)

	s.Acked(100, false)
	require.Greater(t, len(s.Append(nil, 100)), len(based), "what the server does not have is no base")
	s.Push(command(99, 9))
	s.Push(command(100, 9))
	s.Push(command(101, 9))
	s.Acked(101, true)
	s.Push(command(102, 9))
	require.Zero(t, s.Append(nil, 100)[0]&1, "the server may have either command of 101")
	s.Acked(102, true)
	s.Push(command(103, 9))
	require.NotZero(t, s.Append(nil, 100)[0]&1)
}
