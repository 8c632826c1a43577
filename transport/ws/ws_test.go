//go:build !js

package ws_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ws"
)

// wait is what tests of all transports do.
var wait = nettest.Wait

func dial(t testing.TB, url string, cfg ws.Config) *ws.Endpoint {
	t.Helper()
	cli, err := ws.Dial(url, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { cli.Close(0, "") })
	return cli
}

// raw is a client that is not this package's.
func raw(t testing.TB, srv *site) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(context.Background(), srv.url(), &websocket.DialOptions{Subprotocols: []string{ws.Subprotocol}})
	require.NoError(t, err)
	t.Cleanup(func() { c.CloseNow() })
	return c
}

// joined is a raw client that was accepted.
func joined(t testing.TB, srv *site) *websocket.Conn {
	t.Helper()
	c := raw(t, srv)
	require.NoError(t, c.Write(context.Background(), websocket.MessageBinary, []byte{1}))
	_, b, err := c.Read(context.Background())
	require.NoError(t, err)
	require.Equal(t, []byte{2}, b)
	return c
}

// rest reads until the end and returns its last message and the status of the close frame.
func rest(c *websocket.Conn) (last []byte, status websocket.StatusCode) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			return last, websocket.CloseStatus(err)
		}
		last = b
	}
}

func TestTokenAndIdentity(t *testing.T) {
	srv := listen(t, ws.Config{Accept: func(addr netip.AddrPort, token []byte) ([]byte, error) {
		if !addr.Addr().IsLoopback() || addr.Port() == 0 {
			return nil, fmt.Errorf("who is %v", addr)
		}
		if string(token) == "ticket of ann" {
			return []byte("ann"), nil
		}
		return nil, errors.New("no such ticket")
	}})
	defer srv.Close(0, "")
	ann := dial(t, srv.url(), ws.Config{Token: []byte("ticket of ann")})
	var info transport.Info
	require.True(t, srv.Info(wait(t, srv, transport.Connected).Peer, &info))
	assert.Equal(t, "ann", string(info.Identity))
	assert.True(t, info.Ordered)
	assert.False(t, info.Secure)
	assert.NotEmpty(t, info.Addr)
	wait(t, ann, transport.Connected)
	bob := dial(t, srv.url(), ws.Config{Token: []byte("ticket of bob")})
	ev := wait(t, bob, transport.Disconnected)
	assert.Equal(t, transport.Refused, ev.Code)
	assert.Equal(t, "no such ticket", ev.Reason)
	assert.EqualValues(t, 1, srv.Counters().Refused)
}

// Listen uses its port alone, and frees it when it is closed.
func TestListen(t *testing.T) {
	srv, err := ws.Listen("127.0.0.1:0", ws.Config{})
	require.NoError(t, err)
	addr := srv.LocalAddr().String()
	_, err = ws.Listen(addr, ws.Config{})
	require.ErrorContains(t, err, "cannot listen")
	_, err = ws.Listen(addr, ws.Config{MaxPeers: -1})
	require.ErrorContains(t, err, "MaxPeers")
	cli := dial(t, "ws://"+addr, ws.Config{})
	wait(t, cli, transport.Connected)
	require.NoError(t, srv.Close(transport.Closed, "bye"))
	require.Equal(t, "bye", wait(t, cli, transport.Disconnected).Reason)
	again, err := ws.Listen(addr, ws.Config{})
	require.NoError(t, err)
	require.NoError(t, again.Close(0, ""))
	require.ErrorIs(t, again.Close(0, ""), transport.ErrClosed)

	without, err := ws.NewServer(ws.Config{})
	require.NoError(t, err)
	assert.False(t, without.LocalAddr().IsValid())
	require.NoError(t, without.Close(0, ""))
}

func TestFull(t *testing.T) {
	srv := listen(t, ws.Config{MaxPeers: 1})
	defer srv.Close(0, "")
	first := dial(t, srv.url(), ws.Config{})
	wait(t, first, transport.Connected)
	assert.Equal(t, transport.Full, wait(t, dial(t, srv.url(), ws.Config{}), transport.Disconnected).Code)
	first.Close(0, "")
	wait(t, srv, transport.Connected)
	wait(t, srv, transport.Disconnected)
	wait(t, dial(t, srv.url(), ws.Config{}), transport.Connected)
}

