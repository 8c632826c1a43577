//go:build !js

package ws_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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

// Frames of a client, masked with zeros.
const (
	pingFrame  = "\x89\x80\x00\x00\x00\x00"
	pongFrame  = "\x8a\x80\x00\x00\x00\x00"
	helloFrame = "\x82\x81\x00\x00\x00\x00\x01"
	aliveFrame = "\x82\x82\x00\x00\x00\x00\x03\x00"
	askFrame   = "\x82\x82\x00\x00\x00\x00\x03\x01"
)

// shaken returns a TCP connection whose WebSocket handshake is done.
func shaken(t testing.TB, srv *site) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := connect(t, srv.LocalAddr().String())
	_, err := io.WriteString(conn, upgrade+"\r\n")
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	return conn, r
}

// A peer that floods with control messages is dropped, before and after its hello, and costs few
// replies.
func TestControlFlood(t *testing.T) {
	costtest.Figures(t)
	costtest.Sockets(t)
	const rate = 50
	for _, c := range []struct{ name, first, frame string }{
		{"pings before the hello", "", pingFrame},
		{"pongs before the hello", "", pongFrame},
		{"pings", helloFrame, pingFrame},
		{"pongs", helloFrame, pongFrame},
		{"keep-alives", helloFrame, aliveFrame},
		{"questions", helloFrame, askFrame},
		{"pings within a message", helloFrame + "\x02\x80\x00\x00\x00\x00", pingFrame},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := listen(t, ws.Config{ControlRate: rate})
			defer srv.Close(0, "")
			honest := dial(t, srv.url(), ws.Config{})
			toServer, toClient := nettest.Pair(t, srv, honest)
			conn, r := shaken(t, srv)
			begin := time.Now()
			_, err := io.WriteString(conn, c.first)
			require.NoError(t, err)
			if c.first != "" {
				wait(t, srv, transport.Connected)
			}
			conn.Write(bytes.Repeat([]byte(c.frame), 20_000))
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(nettest.Patience)))
			answer, _ := io.ReadAll(r)
			most := int(rate * (2 + time.Since(begin).Seconds() + 1))
			assert.Less(t, bytes.Count(answer, []byte("\x8a\x00")), most, "pongs")
			assert.Less(t, len(answer), 300+most*4)
			assert.Contains(t, string(answer), "too many pings")
			n := srv.Counters()
			assert.EqualValues(t, 1, n.Flooded)
			assert.Zero(t, n.Malformed)
			if c.first != "" {
				ev := wait(t, srv, transport.Disconnected)
				assert.Equal(t, transport.Protocol, ev.Code)
			}
			nettest.Talk(t, srv, honest, toServer, toClient)
			nettest.Until(t, "nothing is left of it", func() bool { return ws.Held(&srv.Endpoint) == 3 })
		})
	}
}

// Honest clients and proxies send far fewer control messages than the limit. A negative limit is none.
func TestControlWithinTheRate(t *testing.T) {
	for _, c := range []struct {
		rate, pings int
	}{{0, 150}, {-1, 3000}} {
		srv := listen(t, ws.Config{ControlRate: c.rate, KeepAlive: 50 * time.Millisecond})
		cli := dial(t, srv.url(), ws.Config{KeepAlive: 50 * time.Millisecond})
		nettest.Pair(t, srv, cli)
		conn := joined(t, srv)
		wait(t, srv, transport.Connected)
		go func() { // reads the replies
			for {
				if _, _, err := conn.Read(context.Background()); err != nil {
					return
				}
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), nettest.Patience)
		for range c.pings {
			require.NoError(t, conn.Ping(ctx))
		}
		cancel()
		time.Sleep(300 * time.Millisecond)
		assert.Zero(t, srv.Recv(make([]transport.Event, 1)))
		assert.Zero(t, cli.Recv(make([]transport.Event, 1)))
		assert.Zero(t, srv.Counters().Flooded)
		srv.Close(0, "")
	}
}

// A client disconnects from a server that floods it, too.
func TestServerThatFloods(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{ws.Subprotocol}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		_, _, _ = c.Read(r.Context())
		_ = c.Write(r.Context(), websocket.MessageBinary, []byte{2})
		for c.Write(r.Context(), websocket.MessageBinary, []byte{3, 1}) == nil {
		}
	}))
	defer web.Close()
	cli := dial(t, "ws"+strings.TrimPrefix(web.URL, "http"), ws.Config{})
	wait(t, cli, transport.Connected)
	ev := wait(t, cli, transport.Disconnected)
	assert.Equal(t, transport.Protocol, ev.Code)
	assert.EqualValues(t, 1, cli.Counters().Flooded)
}
