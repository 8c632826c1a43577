package netcode_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// seal puts the checksum in front of a packet, as the standard says.
func seal(rest []byte) []byte {
	sum := crc32c(append(make([]byte, 8), rest...))
	return append(binary.LittleEndian.AppendUint32(nil, sum), rest...)
}

// raw is a packet of that number with an ack, and messages as given.
func raw(seq, ack uint16, messages ...byte) []byte {
	b := []byte{0x10 | 15}
	b = binary.LittleEndian.AppendUint16(b, seq)
	b = binary.LittleEndian.AppendUint16(b, ack)
	return seal(append(append(b, 0, 0, 0, 0, 0), messages...))
}

// bare is a packet of that number without an ack.
func bare(seq uint16, messages ...byte) []byte {
	return seal(append([]byte{0, byte(seq), byte(seq >> 8)}, messages...))
}

// matchFile holds packets of a whole match on a terrible network, with processes
// that crashed and restarted: go run ./examples/soak -capture.
const matchFile = "testdata/match.txt"

// recorded are the packets of testdata/vectors.txt and of a match, without
// checksums.
func recorded(f *testing.F) (packets [][]byte) {
	m, err := os.ReadFile(matchFile)
	require.NoError(f, err)
	for line := range strings.Lines(string(m)) {
		if !strings.HasPrefix(line, "#") {
			packets = append(packets, unhex(strings.TrimSpace(line))[4:])
		}
	}
	require.Greater(f, len(packets), 50)
	b, err := os.ReadFile(vectorsFile)
	require.NoError(f, err)
	var p []byte
	for line := range strings.Lines(string(b) + "#\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			p = append(p, unhex(strings.TrimSpace(line[2:]))...)
		case strings.HasPrefix(line, "#") && len(p) > 4:
			packets = append(packets, p[4:])
			p = nil
		}
	}
	return packets
}

// bodies seeds with the bodies of recorded messages of one type.
func bodies(f *testing.F, t byte) {
	n := 0
	for _, p := range recorded(f) {
		at := 3
		if p[0]&0x10 != 0 {
			at = 6 + bits.OnesCount8(p[0]&0xf)
		}
		for p = p[min(at, len(p)):]; len(p) > 1; {
			size, k := binary.Uvarint(p[1:])
			end := 1 + k + int(size)
			require.True(f, k > 0 && end <= len(p))
			if p[0] == t {
				f.Add(p[1+k : end])
				n++
			}
			p = p[end:]
		}
	}
	require.NotZero(f, n, "no message of type %d was recorded", t)
}

// boundReceive checks the cost of receiving some packets and of their messages.
func boundReceive(t *testing.T, packets ...[]byte) {
	total, work := 0, time.Duration(0)
	for range 5 {
		c := netcode.NewConn(netcode.Config{Channels: eightChannels})
		for i := range 40 {
			c.Begin(time.Duration(i) * tick).Finish()
		}
		ok := true
		for i, p := range packets {
			memory, took := costtest.Cost(func() { receiveAll(c, time.Duration(i)*tick+time.Second, p) })
			if memory > costtest.Bytes+2*uint64(len(p)) || took > costtest.Time*time.Duration(1+len(p)/1200) {
				ok, total, work = false, int(memory), took
			}
		}
		if ok {
			return
		}
	}
	t.Fatalf("a packet took %v and %d bytes of memory", work, total)
}

// receiveAll takes a packet in, and all that it brings.
func receiveAll(c *netcode.Conn, now time.Duration, p []byte) {
	_ = c.Receive(now, p)
	for _, ok := c.NextMessage(); ok; _, ok = c.NextMessage() {
		continue
	}
	for _, ok := c.NextReliable(); ok; _, ok = c.NextReliable() {
		continue
	}
	for _, ok := c.NextEvent(); ok; _, ok = c.NextEvent() {
		continue
	}
	for _, ok := c.NextFate(); ok; _, ok = c.NextFate() {
		continue
	}
}