func TestTLS(t *testing.T) {
	srv, err := ws.NewServer(ws.Config{})
	require.NoError(t, err)
	web := httptest.NewUnstartedServer(srv)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	defer web.Close()
	defer srv.Close(0, "")
	url := "wss" + strings.TrimPrefix(web.URL, "https")
	cli, err := ws.DialWith(web.Client(), url, ws.Config{})
	require.NoError(t, err)
	defer cli.Close(0, "")
	for _, ep := range []transport.Endpoint{srv, cli} {
		var info transport.Info
		require.True(t, ep.Info(wait(t, ep, transport.Connected).Peer, &info))
		assert.True(t, info.Secure)
	}
	// A certificate that no client trusts.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13}}}
	bad, err := ws.DialWith(client, url, ws.Config{})
	require.NoError(t, err)
	defer bad.Close(0, "")
	ev := wait(t, bad, transport.Disconnected)
	assert.Equal(t, transport.Unreachable, ev.Code)
	assert.Contains(t, ev.Reason, "certificate")
}

// Browsers report which page a script belongs to; other clients do not.
func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		origin string
		cfg    ws.Config
		status int
	}{
		{"", ws.Config{}, http.StatusSwitchingProtocols},
		{"own", ws.Config{}, http.StatusSwitchingProtocols},
		{"https://evil.example", ws.Config{}, http.StatusForbidden},
		{"https://play.example", ws.Config{Origins: []string{"*.other.example", "play.example"}}, http.StatusSwitchingProtocols},
		{"https://evil.example", ws.Config{Origins: []string{"play.example"}}, http.StatusForbidden},
		{"https://evil.example", ws.Config{AnyOrigin: true}, http.StatusSwitchingProtocols},
	} {
		srv := listen(t, c.cfg)
		h := http.Header{}
		if c.origin == "own" {
			c.origin = srv.page()
		}
		if c.origin != "" {
			h.Set("Origin", c.origin)
		}
		conn, resp, err := websocket.Dial(context.Background(), srv.url(),
			&websocket.DialOptions{Subprotocols: []string{ws.Subprotocol}, HTTPHeader: h})
		assert.Equal(t, c.status, resp.StatusCode, "%+v", c)
		if err == nil {
			conn.CloseNow()
		} else {
			assert.EqualValues(t, 1, srv.Counters().Foreign)
			assert.Zero(t, srv.Counters().NotUpgraded)
		}
		srv.Close(0, "")
	}
}

func TestWhatIsNoHandshake(t *testing.T) {
	srv := listen(t, ws.Config{})
	defer srv.Close(0, "")
	resp, err := http.Get(srv.page())
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusUpgradeRequired, resp.StatusCode)
	_, resp, err = websocket.Dial(context.Background(), srv.url(), &websocket.DialOptions{Subprotocols: []string{"chat", "foretick.0"}})
	require.Error(t, err)
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	assert.EqualValues(t, 2, srv.Counters().NotUpgraded)

	// A server that speaks another subprotocol.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			c.CloseNow()
		}
	}))
	defer other.Close()
	cli := dial(t, "ws"+strings.TrimPrefix(other.URL, "http"), ws.Config{})
	assert.Equal(t, transport.Mismatch, wait(t, cli, transport.Disconnected).Code)
}

