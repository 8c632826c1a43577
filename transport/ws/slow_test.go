//go:build !js

package ws_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ws"
)

// upgrade is an acceptable handshake without the empty line at its end.
const upgrade = "GET /play HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: foretick.1\r\n"

// connect returns a TCP connection to a server, from an address of this machine.
func connect(t testing.TB, to string, from ...byte) net.Conn {
	t.Helper()
	var d net.Dialer
	if from != nil {
		d.LocalAddr = &net.TCPAddr{IP: from}
	}
	c, err := d.Dial("tcp4", to)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// closes waits until the other end has closed a connection, and sends drip again and again meanwhile.
// It returns how long that took.
func closes(t testing.TB, c net.Conn, drip string) time.Duration {
	t.Helper()
	begin := time.Now()
	stop := make(chan struct{})
	var dripping sync.WaitGroup
	defer dripping.Wait()
	defer close(stop)
	dripping.Go(func() {
		for i := 0; drip != ""; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if _, err := c.Write([]byte{drip[i%len(drip)]}); err != nil {
				return
			}
		}
	})
	require.NoError(t, c.SetReadDeadline(time.Now().Add(nettest.Limit(5*time.Second))))
	_, err := io.Copy(io.Discard, c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is still open")
	return time.Since(begin)
}

// A client that is slow before the hello is dropped after the timeout, wherever it is slow.
func TestSlowClientsAreCutOff(t *testing.T) {
	const timeout = 600 * time.Millisecond
	for _, c := range []struct {
		name, begin, drip  string
		unfinished, unsaid uint64
	}{
		{"silence", "", "", 1, 0},
		{"half a request line", "GET /pl", "", 1, 0},
		{"a dripping header", "GET /play HTTP/1.1\r\nHost: x\r\nCookie: ", "a", 1, 0},
		{"empty lines", "", "\r\n", 1, 0},
		{"a kept connection", "GET /play HTTP/1.1\r\nHost: x\r\n\r\n", "", 1, 0},
		{"a dripping body", "POST /play HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", "b", 1, 0},
		{"a dripping chunk", "POST /play HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n", "c", 1, 0},
		{"a body that does not come", "POST /play HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n", "", 1, 0},
		{"a handshake of no version with a body", strings.Replace(upgrade, "Version: 13", "Version: 7", 1) + "Content-Length: 1000\r\n\r\n",
			"d", 1, 0},
		{"a handshake's dripping body", upgrade + "Content-Length: 1000\r\n\r\n", "\x82", 0, 1},
		{"a handshake and silence", upgrade + "\r\n", "", 0, 1},
		{"a dripping hello", upgrade + "\r\n\x82\xfe\x04\x00....", "e", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := listen(t, ws.Config{Timeout: timeout})
			defer srv.Close(0, "")
			conn := connect(t, srv.LocalAddr().String())
			_, err := io.WriteString(conn, c.begin)
			require.NoError(t, err)
			took := closes(t, conn, c.drip)
			assert.Less(t, took, nettest.Limit(2*timeout+time.Second))
			nettest.Until(t, "nothing is left", func() bool { return ws.HalfOpen(srv.Server)+ws.Held(&srv.Endpoint) == 0 })
			n := srv.Counters()
			assert.Equal(t, c.unfinished, n.Unfinished, "%+v", n)
			if c.drip != "\x82" { // \x82 is not a frame, and ends the connection earlier
				assert.Equal(t, c.unsaid, n.Unsaid, "%+v", n)
			}
		})
	}
}

// The same holds in a custom http.Server with the documented settings. The time after the header is limited even
// without them.
func TestSlowClientsOfAnHTTPServer(t *testing.T) {
	const timeout = 600 * time.Millisecond
	for _, c := range []struct {
		name, begin, drip string
		configured        bool
	}{
		{"silence", "", "", true},
		{"a dripping header", "GET /play HTTP/1.1\r\nHost: x\r\nCookie: ", "a", true},
		{"a kept connection", "GET /play HTTP/1.1\r\nHost: x\r\n\r\n", "", false},
		{"a dripping body", "POST /play HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", "b", false},
		{"a handshake and silence", upgrade + "\r\n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv, err := ws.NewServer(ws.Config{Timeout: timeout})
			require.NoError(t, err)
			defer srv.Close(0, "")
			web := httptest.NewUnstartedServer(srv)
			if c.configured {
				web.Config.ReadHeaderTimeout, web.Config.IdleTimeout = timeout, timeout
			}
			web.Start()
			defer web.Close()
			conn := connect(t, web.Listener.Addr().String())
			_, err = io.WriteString(conn, c.begin)
			require.NoError(t, err)
			assert.Less(t, closes(t, conn, c.drip), nettest.Limit(2*timeout+time.Second))
		})
	}
}

