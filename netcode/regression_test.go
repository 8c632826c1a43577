package netcode_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// Faults that transports of this kind have shipped and fixed.

func streamMessage(first uint16, entries ...byte) []byte {
	body := append(binary.LittleEndian.AppendUint16(nil, first), entries...)
	return append(binary.AppendUvarint([]byte{1}, uint64(len(body))), body...)
}

func TestZeroLengthFragments(t *testing.T) {
	for name, entry := range map[string][]byte{
		"first of several": {1, 9, 0, 0},
		"in the middle":    {0, 0},
		"last of several":  {2, 0},
	} {
		c := netcode.NewConn(netcode.Config{})
		require.ErrorIs(t, c.Receive(0, bare(0, streamMessage(0, entry...)...)), netcode.ErrMalformed, name)
		require.EqualValues(t, 1, c.Stats().Malformed)
	}
	c := netcode.NewConn(netcode.Config{})
	require.NoError(t, c.Receive(0, bare(0, streamMessage(0, 3, 9, 0, 0)...)))
	r, ok := c.NextReliable()
	require.True(t, ok, "a whole message may be empty")
	require.Empty(t, r.Payload)
}

func TestHugeFragmentNumbersAllocateNothing(t *testing.T) {
	costtest.Allocations(t)
	c := netcode.NewConn(netcode.Config{})
	huge := binary.AppendUvarint(nil, 1<<62)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range uint16(100) {
		entry := append(append([]byte(nil), huge...), 1, 9)
		require.ErrorIs(t, c.Receive(0, bare(i, streamMessage(0, entry...)...)), netcode.ErrMalformed)
		length := append([]byte{3, 9, 0}, huge...)
		require.ErrorIs(t, c.Receive(0, bare(i, streamMessage(0, length...)...)), netcode.ErrMalformed)
		// The farthest entry that may be ahead, and the one after it.
		require.ErrorIs(t, c.Receive(0, bare(i, streamMessage(256, 0, 1, 9)...)), netcode.ErrBacklog)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	require.NoError(t, c.Receive(0, bare(0, streamMessage(255, 0, 1, 9)...)))
}

func TestFragmentsThatNeverEnd(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	entry := append([]byte{0, 0x80, 2}, make([]byte, 256)...)
	var err error
	packets := 0
	for id := uint16(0); err == nil && packets < 1000; id++ {
		e := entry
		if id == 0 {
			e = append([]byte{1, 9, 0, 0x80, 2}, make([]byte, 256)...)
		}
		err = c.Receive(0, bare(id, streamMessage(id, e...)...))
		_, ok := c.NextReliable()
		require.False(t, ok)
		packets++
	}
	require.ErrorIs(t, err, netcode.ErrMalformed)
	require.Equal(t, netcode.MaxReliable/256+2, packets)
	require.NoError(t, c.Receive(0, bare(2000, 40, 0)), "packets without stream entries still pass")
}

func TestFragmentsOfTwoMessagesDoNotMerge(t *testing.T) {
	for name, entries := range map[string][][]byte{
		"a message begins inside another":  {{1, 9, 0, 1, 'a'}, {1, 9, 0, 1, 'b'}, {2, 1, 'c'}},
		"a whole message inside another":   {{1, 9, 0, 1, 'a'}, {3, 9, 0, 1, 'b'}, {2, 1, 'c'}},
		"a fragment without its beginning": {{0, 1, 'a'}, {2, 1, 'c'}, {3, 9, 0, 1, 'd'}},
	} {
		c := netcode.NewConn(netcode.Config{})
		for _, i := range []uint16{2, 0, 1} {
			require.NoError(t, c.Receive(0, bare(i, streamMessage(i, entries[i]...)...)), name)
		}
		_, ok := c.NextReliable()
		require.False(t, ok, name)
		require.ErrorIs(t, c.Receive(0, bare(3, streamMessage(3, 3, 9, 0, 0)...)), netcode.ErrMalformed, name)
	}
	// Overlapping entries: the first arrival counts.
	c := netcode.NewConn(netcode.Config{})
	require.NoError(t, c.Receive(0, bare(0, streamMessage(1, 2, 1, 'b')...)))
	require.NoError(t, c.Receive(0, bare(1, streamMessage(1, 3, 9, 0, 1, 'x')...)))
	require.NoError(t, c.Receive(0, bare(2, streamMessage(0, 1, 9, 0, 1, 'a')...)))
	r, ok := c.NextReliable()
	require.True(t, ok)
	require.Equal(t, "ab", string(r.Payload))
}

func TestAckFarOutsideTheWindow(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	for i := range 100 {
		c.Begin(time.Duration(i) * ms).Finish()
	}
	for i, ack := range []uint16{100, 101, 5000, 32000, 32866, 32867, 33000, 60000, 65535} {
		require.ErrorIs(t, c.Receive(200*ms, raw(uint16(i), ack)), netcode.ErrMalformed, "ack of unsent %d", ack)
	}
	require.EqualValues(t, 9, c.Stats().FalseAcks)
	_, ok := c.NextFate()
	require.False(t, ok)
	require.NoError(t, c.Receive(200*ms, raw(10, 99)))
	f, ok := c.NextFate()
	require.True(t, ok)
	require.Equal(t, netcode.Fate{Seq: 99, Delivered: true}, f)
	n := 0
	for f, ok = c.NextFate(); ok; f, ok = c.NextFate() {
		require.False(t, f.Delivered)
		require.Less(t, f.Seq, netcode.Seq(99-32))
		n++
	}
	require.Equal(t, 99-32, n)
	require.NoError(t, c.Receive(300*ms, raw(11, 0)), "an old ack, out of order")
	_, ok = c.NextFate()
	require.False(t, ok, "no fate is told twice")
}

// ackOf is what c acknowledges now.
func ackOf(c *netcode.Conn, now time.Duration) (ack uint16, known bool) {
	_, b := c.Begin(now).Finish()
	if b[4]&0x10 == 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint16(b[7:]), true
}

func TestForgedFarFutureSequence(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	honest := uint16(0)
	say := func(n int) {
		for range n {
			require.NoError(t, c.Receive(0, bare(honest)), "honest packet %d", honest)
			honest++
		}
	}
	_, known := ackOf(c, 0)
	require.False(t, known)
	say(40)
	for _, far := range []uint16{3000, 10000, 32767, 40000, 60000} {
		require.ErrorIs(t, c.Receive(0, bare(honest+far)), netcode.ErrStale, "%d ahead", far)
	}
	for range 200 { // a forger as busy as the peer
		require.NoError(t, c.Receive(0, bare(honest+2000)))
		ack, _ := ackOf(c, 0)
		require.Equal(t, honest-1, ack, "acks name what the peer sent")
		say(1)
	}
	// Two in a row move the line; the honest peer gets it back with two.
	require.NoError(t, c.Receive(0, bare(honest+2010)))
	require.NoError(t, c.Receive(0, bare(honest+2011)))
	say(3)
	ack, _ := ackOf(c, 0)
	require.Equal(t, honest-1, ack)
	say(1500)
	require.EqualValues(t, 5, c.Stats().Stale)
}

func TestPeerBackFromSilenceIsUnderstood(t *testing.T) {
	for _, gap := range []uint16{1, 31, 33, 64, 640, 2000} {
		c := netcode.NewConn(netcode.Config{})
		seq := uint16(0)
		for ; seq < 100; seq++ {
			require.NoError(t, c.Receive(0, bare(seq)))
		}
		seq += gap
		require.NoError(t, c.Receive(0, bare(seq)))
		require.NoError(t, c.Receive(0, bare(seq+1)))
		ack, _ := ackOf(c, 0)
		require.Equal(t, seq+1, ack)
	}
}

// TestSequenceWrap talks through five wraps of the sequence, with losses,
// duplicates and delays, and wants each fate once and each packet once.
func TestSequenceWrap(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{FixedRate: true}), netcode.NewConn(netcode.Config{FixedRate: true})
	const packets = 5 << 16
	var delivered, lost, sent, received, events int
	var held []byte
	open := map[netcode.Seq]bool{}
	for i := range packets {
		now := time.Duration(i) * 10 * ms
		if i%3 == 0 && a.Pending() < 50 {
			require.NoError(t, a.SendReliable(netcode.Tick(events), 1, nil))
			events++
		}
		p := a.Begin(now)
		for f, ok := a.NextFate(); ok; f, ok = a.NextFate() {
			if !open[f.Seq] { // require alone takes as long as the rest of the test
				require.Failf(t, "a fate comes twice", "packet %d", f.Seq)
			}
			delete(open, f.Seq)
			if f.Delivered {
				delivered++
			} else {
				lost++
			}
		}
		seq, d := finish(p)
		open[seq] = true
		sent++
		if i%7 != 0 {
			if err := b.Receive(now, d); err != nil {
				require.NoError(t, err)
			}
			received++
			if err := b.Receive(now, d); !errors.Is(err, netcode.ErrDuplicate) {
				require.ErrorIs(t, err, netcode.ErrDuplicate)
			}
		}
		if held != nil && i%5 == 0 {
			_ = b.Receive(now, held)
		}
		if i%11 == 0 {
			held = d
		}
		for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
			if want := netcode.Tick(b.Stats().ReliableReceived - 1); r.Tick != want {
				require.Equal(t, want, r.Tick)
			}
		}
		if i%2 == 0 {
			_, d = finish(b.Begin(now))
			if err := a.Receive(now, d); err != nil {
				require.NoError(t, err)
			}
		}
	}
	require.Equal(t, sent, delivered+lost+len(open))
	require.Less(t, len(open), 256)
	require.InDelta(t, received, delivered, packets/50)
	require.InDelta(t, events, b.Stats().ReliableReceived, 60)
	require.Greater(t, events, 1<<16, "the stream's numbers wrap as well")
}

