package netcode_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
)

// onChannel is a message of a stream's entry on a channel.
func onChannel(channel byte, first uint16, entry ...byte) []byte {
	body := append([]byte{channel, byte(first), byte(first >> 8)}, entry...)
	return append(binary.AppendUvarint([]byte{3}, uint64(len(body))), body...)
}

// hoard is what makes a Conn keep most: entries that wait for one that never comes,
// fragments that never end, events far from one another, a long farewell.
func hoard() (messages [][]byte) {
	add := func(m []byte) { messages = append(messages, m) }
	big := make([]byte, 256)
	for id := uint16(255); id > 0; id-- {
		whole := append([]byte{3, 9, 0, 0x80, 2}, big...)
		add(streamMessage(id, whole...))
		add(onChannel(1, id, whole...))
	}
	for id := range uint16(256) {
		part := append([]byte{0, 0x80, 2}, big...)
		if id == 0 {
			part = append([]byte{1, 9, 0, 0x80, 2}, big...)
		}
		add(onChannel(2, id, part...))
	}
	for id := uint16(0); id < 2048; id++ {
		add([]byte{4, 7, 3, byte(id), byte(id >> 8), 0, 1, 0, 0})
	}
	add(append([]byte{2, 0x80 | 202&0x7f, 1, 1, 0}, make([]byte, 200)...))
	return messages
}

var roomy = []netcode.Channel{{Reliable: true}, {Reliable: true}, {Reliable: true}, {}}

// newcomerHeap is what n Conns keep, each, that were sent everything, in bytes.
func newcomerHeap(t *testing.T, newcomer bool, messages [][]byte) int {
	const n = 32
	conns := make([]*netcode.Conn, n)
	live := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := live()
	for i := range conns {
		c := netcode.NewConn(netcode.Config{Channels: roomy, Newcomer: newcomer})
		seq := uint16(0)
		for _, m := range messages {
			if c.Receive(0, bare(seq, m...)) == nil {
				seq += 3
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
		conns[i] = c
	}
	each := (live() - before) / n
	runtime.KeepAlive(conns)
	return each
}

// TestNewcomerKeepsLittle: whatever a peer sends that was not admitted, its Conn
// stays small; one that was admitted may fill its channels.
func TestNewcomerKeepsLittle(t *testing.T) {
	costtest.Memory(t)
	messages := hoard()
	silent, hostile, admitted := newcomerHeap(t, true, nil), newcomerHeap(t, true, messages), newcomerHeap(t, false, messages)
	t.Logf("a Conn keeps %d bytes when nothing came, %d of a hostile newcomer, %d of who was admitted", silent, hostile, admitted)
	require.Less(t, silent, 5_000)
	require.Less(t, hostile, 8_000)
	require.Greater(t, admitted, 100_000, "the messages make it keep much")
}

// TestNewcomerMayAsk: the messages of an honest peer before it is admitted get through, and all others do once
// it is admitted.
func TestNewcomerMayAsk(t *testing.T) {
	c := netcode.NewConn(netcode.Config{Channels: roomy, Newcomer: true})
	require.NoError(t, c.Receive(0, bare(0, 40, 1, 5)))
	require.NoError(t, c.Receive(0, bare(1, onChannel(1, 0, 3, 254, 0, 1, 'x')...)))
	r, ok := c.NextReliable()
	require.True(t, ok)
	require.Equal(t, netcode.Reliable{Kind: 254, Payload: []byte("x"), Channel: 1}, r)

	beyond := [][]byte{streamMessage(4, 3, 1, 0, 1, 'x'), streamMessage(0, 1, 1, 0, 1, 'x'), {4, 7, 3, 0, 0, 0, 1, 0, 0}}
	for _, m := range beyond {
		require.ErrorIs(t, c.Receive(0, bare(2, m...)), netcode.ErrBacklog)
	}
	c.Admit()
	for i, m := range beyond {
		require.NoError(t, c.Receive(0, bare(uint16(2+i), m...)))
	}
}