// A header longer than any honest one is refused before it is read to its end.
func TestLongHeader(t *testing.T) {
	srv := listen(t, ws.Config{})
	defer srv.Close(0, "")
	conn := connect(t, srv.LocalAddr().String())
	go conn.Write([]byte("GET /play HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("c", 64<<10)))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode)
	nettest.Until(t, "it is gone", func() bool { return srv.Counters().Unfinished == 1 })

	conn = connect(t, srv.LocalAddr().String()) // a header as long as proxies and cookies need is accepted
	_, err = io.WriteString(conn, upgrade+"Cookie: "+strings.Repeat("c", 12<<10)+"\r\n\r\n")
	require.NoError(t, err)
	resp, err = http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
}

// Hundreds of connections that sent half a request, from one address or from several, keep no client
// out, and the server holds no more of them than its limit.
func TestHalfOpenKeepNobodyOut(t *testing.T) {
	const crowd, room = 400, 64
	for _, c := range []struct {
		name string
		from int
	}{{"from the client's own address", 0}, {"from four others", 4}} {
		t.Run(c.name, func(t *testing.T) {
			srv := listen(t, ws.Config{MaxPending: room, Timeout: 20 * time.Second})
			defer srv.Close(0, "")
			for i := range crowd {
				from := []byte{127, 0, 0, 1}
				if c.from > 0 {
					from = []byte{127, 0, 2, byte(1 + i%c.from)}
				}
				conn := connect(t, srv.LocalAddr().String(), from...)
				conn.Write([]byte(upgrade[:len(upgrade)*(i%3)/2]))
				if i%50 == 49 {
					begin := time.Now()
					cli := dial(t, srv.url(), ws.Config{})
					toServer, toClient := nettest.Pair(t, srv, cli)
					nettest.Talk(t, srv, cli, toServer, toClient)
					assert.Less(t, time.Since(begin), nettest.Limit(3*time.Second))
				}
			}
			nettest.Until(t, "all are met", func() bool { return srv.Counters().Evicted >= crowd-room })
			assert.LessOrEqual(t, ws.HalfOpen(srv.Server), room)
			assert.EqualValues(t, crowd/50, srv.Counters().Connections)
		})
	}
}

// When an address has many connections that send nothing, a new one displaces one of that address, and
// not those of others.
func TestFloodDisplacesItself(t *testing.T) {
	srv := listen(t, ws.Config{MaxPending: 32, Timeout: 20 * time.Second})
	defer srv.Close(0, "")
	slow := connect(t, srv.LocalAddr().String(), 127, 0, 3, 1) // an honest client on a slow link, which connected first
	_, err := io.WriteString(slow, upgrade[:40])
	require.NoError(t, err)
	for range 200 {
		connect(t, srv.LocalAddr().String(), 127, 0, 3, 2)
	}
	nettest.Until(t, "they are met", func() bool { return srv.Counters().Evicted >= 200-32 })
	_, err = io.WriteString(slow, upgrade[40:]+"\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(slow), nil)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
}

// The number of all connections is bounded. Those of players stay, and those that send nothing, or are
// closing, make room.
func TestMaxConns(t *testing.T) {
	for _, mounted := range []bool{false, true} {
		var srv *ws.Server
		var addr string
		cfg := ws.Config{MaxPeers: 4, MaxPending: 8, MaxConns: 6, Timeout: 20 * time.Second}
		if mounted {
			var err error
			srv, err = ws.NewServer(cfg)
			require.NoError(t, err)
			web := httptest.NewServer(srv)
			defer web.Close()
			addr = web.Listener.Addr().String()
		} else {
			srv = listen(t, cfg).Server
			addr = srv.LocalAddr().String()
		}
		defer srv.Close(0, "")
		for range 3 {
			nettest.Pair(t, srv, dial(t, "ws://"+addr, ws.Config{}))
		}
		for range 20 {
			conn := connect(t, addr)
			_, err := io.WriteString(conn, upgrade+"\r\n")
			require.NoError(t, err)
		}
		nettest.Until(t, "they displace one another", func() bool {
			n := srv.Counters()
			return n.Evicted+n.Crowded >= 17 && ws.Held(&srv.Endpoint) <= 6+3+3+3
		})
		nettest.Pair(t, srv, dial(t, "ws://"+addr, ws.Config{}))
		assert.EqualValues(t, 4, srv.Counters().Connections)
		assert.Zero(t, srv.Recv(make([]transport.Event, 1)), "who plays plays on")
	}
}

// When all connections are players', there is no room, and a new client is refused with that reason.
func TestMaxConnsAllPlaying(t *testing.T) {
	srv := listen(t, ws.Config{MaxPeers: 2, MaxPending: 4, MaxConns: 3, Timeout: 20 * time.Second})
	defer srv.Close(0, "")
	for range 2 {
		nettest.Pair(t, srv, dial(t, srv.url(), ws.Config{}))
	}
	ev := wait(t, dial(t, srv.url(), ws.Config{}), transport.Disconnected)
	assert.Equal(t, transport.Full, ev.Code, ev.Reason)
}

// The connections that wait for a slow accept hook are bounded too. The hook is not called for one that
// is gone.
func TestWaitingForTheHookIsBounded(t *testing.T) {
	var asked atomic.Int64
	release := make(chan struct{})
	srv := listen(t, ws.Config{MaxPending: 8, MaxPendingPerAddr: 8, MaxConns: -1, Timeout: 20 * time.Second,
		Accept: func(netip.AddrPort, []byte) ([]byte, error) {
			asked.Add(1)
			<-release
			return nil, nil
		}})
	defer srv.Close(0, "")
	for i := range 64 {
		conn := connect(t, srv.LocalAddr().String(), 127, 0, 4, byte(1+i))
		_, err := io.WriteString(conn, upgrade+"\r\n\x82\x81\x00\x00\x00\x00\x01") // with an empty hello
		require.NoError(t, err)
		_, err = http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
	}
	nettest.Until(t, "only so many wait", func() bool { return ws.Held(&srv.Endpoint) <= 2*8+1 && ws.Pending(srv.Server) <= 8 })
	assert.GreaterOrEqual(t, srv.Counters().Evicted, uint64(64-8-1))
	close(release)
	nettest.Until(t, "those are let in", func() bool { return srv.Counters().Connections >= 8 })
	assert.LessOrEqual(t, asked.Load(), int64(9))
}