func TestPacketRefusedForALimitIsNotAcked(t *testing.T) {
	a, b := netcode.NewConn(netcode.Config{FixedRate: true, Rate: 1 << 20}), netcode.NewConn(netcode.Config{})
	for i := range 600 {
		require.NoError(t, a.SendReliable(netcode.Tick(i), 1, make([]byte, 200)))
	}
	refused := 0
	got := 0
	for i := range 400 {
		now := time.Duration(i) * tick
		_, d := finish(a.Begin(now))
		before := b.Stats().Received
		if err := b.Receive(now, d); err != nil {
			require.ErrorIs(t, err, netcode.ErrBacklog)
			require.Equal(t, before, b.Stats().Received)
			refused++
		}
		_, d = finish(b.Begin(now))
		require.NoError(t, a.Receive(now, d))
		if i < 200 {
			continue // the application does not read
		}
		for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
			require.EqualValues(t, got, r.Tick)
			got++
		}
	}
	require.Positive(t, refused)
	require.EqualValues(t, refused, b.Stats().Backlog)
	require.Equal(t, 600, got)
	require.Zero(t, a.Pending())
}

// A peer may fill a packet with the smallest messages, and never stop.
func TestMostMessagesOfAPacket(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	messages := make([]byte, 0, 1200)
	for len(messages) < 1180 {
		messages = append(messages, 200, 0)
	}
	require.NoError(t, c.Receive(0, bare(0, messages...)))
	n := 0
	for _, ok := c.NextMessage(); ok; _, ok = c.NextMessage() {
		n++
	}
	require.Equal(t, 590, n)
	require.ErrorIs(t, c.Receive(0, bare(1, 0, 0)), netcode.ErrMalformed)
	require.ErrorIs(t, c.Receive(0, bare(1, 15, 0)), netcode.ErrMalformed)
	require.ErrorIs(t, c.Receive(0, bare(1, 200)), netcode.ErrMalformed)
	require.ErrorIs(t, c.Receive(0, bare(1, 200, 0x80, 0)), netcode.ErrMalformed)
	require.ErrorIs(t, c.Receive(0, bare(1, 200, 5, 1, 2)), netcode.ErrMalformed)
}