// FuzzReceive feeds whole packets, with a correct checksum, to a Conn in the
// middle of a conversation: nothing panics, and a refused packet changes nothing.
func FuzzReceive(f *testing.F) {
	for _, p := range recorded(f) {
		f.Add(p, p)
	}
	f.Add([]byte{}, []byte{0})
	f.Fuzz(func(t *testing.T, one, two []byte) {
		boundReceive(t, seal(one), seal(two), seal(one))
		c := netcode.NewConn(netcode.Config{Channels: eightChannels})
		_ = c.SendReliable(1, 1, []byte("hello"))
		for i := range 40 {
			c.Begin(time.Duration(i) * tick).Finish()
		}
		_ = c.Receive(0, one)
		taken := false // the first packet, which may be in reach only after the second
		for i, b := range [][]byte{seal(one), seal(two), seal(one)} {
			before := c.Stats()
			err := c.Receive(time.Duration(i)*tick+time.Second, b)
			after := c.Stats()
			if err != nil {
				before.Malformed, before.Stale, before.Duplicate, before.Backlog, before.FalseAcks = after.Malformed, after.Stale, after.Duplicate, after.Backlog, after.FalseAcks
				require.Equal(t, before, after)
			}
			taken = taken || i == 0 && err == nil
			if i == 2 && taken && !errors.Is(err, netcode.ErrMalformed) && err != netcode.ErrStale && err != netcode.ErrBacklog {
				require.ErrorIs(t, err, netcode.ErrDuplicate)
			}
			n := 0
			for _, ok := c.NextMessage(); ok; _, ok = c.NextMessage() {
				n++
			}
			require.LessOrEqual(t, n, len(b)/2)
			for r, ok := c.NextReliable(); ok; r, ok = c.NextReliable() {
				require.LessOrEqual(t, len(r.Payload), netcode.MaxReliable)
			}
			for e, ok := c.NextEvent(); ok; e, ok = c.NextEvent() {
				require.LessOrEqual(t, len(e.Payload), netcode.MaxEvent)
			}
			told := map[netcode.Seq]bool{}
			for f, ok := c.NextFate(); ok; f, ok = c.NextFate() {
				require.False(t, told[f.Seq])
				told[f.Seq] = true
			}
		}
	})
}

// FuzzAgainstStandard compares the package with the standard's decoder: they
// agree on which messages are well formed.
func FuzzAgainstStandard(f *testing.F) {
	for _, p := range recorded(f) {
		f.Add(p)
	}
	f.Add([]byte{0x1f, 0, 0, 0xff, 0xff, 1, 2, 3, 4, 5})
	f.Add([]byte{0x1f, 0, 0, 0xff, 0xff, 1, 2, 3, 0xff, 5})
	f.Add([]byte{0, 0, 0, 20, 7, 2, 5, 0, 0, 0, 0x14, 7})
	f.Add([]byte{0, 0, 0, 20, 8, 1, 5, 0, 0, 0, 8, 0, 2})
	f.Fuzz(func(t *testing.T, rest []byte) {
		if len(rest) > 1<<15 {
			return
		}
		packet := seal(rest)
		_, standard := describePacket(packet, 0, 9)
		c := netcode.NewConn(netcode.Config{Channels: eightChannels})
		for range 8 {
			c.Begin(0).Finish() // so that acks of the recorded packets are of sent ones
		}
		err := c.Receive(0, packet)
		if err == netcode.ErrStale || err == netcode.ErrBacklog || c.Stats().FalseAcks > 0 {
			return // form is right, the moment is not
		}
		for m, ok := c.NextMessage(); ok && err == nil; m, ok = c.NextMessage() {
			switch m.Type {
			case netcode.MessageHello:
				_, err = netcode.ParseHello(m.Body)
			case netcode.MessageWelcome:
				_, err = netcode.ParseWelcome(m.Body)
			case netcode.MessageReject:
				_, err = netcode.ParseReject(m.Body)
			case netcode.MessageSnapshot:
				_, _, err = netcode.ParseSnapshotHeader(m.Body)
			case netcode.MessageReady:
				_, err = netcode.ParseClientConfig(m.Body)
			case netcode.MessageLevel:
				_, err = netcode.ParseLevelInfo(m.Body)
			case netcode.MessageEye:
				_, err = netcode.ParseEye(m.Body)
			case netcode.MessageUnread:
				_, err = netcode.ParseUnread(m.Body)
			case netcode.MessageCommands:
				err = netcode.NewCommandBuffer(9, 32).Read(m.Body, 0)
			}
		}
		require.Equal(t, standard == nil, err == nil, "standard: %v, package: %v, %x", standard, err, rest)
	})
}

