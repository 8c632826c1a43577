package main

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/transporttest"
)

// The transport passes the tests that the library's own transports pass.
func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) transporttest.Net {
		return transporttest.Net{
			Server: func() transport.Endpoint {
				srv, err := Listen("127.0.0.1:0", 64)
				require.NoError(t, err)
				return srv
			},
			Client:     func(srv transport.Endpoint) transport.Endpoint { return Dial(srv.(*Endpoint).Addr()) },
			Concurrent: true,
			Allocs:     4,
		}
	})
}

// Two players meet on a real server: each moves, and sees the other move.
func TestGame(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	srv, err := open(true, "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 3)
	go func() { done <- run(ctx, srv, true, nil) }()
	seen := make(chan string, 1024)
	for range 2 {
		cli, err := open(false, srv.(*Endpoint).Addr())
		require.NoError(t, err)
		go func() {
			done <- run(ctx, cli, false, func(line string) {
				select {
				case seen <- line:
				default:
				}
			})
		}()
	}
	where := map[string]map[string]bool{"1": {}, "2": {}}
	for len(where["1"]) < 10 || len(where["2"]) < 10 {
		select {
		case line := <-seen:
			player, at, _ := strings.Cut(line[strings.Index(line, "player ")+7:], " at ")
			where[player][at] = true
		case err := <-done:
			require.NoError(t, err)
		case <-ctx.Done():
			require.Fail(t, "the players did not see each other move", "%v", where)
		}
	}
	stop()
	for range 3 {
		require.NoError(t, <-done)
	}
}

func next(t *testing.T, e *Endpoint) transport.Event {
	t.Helper()
	var ev [1]transport.Event
	for over := time.After(time.Minute); e.Recv(ev[:]) == 0; {
		select {
		case <-e.Ready():
		case <-over:
			require.Fail(t, "no event")
		}
	}
	return ev[0]
}

// A peer that sends an invalid frame is dropped without effect on others. A client is told when there is no room, and
// when nobody listens.
func TestStrangers(t *testing.T) {
	srv, err := Listen("127.0.0.1:0", 1)
	require.NoError(t, err)
	defer srv.Close(transport.Closed, "")
	for _, b := range []string{"\xff\xff", "\x04\xb1 more than a datagram", "GET / HTTP/1.1\r\n\r\n"} {
		c, err := net.Dial("tcp", srv.Addr())
		require.NoError(t, err)
		assert.Equal(t, transport.Connected, next(t, srv).Kind)
		_, err = c.Write([]byte(b))
		require.NoError(t, err)
		ev := next(t, srv)
		assert.Equal(t, transport.Disconnected, ev.Kind)
		assert.Equal(t, transport.Malformed, ev.Code, "%q", b)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err = io.ReadAll(c)
		assert.NotErrorIs(t, err, context.DeadlineExceeded, "it is hung up on")
		require.NoError(t, c.Close())
	}
	first := Dial(srv.Addr())
	defer first.Close(transport.Closed, "")
	require.Equal(t, transport.Connected, next(t, first).Kind)
	second := Dial(srv.Addr())
	defer second.Close(transport.Closed, "")
	assert.Equal(t, transport.Full, next(t, second).Code)

	nobody := Dial("127.0.0.1:1")
	defer nobody.Close(transport.Closed, "")
	assert.Equal(t, transport.Unreachable, next(t, nobody).Code)
}

func newPlayer() simtest.Player {
	g := &Game{}
	read := func(v client.View) Move { return Move{X: float32(v.Tick/30%2)*2 - 1} }
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Move, read)}
}

// TestPair plays the game over UDP; with flags it is one end, on a machine of its own: see
// package pair.
func TestPair(t *testing.T) { pair.Test(t, newPlayer) }

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 1100, "corrections/min": 1, "server-allocs/tick": 1, "client-allocs/step": 1.6}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