func TestPeerThatNeverAcks(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	full := false
	lost := 0
	for i := range 3000 {
		now := time.Duration(i) * tick
		full = c.SendReliable(1, 1, make([]byte, 300)) == netcode.ErrStreamFull
		_, b := c.Begin(now).Finish()
		require.LessOrEqual(t, len(b), 1200)
		for f, ok := c.NextFate(); ok; f, ok = c.NextFate() {
			require.False(t, f.Delivered)
			lost++
		}
	}
	require.True(t, full)
	require.GreaterOrEqual(t, lost, 2999-int(c.Timeout()/tick), "all but those of the last Timeout: the first ack may take so long")
	require.Greater(t, c.Silent(100*time.Second), c.Timeout())
}

// The window is as wide as the standard says, to the packet.
func TestWindowEdges(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	for seq := uint16(0); seq < 5000; seq++ {
		if seq != 903 && seq != 902 {
			require.NoError(t, c.Receive(0, bare(seq)))
		}
	}
	require.NoError(t, c.Receive(0, bare(903)), "4096 before the line")
	require.ErrorIs(t, c.Receive(0, bare(902)), netcode.ErrStale, "4097 before the line")
	require.NoError(t, c.Receive(0, bare(4999+2048)))
	require.ErrorIs(t, c.Receive(0, bare(4999+2049)), netcode.ErrStale)
}

// carries reports whether a packet has a message of the stream.
func carries(t *testing.T, packet []byte) bool {
	said, err := describePacket(packet, 0, 0)
	require.NoError(t, err)
	return strings.Contains(said, "entry ")
}

