package main

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// ends opens a server, and its clients: each as its line in the README says.
type ends func(t *testing.T) (server transport.Endpoint, dial func() (transport.Endpoint, error))

var over = map[string]ends{
	"udp": func(t *testing.T) (transport.Endpoint, func() (transport.Endpoint, error)) {
		srv, err := open(true, "127.0.0.1:0")
		require.NoError(t, err)
		addr := srv.(*udp.Endpoint).LocalAddr().String()
		return srv, func() (transport.Endpoint, error) { return open(false, addr) }
	},
	"ws": func(t *testing.T) (transport.Endpoint, func() (transport.Endpoint, error)) {
		srv, err := ws.Listen("127.0.0.1:0", ws.Config{})
		require.NoError(t, err)
		addr := srv.LocalAddr().String()
		return srv, func() (transport.Endpoint, error) { return ws.Dial("ws://"+addr, ws.Config{}) }
	},
	"dtls by certificate": func(t *testing.T) (transport.Endpoint, func() (transport.Endpoint, error)) {
		cert, err := dtls.NewCertificate()
		require.NoError(t, err)
		srv, err := dtls.Listen("127.0.0.1:0", dtls.Config{Certificate: &cert})
		require.NoError(t, err)
		addr, pin := srv.LocalAddr().String(), dtls.PinOf(cert)
		return srv, func() (transport.Endpoint, error) { return dtls.Dial(addr, dtls.Config{Pins: []dtls.Pin{pin}}) }
	},
	"dtls by ticket": func(t *testing.T) (transport.Endpoint, func() (transport.Endpoint, error)) {
		key, public := ticket.NewKey(), netip.MustParseAddrPort("192.0.2.7:7777")
		gate, err := ticket.NewGate(key, []netip.AddrPort{public}, nil)
		require.NoError(t, err)
		srv, err := dtls.Listen("127.0.0.1:0", dtls.Config{Gate: gate})
		require.NoError(t, err)
		addr := srv.LocalAddr().String()
		return srv, func() (transport.Endpoint, error) {
			tk, err := ticket.Issue(key, ticket.Claims{Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{public}})
			require.NoError(t, err)
			b, err := tk.MarshalBinary()
			require.NoError(t, err)
			return dtls.Dial(addr, dtls.Config{Ticket: b})
		}
	},
}

// Two players meet on a real server, over each transport: each moves, and sees the other move.
func TestTwoPlayersSeeEachOther(t *testing.T) {
	for name, open := range over {
		t.Run(name, func(t *testing.T) { t.Parallel(); meet(t, open) })
	}
}

func meet(t *testing.T, open ends) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	srv, dial := open(t)
	done := make(chan error, 3)
	go func() { done <- serve(ctx, srv) }()
	seen := make(chan string, 1024)
	for range 2 {
		cli, err := dial()
		require.NoError(t, err)
		go func() {
			done <- play(ctx, cli, func(format string, args ...any) {
				select {
				case seen <- fmt.Sprintf(format, args...):
				default:
				}
			})
		}()
	}
	where := map[string]map[string]bool{} // the positions of each player, on any screen
	for len(where["1"]) < 4 || len(where["2"]) < 4 {
		select {
		case line := <-seen:
			player, at, ok := strings.Cut(line[strings.Index(line, "player ")+7:], " at ")
			require.True(t, ok, line)
			if where[player] == nil {
				where[player] = map[string]bool{}
			}
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

// Server and player in one process: the player walks, and both end.
func TestAlone(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	where := map[string]bool{}
	err := playAlone(ctx, func(format string, args ...any) {
		_, at, _ := strings.Cut(fmt.Sprintf(format, args...), " at ")
		if where[at] = true; len(where) == 4 {
			stop()
		}
	})
	require.Len(t, where, 4)
	require.NoError(t, err)
}

func newPlayer() simtest.Player {
	g := &Game{}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Move, walk)}
}

// Whole matches on a terrible network, from seeds, as a game's own test.
func TestMatches(t *testing.T) {
	simtest.Check(t, simtest.Plan{Clients: 4, Play: 10 * time.Second, New: newPlayer, Extremes: true}, 2)
}

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, newPlayer) }

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 1100, "corrections/min": 1, "server-allocs/tick": 1, "client-allocs/step": 1.6}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
