//go:build unix

package udp

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
)

// TestTrial: an address that a client seems to send from gets the client's datagrams, at most three
// bytes for each byte received. The client's own address continues to get everything, and nothing
// moves without a proof.
func TestTrial(t *testing.T) {
	e, unknown, received := newMeasured(t)
	stranger := route{AddrPort: unknown}
	own := listenRaw(t)
	p := &peer{conn: 0x1112131415161718, nonce: 77, heard: e.clock.Load()}
	p.moveTo(route{AddrPort: plain(own.LocalAddr().(*net.UDPAddr).AddrPort())})
	e.mu.Lock()
	p.id = e.peers.Add(p)
	p.q = e.in.Add(p.id, false)
	e.byConn[p.conn] = p
	e.mu.Unlock()
	up := func(from route, n int) {
		e.mu.Lock()
		buf := e.in.Buffer()
		e.mu.Unlock()
		b := append([]byte{typeUp}, "\x11\x12\x13\x14\x15\x16\x17\x18"...)
		e.serveDatagram(buf, copy(buf, append(b, make([]byte, n-len(b))...)), from)
	}
	send := func(times int) {
		for range times {
			require.NoError(t, e.Send(p.id, make([]byte, 95)))
		}
	}
	got := make([]byte, 2048)
	send(5)
	assert.Zero(t, received(), "nobody asked")
	sent, given := 0, 0
	for _, n := range []int{9, 20, 21, 50, 300, 1200} {
		up(stranger, n)
		sent += n
		send(40)
		given += received()
		assert.LessOrEqual(t, given, generous*sent, "after %d bytes", n)
	}
	assert.Greater(t, given, 2*sent, "what is allowed is used")
	all := 0
	nettest.Until(t, "the client's own address got all", func() bool { all += drain(own, got); return all >= 245*100 })
	assert.Equal(t, 245*100, all)

	up(stranger, 1200)
	received()
	up(p.addr, 50) // the client still sends from its own address
	send(10)
	assert.Zero(t, received())

	// A wrong proof changes nothing. The right one moves the connection, and ends the trial.
	up(stranger, 1200)
	e.serveDatagram(e.in.Buffer(), copy(e.in.Buffer(), appendPair(nil, typeResponse, p.conn, 5)), stranger)
	assert.NotEqual(t, stranger, p.addr)
	b := appendPair(nil, typeResponse, p.conn, e.mint.proof(e.seconds(), p.conn, 0, unknown))
	buf := e.in.Buffer()
	e.serveDatagram(buf, copy(buf, b), stranger)
	assert.Equal(t, stranger, p.addr)
	assert.Equal(t, trial{}, p.trial)
	received()
	drain(own, got)
	send(3)
	assert.Equal(t, 300, received(), "once, to where it is")
	time.Sleep(10 * time.Millisecond)
	assert.Zero(t, drain(own, got))
	var info transport.Info
	require.True(t, e.Info(p.id, &info))
	assert.EqualValues(t, 1, info.Stats.Migrations)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		p.tries(route{}, 50)
		_ = e.Send(p.id, got[:95])
	}))
}