func TestLostEntryIsSentAgainAsSoonAsThreeNewerPacketsArrived(t *testing.T) {
	c := netcode.NewConn(netcode.Config{})
	now := time.Duration(0)
	begin := func() []byte {
		now += ms
		_, b := finish(c.Begin(now))
		return b
	}
	begin()
	require.NoError(t, c.Receive(0, raw(0, 0)))
	require.NoError(t, c.SendReliable(1, 1, []byte("x")))
	require.True(t, carries(t, begin()), "packet 1, which is lost")
	for range 3 {
		require.False(t, carries(t, begin()), "packets 2 to 4")
	}
	ack := func(seq, ack uint16, bits byte) {
		packet := append([]byte{0x1f, byte(seq), 0, byte(ack), 0}, bits, 0, 0, 0, 0)
		require.NoError(t, c.Receive(now, seal(packet)))
	}
	ack(1, 3, 0b101)
	require.False(t, carries(t, begin()), "two newer ones may be reordering")
	ack(2, 4, 0b1011)
	require.True(t, carries(t, begin()), "packet 6")
	for range 3 {
		require.False(t, carries(t, begin()))
	}
	ack(3, 5, 0b10111) // says again that 1 is missing
	require.False(t, carries(t, begin()), "it is on its way in packet 6")
	require.EqualValues(t, 1, c.Stats().EntriesResent)
	ack(4, 6, 0b101111)
	require.Zero(t, c.Pending())
}

// If a message could be written in several ways, all but one are refused.
func TestOneEncodingOnly(t *testing.T) {
	// Bits, first to last, and zeros to the end of their byte.
	commands := func(bits string) error {
		bits = strings.ReplaceAll(bits, " ", "")
		b := make([]byte, (len(bits)+7)/8)
		for i, c := range bits {
			b[i/8] |= byte(c-'0') << (i % 8)
		}
		return netcode.NewCommandBuffer(1, 32, 5, 1, 2).Read(b, 0)
	}
	const one, two, tick, first = "0 00", "0 10", "1010 0000 0000 0000 0000 0000 0000 0000", "0 00 11000000" // the first field is 3
	require.NoError(t, commands(one+tick+first))
	require.NoError(t, commands(two+tick+first+"0 00 1 1 1 101 0 0"), "3 + 3")
	require.NoError(t, commands(two+tick+first+"0 00 1 1 0 11011 1 1 10"))
	require.NoError(t, commands(two+tick+first+"1 10 10000000 00 0"))
	for name, err := range map[string]error{
		"a written ack byte of ff": netcode.NewConn(netcode.Config{}).Receive(0, seal([]byte{0x11, 0, 0, 255, 255, 255, 0})),
		"unused header flags":      netcode.NewConn(netcode.Config{}).Receive(0, seal([]byte{0x20, 0, 0})),
		"ack bytes without an ack": netcode.NewConn(netcode.Config{}).Receive(0, seal([]byte{0x01, 0, 0, 1})),
		"long varint":              netcode.NewConn(netcode.Config{}).Receive(0, bare(0, 99, 0x81, 0, 1)),
		"stream without entries":   netcode.NewConn(netcode.Config{}).Receive(0, bare(0, 1, 2, 0, 0)),
		"bytes behind commands":    commands(one + tick + first + "00000000" + "00000"),
		"a bit behind commands":    commands(one + tick + first + "1"),
		"too many commands":        commands("0 11 101111" + tick + first + strings.Repeat("0 00 0", 64)),
		"a gap before the newest":  commands(one + tick + "1 10 10000000 00 11000000"),
		"neither gap nor offset":   commands(two + tick + first + "1 00 00 0"),
		"gap of no tick":           commands(two + tick + first + "1 10 00000000 00 0"),
		"a long gap":               commands(two + tick + first + "1 10 10000001 00000000 00 0"),
		"offset that stays":        commands(two + tick + first + "1 01 00000000 00 0"),
		"a long change of the lag": commands(two + tick + first + "0 11 00000001 00000000 0"),
		"nothing differs":          commands(two + tick + first + "0 00 1 0 0 0"),
		"value that stays":         commands(two + tick + first + "0 00 1 1 0 11000 0 0"),
		"value that is near":       commands(two + tick + first + "0 00 1 1 0 11100 0 0"),
		"few bits that stay":       commands(two + tick + first + "0 00 1 0 0 1 00"),
		"a body too short":         commands(two + tick + first),
	} {
		require.ErrorIs(t, err, netcode.ErrMalformed, name)
	}
}
