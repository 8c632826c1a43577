package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

func TestLevelInfo(t *testing.T) {
	long := make([]byte, netcode.MaxLevelData+10)
	for _, c := range []struct{ give, want netcode.LevelInfo }{
		{netcode.LevelInfo{}, netcode.LevelInfo{}},
		{netcode.LevelInfo{Epoch: 255, Tick: 1<<32 - 1, Data: []byte{1}}, netcode.LevelInfo{Epoch: 255, Tick: 1<<32 - 1, Data: []byte{1}}},
		{netcode.LevelInfo{Epoch: 1, Data: long}, netcode.LevelInfo{Epoch: 1, Data: long[:netcode.MaxLevelData]}},
	} {
		got, err := netcode.ParseLevelInfo(c.give.Append(nil))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	for _, n := range []int{0, 1, 4, 5 + netcode.MaxLevelData + 1} {
		_, err := netcode.ParseLevelInfo(make([]byte, n))
		require.ErrorIs(t, err, netcode.ErrMalformed, "%d bytes", n)
	}
}

// A level changes while packets are lost: it is written until a packet with it
// is delivered, and snapshots of the old epoch are distinguished from new ones.
func TestLevelIsResentUntilDelivered(t *testing.T) {
	server, client := netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	level := netcode.LevelInfo{Epoch: 255, Tick: 1, Data: make([]byte, netcode.MaxLevelData)}
	carried, delivered := map[netcode.Seq]uint8{}, false
	known, shown, ignored, writes := uint8(254), 0, 0, 0
	var delayed []byte
	for i := range netcode.Tick(60) {
		now := time.Duration(i) * tick
		if i == 20 { // the epoch wraps
			level.Epoch, level.Tick, delivered = 0, i, false
		}
		p := server.Begin(now)
		wrote := !delivered && p.Message(netcode.MessageLevel, level.Append(nil))
		p.Message(netcode.MessageSnapshot, netcode.SnapshotHeader{Epoch: level.Epoch, Tick: i}.Append(nil))
		seq, d := finish(p)
		if wrote {
			carried[seq] = level.Epoch
			writes++
		}
		if i == 19 {
			delayed = d // a snapshot of the old level, to come after the new one
			continue
		}
		if i == 0 || i >= 20 && i < 23 {
			continue // lost
		}
		for _, b := range [][]byte{d, delayed} {
			if b == nil || &b[0] != &d[0] && i != 30 || client.Receive(now, b) != nil {
				continue
			}
			for m, ok := client.NextMessage(); ok; m, ok = client.NextMessage() {
				switch m.Type {
				case netcode.MessageLevel:
					l, err := netcode.ParseLevelInfo(m.Body)
					require.NoError(t, err)
					if netcode.Newer(l.Epoch, known) {
						known = l.Epoch
					}
				case netcode.MessageSnapshot:
					h, _, err := netcode.ParseSnapshotHeader(m.Body)
					require.NoError(t, err)
					if h.Epoch == known {
						shown++
					} else {
						ignored++
					}
				}
			}
		}
		_, d = finish(client.Begin(now))
		require.NoError(t, server.Receive(now, d))
		for f, ok := server.NextFate(); ok; f, ok = server.NextFate() {
			if epoch, ok := carried[f.Seq]; ok && f.Delivered && epoch == level.Epoch {
				delivered = true
			}
		}
	}
	require.True(t, delivered)
	require.Zero(t, known)
	require.Equal(t, 1, ignored, "the old level's, which came late")
	require.Equal(t, 60-1-3-1, shown)
	require.Equal(t, 2+4, writes)
}
