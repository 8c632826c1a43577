package udp_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

// A receiver that reads nothing costs its sender and all others nothing: a bounded number of datagrams
// waits for it, the oldest are dropped first, and the server's tick never waits.
func TestSoakSlowConsumer(t *testing.T) {
	costtest.Sockets(t)
	d := nettest.Length(t, "slow for", time.Second, 30*time.Second)
	srv := listen(t, "127.0.0.1:0", udp.Config{})
	slow := dial(t, srv.LocalAddr().String(), udp.Config{})
	toServer := wait(t, slow, transport.Connected).Peer
	toSlow := wait(t, srv, transport.Connected).Peer
	quick := dial(t, srv.LocalAddr().String(), udp.Config{})
	wait(t, quick, transport.Connected)
	toQuick := wait(t, srv, transport.Connected).Peer

	const rate, burst, size = 60, 40, 1000
	datagram := make([]byte, size)
	var ticks []time.Duration
	var late []time.Duration
	sent, backlog, answered, other := 0, 0, 0, 0
	var ev [64]transport.Event
	before := nettest.Heap()
	begin := time.Now()
	for tick := 0; time.Since(begin) < d; tick++ {
		due := begin.Add(time.Duration(tick) * time.Second / rate)
		time.Sleep(time.Until(due))
		late = append(late, time.Since(due))
		start := time.Now()
		for range burst {
			sent++
			number(datagram, sent)
			if err := srv.Send(toSlow, datagram); err == transport.ErrBacklog {
				backlog++
			} else {
				require.NoError(t, err)
			}
		}
		require.NoError(t, srv.Send(toQuick, datagram[:100]))
		for k := len(ev); k == len(ev); {
			k = srv.Recv(ev[:])
		}
		ticks = append(ticks, time.Since(start))
		other++
		for _, e := range ev[:quick.Recv(ev[:])] {
			require.Equal(t, transport.Data, e.Kind)
			answered++
		}
	}
	grown := int64(nettest.Heap()) - int64(before)
	var info transport.Info
	for still := 0; still < 20; { // until no more datagrams arrive
		was := info.Stats.Received
		time.Sleep(10 * ms)
		k := quick.Recv(ev[:])
		answered += k
		require.True(t, slow.Info(toServer, &info), "the connection lives")
		if still++; k > 0 || info.Stats.Received != was {
			still = 0
		}
	}
	slices.Sort(ticks)
	slices.Sort(late)
	waiting, oldest, newest := drainNumbers(t, slow)
	t.Logf("%d datagrams of 1 kB for a client that takes none in %v: %d waited (%d kB, at most 256; heap +%d kB), numbers %d to %d; "+
		"%d overrun, %d backlog", sent, d, waiting, waiting*1280/1024, grown/1024, oldest, newest, info.Stats.ReceiveDropped, backlog)
	t.Logf("the server's %d ticks took p50 %v, p99 %v, max %v, and began late by p99 %v; the other client got %d of %d", len(ticks),
		ticks[len(ticks)/2], ticks[len(ticks)*99/100], ticks[len(ticks)-1], late[len(late)*99/100].Round(time.Microsecond), answered, other)
	t.Log("that an overflow of reliable messages ends the connection: go test ./internal/matchtest -run TestSlowConsumer -v")
	assert.LessOrEqual(t, waiting*1280, 256<<10)
	assert.Less(t, grown, int64(1<<20))
	assert.EqualValues(t, info.Stats.Received, info.Stats.ReceiveDropped+uint64(waiting))
	assert.Equal(t, sent, newest, "the newest is there")
	assert.Less(t, newest-oldest, waiting+backlog+sent/20, "the oldest went")
	held, most := ticks[len(ticks)/2], 80*ms // with few ticks, a busy machine spoils the 99th percentile
	if *nettest.Soak {
		held, most = ticks[len(ticks)*99/100], 8*ms
	}
	assert.Less(t, held, most)
	assert.GreaterOrEqual(t, answered, other*99/100)
}

func number(b []byte, n int) { copy(b, fmt.Sprintf("%016d", n)) }

// drainNumbers reads all waiting datagrams, and returns how many there were and the numbers of the
// first and last.
func drainNumbers(t *testing.T, ep *udp.Endpoint) (n, first, last int) {
	var ev [64]transport.Event
	for k := len(ev); k == len(ev); {
		k = ep.Recv(ev[:])
		for _, e := range ev[:k] {
			_, err := fmt.Sscanf(string(e.Data[:16]), "%d", &last)
			require.NoError(t, err)
			if n++; n == 1 {
				first = last
			}
		}
	}
	return n, first, last
}
