//go:build !js

package ws_test

import (
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ws"
)

// late copies bytes, each after the delay by.
func late(to io.WriteCloser, from io.Reader, by time.Duration) {
	type chunk struct {
		at time.Time
		b  []byte
	}
	line := make(chan chunk, 1000)
	go func() {
		defer to.Close()
		for c := range line {
			time.Sleep(time.Until(c.at))
			if _, err := to.Write(c.b); err != nil {
				return
			}
		}
	}()
	defer close(line)
	for {
		b := make([]byte, 4096)
		n, err := from.Read(b)
		if err != nil {
			return
		}
		line <- chunk{time.Now().Add(by), b[:n]}
	}
}

// farAway relays TCP connections, with a delay in each direction.
func farAway(t testing.TB, to string, by time.Duration) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp4", to)
			if err != nil {
				in.Close()
				continue
			}
			go late(out, in, by)
			go late(in, out, by)
		}
	}()
	return l.Addr().String()
}

// A client with a round trip of two seconds connects: TLS, HTTP and the token take a round trip each, more than
// Timeout in total. In the short form all times are a tenth.
func TestFarClientsGetIn(t *testing.T) {
	trip := nettest.Length(t, "a round trip of", 200*time.Millisecond, 2*time.Second)
	srv, err := ws.NewServer(ws.Config{})
	require.NoError(t, err)
	defer srv.Close(0, "")
	web := httptest.NewTLSServer(srv)
	defer web.Close()
	addr := farAway(t, strings.TrimPrefix(web.URL, "https://"), trip/2)
	begin := time.Now()
	cli, err := ws.DialWith(web.Client(), "wss://"+addr, ws.Config{Timeout: trip * 5 / 2, Token: []byte("far")})
	require.NoError(t, err)
	defer cli.Close(0, "")
	var ev [1]transport.Event
	nettest.Until(t, "there is an answer", func() bool { return cli.Recv(ev[:]) == 1 })
	t.Logf("%.1f round trips", float64(time.Since(begin))/float64(trip))
	require.Equal(t, transport.Connected, ev[0].Kind, "%v %q", ev[0].Code, ev[0].Reason)
}
