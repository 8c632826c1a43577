//go:build linux && (amd64 || arm64)

package udp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// Elsewhere every datagram is a call of its own, through the standard library.
func TestBatchAllocatesNothing(t *testing.T) {
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
