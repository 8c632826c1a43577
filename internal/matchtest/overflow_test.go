package matchtest

import (
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// With -soak the tests on real sockets run at full length; with -v they print their
// figures:
//
//	go test ./internal/matchtest -run TestSlowConsumer -soak -v
var soak = flag.Bool("soak", false, "run the tests on real sockets at full length: half a minute")

// scores is a game whose server sends players their points.
type scores struct {
	place  ecs.Component[Position]
	player ecs.Prefab
	score  foretick.Message[points]
}

type points struct{ Points int16 }

// deaf is an endpoint that can stop to read received packets.
type deaf struct {
	transport.Endpoint
	stopped atomic.Bool
}

func (d *deaf) Recv(ev []transport.Event) int {
	n := d.Endpoint.Recv(ev)
	if d.stopped.Load() {
		return len(slices.DeleteFunc(ev[:n], func(e transport.Event) bool { return e.Kind == transport.Data }))
	}
	return n
}

// TestSlowConsumer: over real sockets, a client reads nothing while the server continues to send
// it reliable messages. It is disconnected with that reason once 256 KiB wait. Until then and
// afterwards the server's ticks are on time, and the other client gets every message.
func TestSlowConsumer(t *testing.T) {
	costtest.Sockets(t)
	perTick, lasts := 25, time.Second
	if *soak {
		perTick, lasts = 1, 35*time.Second
	}
	h := &scores{}
	game := func(h *scores) *foretick.Protocol {
		p := foretick.NewProtocol("test", 1)
		p.Component(&h.place)
		p.Prefab(&h.player, "player", &h.place)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&h.player, player) })
		return p
	}
	p := game(h)
	h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, points) {})
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	// The rate is high, so that only the queue for the client that does not read fills.
	srv, err := server.New(server.Config{Protocol: p, Transport: listen, SendRate: 1 << 20, Timeout: time.Minute})
	require.NoError(t, err)
	defer func() { _ = srv.Close("") }()

	var got atomic.Int64
	var over sync.WaitGroup
	stop := make(chan struct{})
	reason := make(chan error, 1)
	player := func(onScore func(), slow *deaf) {
		h := &scores{}
		p := game(h)
		h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, points) { onScore() })
		e, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
		require.NoError(t, err)
		slow.Endpoint = e
		c, err := client.New(client.Config{Protocol: p, Transport: slow, Timeout: time.Minute})
		require.NoError(t, err)
		over.Add(1)
		go func() {
			defer over.Done()
			for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
				v := c.Step(time.Now())
				select {
				case <-stop:
					_ = c.Close()
					return
				default:
				}
				if v.State == client.Closed {
					reason <- v.Err
					_ = c.Close()
					return
				}
			}
		}()
	}
	good, slow := &deaf{}, &deaf{}
	player(func() { got.Add(1) }, good)
	player(func() {}, slow)

	var late []time.Duration
	sent, most, begun := 0, 0, time.Time{}
	var overflowed time.Duration
	rest := func() bool { // all messages were sent and received, and the disconnect, too
		return !begun.IsZero() && time.Since(begun) >= lasts && len(reason) > 0 && got.Load() >= int64(sent)
	}
	for deadline := time.Now().Add(lasts + time.Minute); !rest() && time.Now().Before(deadline); {
		if next := srv.Next(); !next.IsZero() {
			time.Sleep(time.Until(next))
			if !begun.IsZero() {
				late = append(late, time.Since(next))
			}
		}
		srv.Step(time.Now())
		switch {
		case begun.IsZero() && len(srv.Players(nil)) == 2:
			begun = time.Now()
			slow.stopped.Store(true)
		case begun.IsZero():
		case overflowed == 0 && srv.Stats().Overflowed > 0:
			overflowed = time.Since(begun)
		case overflowed == 0 || time.Since(begun) < lasts:
			for range perTick {
				sent++
				h.score.Broadcast(srv.Frame(), points{Points: 5})
			}
			for _, player := range srv.Players(nil) {
				most = max(most, probe.OfServer(srv).Queued(player.ID))
			}
		}
	}
	require.True(t, rest(), "%d of %d messages came", got.Load(), sent)
	close(stop)
	over.Wait()
	slices.Sort(late)
	t.Logf("%d messages; the slow client was dropped after %v with at most %d KiB queued; %d ticks, late by p50 %v, p99 %v, at most %v; the other got %d",
		sent, overflowed.Round(time.Millisecond), most>>10, len(late), late[len(late)/2], late[len(late)*99/100], late[len(late)-1], got.Load())
	var e *transport.DisconnectError
	require.ErrorAs(t, <-reason, &e)
	require.Equal(t, transport.Overflow, e.Code)
	require.LessOrEqual(t, most, 256<<10)
	require.Greater(t, most, 240<<10)
	require.EqualValues(t, sent, got.Load())
	require.EqualValues(t, 1, srv.Stats().Overflowed)
	require.Len(t, srv.Players(nil), 1)
	held := late[len(late)/2] // with few ticks a busy machine alone may spoil the 99th percentile
	if *soak {
		held = late[len(late)*99/100]
	}
	require.Less(t, held, 80*time.Millisecond)
}
