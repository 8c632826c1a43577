package dtls_test

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// When an end has used all its sequence numbers, for data or for keep-alives alone, both ends report
// that at once, no number is used twice, and the client can connect again.
func TestSequenceNumbersUsedUp(t *testing.T) {
	const left = 100
	for _, c := range []struct {
		name         string
		server, data bool
	}{{"server, by data", true, true}, {"client, by data", false, true}, {"server, by keep-alives", true, false}, {"client, by keep-alives", false, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := listen(t, dtls.Config{Timeout: 30 * time.Second, KeepAlive: 50 * time.Millisecond})
			path := nettest.NewAttacker(t, addr(srv))
			cli := dial(t, path.Addr(), dtls.Config{Timeout: 30 * time.Second, KeepAlive: 50 * time.Millisecond})
			toServer, toClient := pair(t, srv, cli)
			talk(t, srv, cli, toServer, toClient)
			from, to, peer := cli, srv, toServer
			if c.server {
				from, to, peer = srv, cli, toClient
			}
			if c.data {
				dtls.UseUp(from, peer, left)
				sent := flood(from, peer)
				assert.LessOrEqual(t, sent, int64(left))
				assert.Greater(t, sent, int64(left-20), "but for keep-alives")
			} else {
				dtls.UseUp(from, peer, 2)
			}
			for _, ep := range []*dtls.Endpoint{from, to} {
				ev := wait(t, ep, transport.Disconnected)
				assert.Equal(t, transport.Gone, ev.Code)
				assert.Contains(t, ev.Reason, "sequence numbers are used up")
			}
			assert.EqualValues(t, 1, from.Counters().Exhausted)
			assert.ErrorIs(t, from.Send(peer, nil), transport.ErrNoPeer)
			nettest.Until(t, "the farewells are over", func() bool { return dtls.Links(srv) == 0 })
			up, down := path.Seen()
			for _, way := range [][][]byte{up, down} {
				seen := map[uint64]bool{}
				for _, b := range way {
					if b[0] != 23 {
						continue
					}
					n := binary.BigEndian.Uint64(b[3:])
					assert.False(t, seen[n], "%x twice", n)
					assert.EqualValues(t, 1, n>>48, "the epoch")
					seen[n] = true
				}
			}
			again := dial(t, addr(srv), dtls.Config{})
			toServer, toClient = pair(t, srv, again)
			talk(t, srv, again, toServer, toClient)
		})
	}
}

// flood sends from several goroutines until the peer is gone, and returns how many datagrams were
// accepted.
func flood(ep *dtls.Endpoint, p transport.PeerID) int64 {
	var sent atomic.Int64
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for ep.Send(p, []byte("x")) == nil && sent.Add(1) < 10_000 {
			}
		})
	}
	busy.Wait()
	return sent.Load()
}

// Many connections from one address that begin no handshake do not keep other clients out.
func TestSilentCrowdKeepsNobodyOut(t *testing.T) {
	const crowd, room = 60, 16
	cert := certificate(t)
	srv := listen(t, dtls.Config{Certificate: cert, MaxPeers: 4, MaxHandshakes: room})
	for range crowd {
		c, err := udp.Dial(addr(srv), udp.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { c.Close(0, "") })
		nettest.Next(t, c, transport.Connected)
	}
	begin := time.Now()
	cli := dial(t, addr(srv), dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}})
	toServer, toClient := pair(t, srv, cli)
	talk(t, srv, cli, toServer, toClient)
	assert.Less(t, time.Since(begin), nettest.Limit(3*time.Second))
	assert.GreaterOrEqual(t, srv.Counters().Evicted, uint64(crowd-room))
	assert.LessOrEqual(t, dtls.Links(srv), room+1)
}