func TestDialFails(t *testing.T) {
	t.Parallel()
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	forbidden := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer forbidden.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer mute.Close()
	for _, c := range []struct {
		url  string
		code transport.Code
	}{
		{"ws://127.0.0.1:1/", transport.Unreachable},
		{"ws" + strings.TrimPrefix(nothing.URL, "http"), transport.Unreachable},
		{"ws" + strings.TrimPrefix(forbidden.URL, "http"), transport.Refused},
		{"ws://" + mute.Addr().String(), transport.Timeout},
	} {
		begin := time.Now()
		cli := dial(t, c.url, ws.Config{Timeout: 500 * time.Millisecond})
		ev := wait(t, cli, transport.Disconnected)
		assert.Equal(t, c.code, ev.Code, "%s: %s", c.url, ev.Reason)
		assert.Less(t, time.Since(begin), nettest.Limit(3*time.Second))
	}
	for _, url := range []string{"", "http://play.example", "ws://", "ws://a b", "wss://play.example/#part", "127.0.0.1:80"} {
		_, err := ws.Dial(url, ws.Config{})
		assert.Error(t, err, url)
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := ws.NewServer(ws.Config{MaxPeers: -1, MaxPending: -1, MaxPendingPerAddr: 1 << 21, MaxConns: 1 << 21,
		ControlRate: 1 << 21, ReceiveQueue: -1, SendQueue: 1, Same: 3,
		Timeout: 1, KeepAlive: time.Hour, Token: make([]byte, ws.MaxToken+1)})
	for _, field := range []string{"MaxPeers", "MaxPending", "MaxPendingPerAddr", "MaxConns", "ControlRate", "Same", "ReceiveQueue", "SendQueue",
		"Timeout", "KeepAlive", "Token"} {
		assert.ErrorContains(t, err, "Config."+field+" ")
	}
	_, err = ws.NewServer(ws.Config{MaxConns: 64})
	assert.ErrorContains(t, err, "Config.MaxConns ", "it would keep out the last player")
	_, err = ws.Dial("ws://127.0.0.1", ws.Config{Timeout: 1})
	assert.ErrorContains(t, err, "Config.Timeout")
}

// A message that no client of this package sends ends the connection, with a reason.
func TestBrokenClients(t *testing.T) {
	binary, text := websocket.MessageBinary, websocket.MessageText
	type message struct {
		kind websocket.MessageType
		b    []byte
	}
	for _, c := range []struct {
		name  string
		hello bool
		send  message
		code  transport.Code
	}{
		{"no hello", false, message{binary, []byte{0, 1, 2}}, transport.Malformed},
		{"nothing for a hello", false, message{binary, nil}, transport.Malformed},
		{"text for a hello", false, message{text, []byte{1}}, transport.Malformed},
		{"a token too long", false, message{binary, append([]byte{1}, make([]byte, ws.MaxToken+1)...)}, transport.Malformed},
		{"text", true, message{text, []byte("hi")}, transport.Malformed},
		{"an empty message", true, message{binary, nil}, transport.Malformed},
		{"another hello", true, message{binary, []byte{1}}, transport.Malformed},
		{"an accept", true, message{binary, []byte{2}}, transport.Malformed},
		{"no such type", true, message{binary, []byte{9, 9}}, transport.Malformed},
		{"an odd alive", true, message{binary, []byte{3, 2}}, transport.Malformed},
		{"a short end", true, message{binary, []byte{4, 0}}, transport.Malformed},
		{"a long end", true, message{binary, append([]byte{4, 0, 1}, make([]byte, transport.MaxReason+1)...)}, transport.Malformed},
		{"a datagram too long", true, message{binary, make([]byte, ws.MTU+2)}, transport.Malformed},
		{"a megabyte", true, message{binary, make([]byte, 1<<20)}, transport.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := listen(t, ws.Config{})
			defer srv.Close(0, "")
			var conn *websocket.Conn
			if c.hello {
				conn = joined(t, srv)
				wait(t, srv, transport.Connected)
			} else {
				conn = raw(t, srv)
			}
			conn.Write(context.Background(), c.send.kind, c.send.b)
			last, status := rest(conn)
			if len(c.send.b) <= ws.MTU+2 {
				require.GreaterOrEqual(t, len(last), 3)
				assert.Equal(t, []byte{4, 0, byte(c.code)}, last[:3])
				assert.EqualValues(t, 4000+int(c.code), status)
			}
			if c.hello {
				assert.Equal(t, c.code, wait(t, srv, transport.Disconnected).Code)
			}
			for range 3 { // other clients can still connect
				wait(t, dial(t, srv.url(), ws.Config{}), transport.Connected)
				wait(t, srv, transport.Connected)
			}
		})
	}
}