func FuzzHello(f *testing.F) {
	bodies(f, 16)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseHello(b) })
		if h, err := netcode.ParseHello(b); err == nil && h.Version != netcode.Version {
			require.Equal(t, netcode.Hello{Version: b[0]}, h)
		} else if err == nil {
			require.Equal(t, b, h.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzWelcome(f *testing.F) {
	bodies(f, 17)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseWelcome(b) })
		if w, err := netcode.ParseWelcome(b); err == nil {
			require.Equal(t, b, w.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzEye(f *testing.F) {
	bodies(f, 23)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseEye(b) })
		if e, err := netcode.ParseEye(b); err == nil {
			require.Equal(t, b, e.Append([]byte{}))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzUnread(f *testing.F) {
	bodies(f, 24)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseUnread(b) })
		if u, err := netcode.ParseUnread(b); err == nil {
			require.Equal(t, b, u.Append([]byte{}))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzReject(f *testing.F) {
	bodies(f, 18)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseReject(b) })
		if r, err := netcode.ParseReject(b); err == nil {
			require.Equal(t, b, r.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzClientConfig(f *testing.F) {
	bodies(f, 21)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseClientConfig(b) })
		if c, err := netcode.ParseClientConfig(b); err == nil {
			require.Equal(t, b, c.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzLevelInfo(f *testing.F) {
	bodies(f, 22)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseLevelInfo(b) })
		if l, err := netcode.ParseLevelInfo(b); err == nil {
			require.Equal(t, b, l.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

// FuzzSchemaRequest and FuzzSchemaReply: what one decoder accepts, so does the
// standard's.
func FuzzSchemaRequest(f *testing.F) {
	f.Add(netcode.SchemaRequest{Hash: 5}.Append(nil))
	f.Add(netcode.SchemaRequest{Name: "arena"}.Append(nil))
	f.Add(netcode.SchemaRequest{}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseSchemaRequest(b) })
		r, err := netcode.ParseSchemaRequest(b)
		_, ok := describeSchema(254, b)
		require.Equal(t, ok, err == nil)
		if err == nil {
			require.Equal(t, b, r.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

func FuzzSchemaReply(f *testing.F) {
	for _, data := range [][]byte{nil, []byte("game arena\n")} {
		f.Add(netcode.SchemaReply{Known: true, Hash: netcode.SchemaHash(data), Name: "arena", Data: data}.Append(nil))
		f.Add(netcode.SchemaReply{Hash: netcode.SchemaHash(data), Name: "arena", Data: data}.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _ = netcode.ParseSchemaReply(b) })
		r, err := netcode.ParseSchemaReply(b)
		_, ok := describeSchema(253, b)
		require.Equal(t, ok, err == nil)
		if err == nil {
			require.Equal(t, b, r.Append(nil))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

// FuzzEvents feeds a body of events twice: each event is returned once, and a
// Conn accepts or refuses the same bodies as the standard.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{4, 0, 0, 0, 9, 2, 1, 7, 0, 9, 2, 0})
	f.Add([]byte{4, 0xff, 0xff, 0, 9, 2, 0, 0, 9, 3, 1, 1, 0x81, 1, 2, 3, 0})
	f.Add([]byte{5, 0, 0, 1, 9, 2, 0})
	f.Add([]byte{3, 0, 0, 0, 9, 2, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 4000 {
			return
		}
		message := append(binary.AppendUvarint([]byte{4}, uint64(len(body))), body...)
		boundReceive(t, bare(0, message...), bare(1, message...))
		c := netcode.NewConn(netcode.Config{Channels: eightChannels})
		_, standard := describePacket(bare(0, message...), 0, 0)
		err := c.Receive(0, bare(0, message...))
		require.Equal(t, standard == nil, err == nil)
		n := 0
		for e, ok := c.NextEvent(); ok; e, ok = c.NextEvent() {
			require.LessOrEqual(t, len(e.Payload), netcode.MaxEvent)
			require.Equal(t, body[0], e.Channel)
			n++
		}
		require.Equal(t, err == nil, n > 0)
		require.Equal(t, err == nil, c.Receive(0, bare(1, message...)) == nil)
		_, ok := c.NextEvent()
		require.False(t, ok)
		require.EqualValues(t, n, c.Stats().EventsDuplicate)
	})
}

func FuzzSnapshotHeader(f *testing.F) {
	bodies(f, 19)
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() { _, _, _ = netcode.ParseSnapshotHeader(b) })
		if h, rest, err := netcode.ParseSnapshotHeader(b); err == nil {
			require.Equal(t, b, append(h.Append(nil), rest...))
		} else {
			require.ErrorIs(t, err, netcode.ErrMalformed)
		}
	})
}

// FuzzCommands: every accepted body is one that a sender could send, and the decoder of
// the standard reads it too; a refused one leaves the buffer unchanged.
func FuzzCommands(f *testing.F) {
	bodies(f, 20)
	f.Add([]byte{7, 0xff, 0xff, 0xff, 0xff, 0xf0, 0xf0, 0xf0, 0xf0})
	based := netcode.NewCommandSender(9, netcode.CommandConfig{Fields: []uint8{9, 1, 30, 12}})
	for k := range netcode.Tick(9) {
		based.Push(netcode.Command{Tick: 996 + k, Render: 990 + 2*k, Data: []byte{byte(k), 0, 9, byte(1 - k&1), 0, 7, 0, 1, byte(k * 99)}})
		if k == 4 {
			f.Add(based.Append(nil, 500))
			based.Acked(1000, true)
		}
	}
	f.Add(based.Append(nil, 500))
	f.Fuzz(func(t *testing.T, b []byte) {
		const at = 995.
		fill := func() *netcode.CommandBuffer {
			buffer := netcode.NewCommandBuffer(9, 32, 9, 1, 30, 12)
			s := netcode.NewCommandSender(9, netcode.CommandConfig{})
			s.Push(netcode.Command{Tick: 1000, Render: 998, Data: []byte{4, 0, 9, 1, 0, 7, 0, 1, 140}})
			require.NoError(t, buffer.Read(s.Append(nil, 100), at))
			_, _ = buffer.Early()
			return buffer
		}
		buffer, other := fill(), fill()
		costtest.Bound(t, len(b), func() { _ = other.Read(b, at) })
		said, standard := describePacket(bare(0, append(binary.AppendUvarint([]byte{20}, uint64(len(b))), b...)...), 0, 9, commandBase{
			fields: []int{9, 1, 30, 12}, tick: 1000, lag: 512, data: []byte{4, 0, 9, 1, 0, 7, 0, 1, 140},
		})
		if err := buffer.Read(b, at); err != nil {
			require.ErrorIs(t, err, netcode.ErrMalformed)
			require.Error(t, standard)
			newest, _ := buffer.Newest()
			_, early := buffer.Early()
			require.True(t, newest == 1000 && !early)
			return
		}
		require.NoError(t, standard)
		_, measured := buffer.Early()
		require.NoError(t, buffer.Read(b, at))
		_, again := buffer.Early()
		newest, _ := netcode.NewestCommand(b, netcode.Tick(at))
		// not stored, but measured each time, so that a client learns that it is far ahead
		beyond := netcode.Distance(newest, netcode.Tick(at)) >= 32
		require.Equal(t, measured && beyond, again, "the same body again measures only what is beyond the window")
		for k := range netcode.Tick(64) {
			if c, ok := buffer.Take(netcode.Tick(at) + k); ok && c.Tick != 1000 {
				require.True(t, measured)
				require.Contains(t, said, fmt.Sprintf("command %d render %d+%d/256 offset %d data %x\n", c.Tick, c.Render, c.Fraction, c.Offset, c.Data))
			}
		}
	})
}

// FuzzStream feeds a body of the reliable stream in two halves of a conversation.
func FuzzStream(f *testing.F) {
	for _, p := range recorded(f) {
		if i := bytes.IndexByte(p, 1); i > 0 {
			f.Add(p[i:])
		}
	}
	f.Add([]byte{0, 0, 3, 1, 2, 1, 9})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 4000 {
			return
		}
		message := append(binary.AppendUvarint([]byte{1}, uint64(len(body))), body...)
		channel := append(append(binary.AppendUvarint([]byte{3}, uint64(len(body)+1)), 2), body...)
		boundReceive(t, bare(0, message...), bare(1, channel...), bare(2, message...), bare(3, channel...))
		c := netcode.NewConn(netcode.Config{Channels: eightChannels})
		for seq := range uint16(3) {
			zero := c.Receive(0, bare(2*seq, message...))
			two := c.Receive(0, bare(2*seq+1, channel...))
			require.Equal(t, zero, two, "channels judge alike")
			got := [4]int{}
			for r, ok := c.NextReliable(); ok; r, ok = c.NextReliable() {
				require.LessOrEqual(t, len(r.Payload), netcode.MaxReliable)
				got[r.Channel]++
			}
			require.Equal(t, got[0], got[2])
		}
	})
}
