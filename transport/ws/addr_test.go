//go:build !js

package ws_test

import (
	"context"
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ws"
)

// told is a ClientAddr that trusts a header.
func told(r *http.Request) netip.AddrPort {
	a, _ := netip.ParseAddrPort(r.Header.Get("Test-Addr"))
	return a
}

// via makes a handshake like that of a proxy that reports the client's address addr.
func via(t testing.TB, srv *site, addr string) (*websocket.Conn, int) {
	t.Helper()
	c, resp, err := websocket.Dial(context.Background(), srv.url(), &websocket.DialOptions{Subprotocols: []string{ws.Subprotocol},
		HTTPHeader: http.Header{"Test-Addr": {addr}}})
	if err == nil {
		t.Cleanup(func() { c.CloseNow() })
	}
	require.NotNil(t, resp, err)
	return c, resp.StatusCode
}

// The client's address is the result of ClientAddr, for the hook and in Info; RemoteAddr replaces an invalid one.
func TestClientAddr(t *testing.T) {
	for _, c := range []struct{ header, want string }{
		{"203.0.113.7:4711", "203.0.113.7:4711"},
		{"203.0.113.7:0", "203.0.113.7:0"},
		{"[2001:db8::7]:99", "[2001:db8::7]:99"},
		{"[::ffff:203.0.113.7]:4711", "203.0.113.7:4711"},
		{"", ""},
		{"nonsense", ""},
		{"203.0.113.7", ""},
	} {
		hooked := make(chan netip.AddrPort, 1)
		srv := listen(t, ws.Config{ClientAddr: told, Accept: func(a netip.AddrPort, _ []byte) ([]byte, error) {
			hooked <- a
			return nil, nil
		}})
		conn, status := via(t, srv, c.header)
		require.Equal(t, http.StatusSwitchingProtocols, status)
		require.NoError(t, conn.Write(context.Background(), websocket.MessageBinary, []byte{1}))
		var info transport.Info
		require.True(t, srv.Info(wait(t, srv, transport.Connected).Peer, &info))
		got := <-hooked
		assert.Equal(t, got.String(), info.Addr)
		if c.want == "" {
			assert.True(t, got.Addr().Is4() && got.Addr().IsLoopback() && got.Port() != 0, "%v for %q", got, c.header)
		} else {
			assert.Equal(t, c.want, info.Addr)
		}
		conn.CloseNow()
		srv.Close(0, "")
	}
}

// The limits by address apply to the clients' addresses instead of the proxy's. An IPv6 /64 counts as
// one, and IPv4 is the same in either form.
func TestClientAddrLimits(t *testing.T) {
	srv := listen(t, ws.Config{ClientAddr: told, MaxPendingPerAddr: 2, Timeout: 20 * time.Second})
	defer srv.Close(0, "")
	for _, c := range []struct {
		addr   string
		status int
	}{
		{"203.0.113.7:1", http.StatusSwitchingProtocols},
		{"[::ffff:203.0.113.7]:2", http.StatusSwitchingProtocols},
		{"203.0.113.7:3", http.StatusTooManyRequests},
		{"203.0.113.8:1", http.StatusSwitchingProtocols},
		{"[2001:db8:1:1::1]:1", http.StatusSwitchingProtocols},
		{"[2001:db8:1:1:ffff::2]:1", http.StatusSwitchingProtocols},
		{"[2001:db8:1:1:a:b:c:d]:1", http.StatusTooManyRequests},
		{"[2001:db8:1:2::1]:1", http.StatusSwitchingProtocols},
		{"", http.StatusSwitchingProtocols},
		{"", http.StatusSwitchingProtocols},
		{"", http.StatusTooManyRequests},
	} {
		_, status := via(t, srv, c.addr)
		assert.Equal(t, c.status, status, c.addr)
	}
	assert.EqualValues(t, 3, srv.Counters().Limited)
	nettest.Until(t, "the rest wait", func() bool { return ws.Pending(srv.Server) == 8 })
}

// TestClientAddrFails: a ClientAddr that panics or ends its goroutine refuses that client, is counted,
// and is logged once. Others can connect.
func TestClientAddrFails(t *testing.T) {
	for way, fail := range map[string]func(){"panic": func() { panic("planted") }, "Goexit": runtime.Goexit} {
		log := &nettest.Failures{}
		srv := listen(t, ws.Config{Logger: log, ClientAddr: func(r *http.Request) netip.AddrPort {
			if r.Header.Get("Test-Addr") == "bad" {
				fail()
			}
			return told(r)
		}})
		for range 3 {
			_, status := via(t, srv, "bad")
			require.Equal(t, http.StatusInternalServerError, status, way)
		}
		_, status := via(t, srv, "203.0.113.7:4711")
		require.Equal(t, http.StatusSwitchingProtocols, status, way)
		require.EqualValues(t, 3, srv.Counters().AcceptPanics, way)
		require.Equal(t, 1, log.Lines(), way)
	}
}