// Status codes of other implementations are mapped to codes, and ours to status codes for them.
func TestCloseCodes(t *testing.T) {
	srv := listen(t, ws.Config{})
	defer srv.Close(0, "")
	for status, code := range map[websocket.StatusCode]transport.Code{
		websocket.StatusNormalClosure: transport.Unreachable, websocket.StatusGoingAway: transport.Unreachable,
		websocket.StatusProtocolError: transport.Protocol, websocket.StatusMessageTooBig: transport.Malformed,
		websocket.StatusPolicyViolation: transport.Refused, websocket.StatusServiceRestart: transport.Unreachable,
		websocket.StatusTryAgainLater: transport.Unreachable, 4004: transport.Kicked, 4300: 300, 3333: transport.Unreachable,
	} {
		conn := joined(t, srv)
		wait(t, srv, transport.Connected)
		conn.Close(status, "because")
		ev := wait(t, srv, transport.Disconnected)
		assert.Equal(t, code, ev.Code, status)
		assert.Equal(t, "because", ev.Reason)
	}
	for code, status := range map[transport.Code]websocket.StatusCode{transport.Closed: 1000, transport.Kicked: 4004,
		300: 4300, 998: 4998, 5000: 4999} {
		conn := joined(t, srv)
		srv.Disconnect(wait(t, srv, transport.Connected).Peer, code, "because")
		last, got := rest(conn)
		assert.Equal(t, append([]byte{4, byte(code >> 8), byte(code)}, "because"...), last)
		assert.Equal(t, status, got)
	}
	conn := joined(t, srv)
	wait(t, srv, transport.Connected)
	conn.CloseNow()
	assert.Equal(t, transport.Unreachable, wait(t, srv, transport.Disconnected).Code, "gone without a word")
}

