package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

func TestClientConfig(t *testing.T) {
	for _, c := range []netcode.ClientConfig{{}, {SnapshotRate: 20}, {Bytes: 1<<32 - 1}, {SnapshotRate: 255, Bytes: 8000}} {
		got, err := netcode.ParseClientConfig(c.Append(nil))
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	for _, n := range []int{0, 1, 4, 6, 1000} {
		_, err := netcode.ParseClientConfig(make([]byte, n))
		require.ErrorIs(t, err, netcode.ErrMalformed, "%d bytes", n)
	}
}

func TestSetRate(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to int
		minRate  int
		fixed    bool
		want     int
	}{
		{"lower", 32000, 8000, 0, false, 8000},
		{"lower, fixed", 32000, 8000, 0, true, 8000},
		{"higher", 8000, 32000, 0, false, 32000},
		{"higher, fixed", 8000, 32000, 0, true, 32000},
		{"below the floor", 32000, 3000, 6000, false, 3000},
		{"the configured one again", 16000, 0, 0, false, 16000},
		{"negative", 16000, -1 << 31, 0, false, 16000},
	} {
		conn := netcode.NewConn(netcode.Config{Rate: c.from, MinRate: c.minRate, FixedRate: c.fixed})
		peer := netcode.NewConn(netcode.Config{})
		sent := func(from, seconds int) (bytes int) {
			for i := range seconds * 30 {
				now := time.Duration(from)*time.Second + time.Duration(i)*tick
				p := conn.Begin(now)
				p.Message(20, make([]byte, p.Room()))
				_, b := p.Finish()
				bytes += len(b)
				require.NoError(t, peer.Receive(now, b))
				_, b = peer.Begin(now).Finish()
				require.NoError(t, conn.Receive(now, b))
			}
			return bytes
		}
		sent(0, 2)
		conn.SetRate(c.to)
		sent(2, 1) // the saved-up allowance
		require.Equal(t, c.want, conn.Stats().Rate, c.name)
		require.InEpsilon(t, c.want*10, sent(3, 10), 0.1, c.name)
	}
}

// Raising the ceiling does not undo what congestion lowered.
func TestSetRateLeavesCongestionAlone(t *testing.T) {
	link := &bottleneck{rate: 8000, queue: 2 * time.Second, path: path{latency: 50 * ms}}
	var raised bool
	server := netcode.NewConn(netcode.Config{})
	greedyWith(server, link, 0, 15*time.Second, func(now time.Duration) {
		if now > 10*time.Second && !raised {
			raised = true
			require.Less(t, server.Stats().Rate, 12000)
			server.SetRate(1 << 30)
			require.Less(t, server.Stats().Rate, 12000)
		}
	})
	require.True(t, raised)
	require.Less(t, server.Stats().Rate, 32000)
	server.SetRate(1000)
	require.Equal(t, 1000, server.Stats().Rate)
}
