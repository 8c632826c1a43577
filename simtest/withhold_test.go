package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/packettest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A client that acknowledges packets, but none with a snapshot, is dropped with that reason after
// the timeout. With few snapshots a second it is dropped after 16 snapshots.
func TestWhoAcknowledgesNoSnapshotIsDropped(t *testing.T) {
	for _, row := range []struct {
		rate    int
		timeout time.Duration
		from    int // number of the first snapshot that is not acknowledged
		most    time.Duration
	}{
		{15, 0, 0, 6 * time.Second},
		{10, 0, 40, 6 * time.Second},
		{10, 2 * time.Second, 0, 4 * time.Second},
		{1, 0, 3, 19 * time.Second},
	} {
		m := simtest.New(7)
		p := (&mill{}).protocol()
		srv, err := m.Serve(server.Config{Protocol: p, SnapshotRate: row.rate, Timeout: row.timeout, ReconnectWindow: -1})
		require.NoError(t, err)
		link := sim.Link{Latency: 20 * time.Millisecond}
		n, began := 0, time.Duration(0)
		c := &rogue{endpoint: m.Dial(link, link), hash: p.Hash(), deaf: func(b []byte) bool {
			if !packettest.Carries(netcode.MessageSnapshot)(b) {
				return false
			}
			if n++; n <= row.from {
				return false
			}
			if began == 0 {
				began = m.Net.Now()
			}
			return true
		}}
		for now := time.Duration(0); now < 40*time.Second && c.gone == nil; now += time.Second / 30 {
			m.Run(now)
			c.stepRogue(now)
		}
		require.True(t, c.joined())
		require.NotNil(t, c.gone, "%d snapshots a second", row.rate)
		require.Equal(t, transport.Timeout, c.gone.Code)
		require.Equal(t, "acknowledges no snapshot", c.gone.Reason)
		require.Less(t, c.goneAt-began, row.most, "%d snapshots a second", row.rate)
		require.Empty(t, srv.Players(nil))
	}
}

// An honest client is never dropped for this: not at one snapshot a second with a short timeout,
// not with a quarter of the packets lost in bursts, not at 2 kB a second, not across level
// changes, and not after two seconds without a network.
func TestHonestClientsAcknowledgeSnapshots(t *testing.T) {
	bad := sim.Link{Latency: 50 * time.Millisecond, Jitter: 100 * time.Millisecond, Loss: 0.25, Burst: 8}
	for name, row := range map[string]struct {
		rate, receive int
		timeout       time.Duration
		link          sim.Link
		levels        bool
		dark          time.Duration
	}{
		"one a second":           {1, 0, time.Second, sim.Link{Latency: 50 * time.Millisecond, Loss: 0.05}, false, 0},
		"one a second, bad path": {1, 0, 3 * time.Second, bad, false, 0},
		"bad path":               {15, 0, 2 * time.Second, bad, true, 0},
		"slow":                   {30, 2000, 2 * time.Second, sim.Link{Latency: 50 * time.Millisecond}, true, 0},
		"dark":                   {10, 0, 3 * time.Second, sim.Link{Latency: 50 * time.Millisecond}, false, 2700 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			m := simtest.New(3)
			srv, err := m.Serve(server.Config{Protocol: (&mill{}).protocol(), SnapshotRate: row.rate, Timeout: row.timeout})
			require.NoError(t, err)
			g := &mill{}
			c, err := m.Join(client.Config{Protocol: g.protocol(), ReceiveRate: row.receive, Timeout: 10 * time.Second}, simtest.Seat{Up: row.link, Down: row.link})
			require.NoError(t, err)
			for at := 5 * time.Second; at < 60*time.Second; at += 5 * time.Second {
				m.Run(at)
				require.Equal(t, client.Playing, c.View().State)
				if row.levels {
					require.NoError(t, srv.NextLevel(nil, nil))
				}
				if row.dark > 0 {
					m.Link(c, sim.Link{Loss: 1}, sim.Link{Loss: 1})
					m.Run(at + row.dark)
					m.Link(c, row.link, row.link)
				}
			}
			require.EqualValues(t, 1, c.Stats().Connections)
			require.Len(t, srv.Players(nil), 1)
		})
	}
}
