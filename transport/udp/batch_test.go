//go:build linux && (amd64 || arm64)

package udp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// Elsewhere every datagram is a call of its own, through the standard library.

// With Batch, datagrams wait for Flush and share a system call, in both directions. Without Flush they
// are sent a little later, and before a farewell.
func TestBatch(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(at, func(t *testing.T) {
			const batch = 64
			srv := listen(t, at, udp.Config{Batch: batch})
			cli := dial(t, srv.LocalAddr().String(), udp.Config{})
			var ev [256]transport.Event
			var to, from transport.PeerID
			require.Eventually(t, func() bool {
				for _, e := range ev[:srv.Recv(ev[:])] {
					to = e.Peer
				}
				return to != 0
			}, 5*time.Second, time.Millisecond)
			received := func(n int) {
				t.Helper()
				got := 0
				require.Eventually(t, func() bool {
					for _, e := range ev[:cli.Recv(ev[:])] {
						if from = e.Peer; e.Kind == transport.Data {
							require.Equal(t, byte(got), e.Data[0], "in order")
							got++
						}
					}
					return got == n
				}, 5*time.Second, time.Millisecond)
			}
			before := srv.Counters()
			for i := range byte(100) {
				require.NoError(t, srv.Send(to, []byte{i}))
			}
			srv.Flush()
			received(100)
			require.LessOrEqual(t, srv.Counters().Writes-before.Writes, uint64(6), "100 datagrams in two calls, and some keep-alives")
			require.NoError(t, srv.Send(to, []byte{0}))
			received(1) // without Flush

			before = srv.Counters()
			for i := range byte(100) {
				require.NoError(t, cli.Send(from, []byte{i, 1}))
			}
			got := 0
			require.Eventually(t, func() bool {
				for _, e := range ev[:srv.Recv(ev[:])] {
					require.Equal(t, []byte{byte(got), 1}, e.Data)
					got++
				}
				return got == 100
			}, 5*time.Second, time.Millisecond)
			require.Less(t, srv.Counters().Reads-before.Reads, uint64(60), "of 100 datagrams")

			var info transport.Info
			require.True(t, srv.Info(to, &info))
			require.Equal(t, cli.LocalAddr().String(), info.Addr)
			require.NoError(t, srv.Send(to, []byte{0}))
			srv.Disconnect(to, transport.Kicked, "")
			var last transport.Event
			words := 0
			require.Eventually(t, func() bool {
				for _, e := range ev[:cli.Recv(ev[:])] {
					if last = e; e.Kind == transport.Data {
						words++
					}
				}
				return last.Kind == transport.Disconnected
			}, 5*time.Second, time.Millisecond)
			require.Equal(t, 1, words, "what was sent before the end arrives")
		})
	}
}

func TestBatchAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	srv := listen(t, "127.0.0.1:0", udp.Config{Batch: 32})
	dial(t, srv.LocalAddr().String(), udp.Config{})
	var ev [8]transport.Event
	var to transport.PeerID
	require.Eventually(t, func() bool {
		for _, e := range ev[:srv.Recv(ev[:])] {
			to = e.Peer
		}
		return to != 0
	}, 5*time.Second, time.Millisecond)
	b := make([]byte, 200)
	round := func() {
		for range 20 {
			_ = srv.Send(to, b)
		}
		srv.Flush()
	}
	// The client runs in this process too. Once its inbox is full it allocates no more.
	require.Eventually(t, func() bool { return testing.AllocsPerRun(50, round) == 0 }, 10*time.Second, time.Millisecond)
}