// A client that reads nothing costs a bounded queue, and then loses its connection. Sending to it never
// waits.
func TestSlowConsumer(t *testing.T) {
	costtest.Sockets(t)
	srv := listen(t, ws.Config{Timeout: 1500 * time.Millisecond})
	defer srv.Close(0, "")
	conn := joined(t, srv)
	p := wait(t, srv, transport.Connected).Peer
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // it keeps sending, so it is not silent
		for conn.Write(ctx, websocket.MessageBinary, []byte{0, 1}) == nil {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	before := nettest.Heap()
	begin, longest, sent := time.Now(), time.Duration(0), 0
	var info transport.Info
	for {
		t0 := time.Now()
		err := srv.Send(p, make([]byte, ws.MTU))
		longest = max(longest, time.Since(t0))
		if err != nil {
			require.ErrorIs(t, err, transport.ErrNoPeer)
			break
		}
		if sent++; sent == 10_000 {
			require.True(t, srv.Info(p, &info))
			grown := int64(nettest.Heap()) - int64(before)
			t.Logf("%+v; heap %+d kB, longest Send %v", info.Stats, grown/1024, longest)
			assert.Less(t, grown, int64(1<<20))
			assert.Greater(t, info.Stats.SendDropped, uint64(1000))
			assert.LessOrEqual(t, 10_000-info.Stats.SendDropped-info.Stats.Sent, uint64(128<<10)/ws.MTU)
		}
		require.Less(t, time.Since(begin), nettest.Patience)
		if sent > 10_000 {
			time.Sleep(time.Millisecond)
		}
	}
	assert.GreaterOrEqual(t, sent, 10_000, "or it was cut off before the queue was looked at")
	assert.Equal(t, transport.Overflow, wait(t, srv, transport.Disconnected).Code)
	assert.EqualValues(t, 1, srv.Counters().Stalled)
}

// Thousands of connections that send nothing are bounded, and keep no client out: row 9 of
// docs/RELIABILITY.md in WebSocket's form, since a TCP connection cannot be spoofed. They come from
// four addresses, as fast as they can.
func TestSoakHalfOpenFlood(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	d := nettest.Length(t, "a flood of", 600*time.Millisecond, 30*time.Second)
	srv := listen(t, ws.Config{MaxPending: 64, MaxPendingPerAddr: 64})
	defer srv.Close(0, "")
	before, threads := nettest.Heap(), runtime.NumGoroutine()
	handshake := "GET /play HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: foretick.1\r\n\r\n"
	stop := make(chan struct{})
	var sent atomic.Int64
	var busy sync.WaitGroup
	for i := range 4 {
		busy.Go(func() {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}}
			var held []net.Conn // the newest few hundred; the server has cut off the others
			defer func() {
				for _, c := range held {
					c.Close()
				}
			}()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if c, err := d.Dial("tcp4", srv.LocalAddr().String()); err == nil {
					_ = c.SetDeadline(time.Now().Add(time.Second))
					c.Write([]byte(handshake))
					sent.Add(1)
					if held = append(held, c); len(held) > 200 {
						_ = held[0].(*net.TCPConn).SetLinger(0) // so that ports do not run out
						held[0].Close()
						held = held[1:]
					}
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	var worst time.Duration
	more, grown := 0, int64(0)
	for begin := time.Now(); time.Since(begin) < d; {
		time.Sleep(d / 6)
		begin := time.Now()
		cli := dial(t, srv.url(), ws.Config{})
		toServer, toClient := nettest.Pair(t, srv, cli)
		worst = max(worst, time.Since(begin))
		nettest.Talk(t, srv, cli, toServer, toClient)
		more, grown = max(more, runtime.NumGoroutine()-threads), max(grown, int64(nettest.Heap())-int64(before))
	}
	close(stop)
	busy.Wait()
	t.Logf("%d silent connections in %v: clients connected in %v at most (3 s), %d goroutines and %d kB more at most, %+v", sent.Load(), d,
		worst.Round(time.Millisecond), more, grown/1024, srv.Counters())
	assert.Less(t, worst, nettest.Limit(3*time.Second))
	assert.Less(t, more, 64*2+100)
	assert.Less(t, grown, int64(32<<20))
	assert.NotZero(t, srv.Counters().Evicted)
}

// One address cannot take all the places for connections that have sent nothing yet.
func TestPendingPerAddr(t *testing.T) {
	t.Parallel()
	srv := listen(t, ws.Config{MaxPendingPerAddr: 3, Timeout: 2 * time.Second})
	defer srv.Close(0, "")
	for range 3 {
		raw(t, srv)
	}
	_, resp, err := websocket.Dial(context.Background(), srv.url(), &websocket.DialOptions{Subprotocols: []string{ws.Subprotocol}})
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	assert.Equal(t, transport.Full, wait(t, dial(t, srv.url(), ws.Config{}), transport.Disconnected).Code)
	nettest.Until(t, "they are cut off", func() bool { return srv.Counters().Unsaid >= 3 })
	wait(t, dial(t, srv.url(), ws.Config{}), transport.Connected)
}

// By default, as many connections of one address may wait as in a server.Server: a LAN party, or an
// office behind one NAT, connects at the same time.
func TestPendingOfOneAddress(t *testing.T) {
	srv := listen(t, ws.Config{Timeout: 20 * time.Second})
	defer srv.Close(0, "")
	for range 32 {
		raw(t, srv)
	}
	assert.Equal(t, transport.Full, wait(t, dial(t, srv.url(), ws.Config{}), transport.Disconnected).Code)
	assert.EqualValues(t, 1, srv.Counters().Limited)
}

// The server holds nothing of connections that ended.
func TestNothingIsLeftBehind(t *testing.T) {
	srv := listen(t, ws.Config{})
	defer srv.Close(0, "")
	for i := range 100 {
		cli, err := ws.Dial(srv.url(), ws.Config{})
		require.NoError(t, err)
		wait(t, srv, transport.Connected)
		if i%2 == 0 {
			wait(t, cli, transport.Connected)
		}
		cli.Close(transport.Closed, "")
		wait(t, srv, transport.Disconnected)
	}
	nettest.Until(t, "nothing is left", func() bool { return ws.Held(&srv.Endpoint) == 0 })
}
