//go:build unix

package udp

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
)

// flood floods a server with make's datagrams for a while, some rate a second, and returns how many were sent.
func flood(t *testing.T, to netip.AddrPort, rate int, d time.Duration, fill func(b []byte, r *rand.Rand) int) int {
	t.Helper()
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	require.NoError(t, err)
	defer c.Close()
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 1200)
	begin, sent := time.Now(), 0
	for time.Since(begin) < d {
		for ; sent < int(time.Since(begin).Seconds()*float64(rate)); sent++ {
			c.Write(buf[:fill(buf, r)])
		}
		time.Sleep(time.Millisecond)
	}
	return sent
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func event(t *testing.T, e *Endpoint, k transport.EventKind) transport.Event {
	t.Helper()
	var ev [1]transport.Event
	for range 5000 {
		if e.Recv(ev[:]) == 1 && ev[0].Kind == k {
			return ev[0]
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("no %v", k)
	return ev[0]
}

// Half-open flood: hellos of ever new nonces, none of which comes back. The server keeps nothing and lets a client in.
func TestHelloFlood(t *testing.T) {
	srv, err := Listen("127.0.0.1:0", Config{})
	require.NoError(t, err)
	defer srv.Close(0, "")
	before, threads := heap(), runtime.NumGoroutine()
	took := make(chan time.Duration, 1)
	go func() {
		time.Sleep(200 * time.Millisecond)
		begin := time.Now()
		cli, err := Dial(srv.LocalAddr().String(), Config{})
		if err != nil {
			t.Error(err)
			return
		}
		defer cli.Close(0, "")
		<-cli.Ready()
		took <- time.Since(begin)
	}()
	h := hello{}
	sent := flood(t, srv.LocalAddr(), 5000, time.Second, func(b []byte, r *rand.Rand) int {
		h.nonce = r.Uint64()
		if h.nonce%2 == 0 {
			binary.BigEndian.PutUint64(h.cookie[4:], h.nonce) // as often with a cookie of its own making
		}
		return len(appendHello(b[:0], &h))
	})
	client := <-took
	after := heap()
	t.Logf("%d hellos in 1 s: a client connected in %v, heap +%d kB, %d goroutines more", sent, client,
		(int64(after)-int64(before))/1024, runtime.NumGoroutine()-threads)
	assert.Less(t, client, 3*time.Second)
	assert.Less(t, after, before+1<<20)
	srv.mu.Lock()
	defer srv.mu.Unlock()
	assert.LessOrEqual(t, len(srv.byConn)+len(srv.graves.byConn), 1)
	assert.NotZero(t, srv.counters.BadCookie)
}

// Spoofed flood: datagrams of every type with invented ids. Ticks go on, nobody is disconnected, nothing grows.
func TestSpoofedFlood(t *testing.T) {
	srv, err := Listen("127.0.0.1:0", Config{})
	require.NoError(t, err)
	defer srv.Close(0, "")
	cli, err := Dial(srv.LocalAddr().String(), Config{})
	require.NoError(t, err)
	defer cli.Close(0, "")
	to := event(t, cli, transport.Connected).Peer
	event(t, srv, transport.Connected)
	before, threads := heap(), runtime.NumGoroutine()
	done := make(chan int)
	got := 0
	go func() {
		done <- flood(t, srv.LocalAddr(), 100_000, time.Second, func(b []byte, r *rand.Rand) int {
			b[0] = typeHello + byte(r.IntN(int(typeGone-typeHello)+2))
			binary.BigEndian.PutUint64(b[1:], r.Uint64())
			return 9 + r.IntN(100)
		})
	}()
	var ev [64]transport.Event
	var sent int
	for over := false; !over; {
		select {
		case sent = <-done:
			over = true
		case <-time.After(time.Second / 60):
			cli.Send(to, make([]byte, 50))
		}
		for _, e := range ev[:srv.Recv(ev[:])] {
			require.Equal(t, transport.Data, e.Kind, "%v %v", e.Code, e.Detail)
			got++
		}
	}
	after := heap()
	t.Logf("%d datagrams in 1 s, %d of the client's 60 got through, heap +%d kB, %+v", sent, got,
		(int64(after)-int64(before))/1024, srv.Counters())
	assert.Positive(t, got)
	assert.Less(t, after, before+16<<20)
	assert.LessOrEqual(t, runtime.NumGoroutine(), threads)
}
