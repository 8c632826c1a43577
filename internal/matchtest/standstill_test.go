package matchtest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// letterbox stores the time at which each datagram came, as the endpoint of a hosted match does.
type letterbox struct {
	*sim.Endpoint
	waiting []transport.Event
}

// collect stores the datagrams that have come by now.
func (l *letterbox) collect(now time.Time) {
	var ev [16]transport.Event
	for n := len(ev); n == len(ev); {
		n = l.Endpoint.Recv(ev[:])
		for _, e := range ev[:n] {
			if e.Kind == transport.Data {
				e.Data, e.At = bytes.Clone(e.Data), now
			}
			l.waiting = append(l.waiting, e)
		}
	}
}

func (l *letterbox) Recv(ev []transport.Event) int {
	n := copy(ev, l.waiting)
	l.waiting = l.waiting[n:]
	return n
}

// TestServerStoodStill: a server that stalls for longer than its Timeout, or whose clock is set
// ahead, drops no connected player. A player that is gone is dropped Timeout later.
func TestServerStoodStill(t *testing.T) {
	const timeout = time.Second
	for _, way := range []string{"the clock is set", "the process stops", "the process stops behind a host"} {
		for _, gap := range []time.Duration{900 * time.Millisecond, 1100 * time.Millisecond, 3 * time.Second} {
			t.Run(fmt.Sprint(way, " ", gap), func(t *testing.T) {
				net := sim.NewNetwork(4)
				link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02}
				box := &letterbox{Endpoint: net.Listen()}
				var end transport.Endpoint = box.Endpoint
				if way == "the process stops behind a host" {
					end = box
				}
				var g Walk
				srv, err := server.New(server.Config{Protocol: g.Protocol(), Transport: end, Timeout: timeout})
				require.NoError(t, err)
				var clients []*client.Client
				for range 3 {
					var g Walk
					c, err := client.New(client.Config{Protocol: g.Protocol(), Transport: net.Dial(box.Endpoint, link, link), Timeout: time.Minute,
						Sample: client.Sample(&g.Move, func(client.View) Move { return Move{X: 1} })})
					require.NoError(t, err)
					clients = append(clients, c)
				}
				ahead, stopped := time.Duration(0), false
				run := func(d time.Duration) {
					for until := net.Now() + d; net.Now() < until; {
						net.Run(net.Now() + 5*time.Millisecond)
						now := time.Unix(7000, 0).Add(net.Now())
						if end == box {
							box.collect(now)
						}
						if !stopped {
							srv.Step(now.Add(ahead))
						}
						for _, c := range clients {
							c.Step(now)
						}
					}
				}
				players := func() (playing, held int) {
					var f stats.Server
					srv.Figures(&f)
					return f.Players, f.Held
				}
				run(5 * time.Second)
				n, _ := players()
				require.Equal(t, 3, n)

				clients = clients[:2] // the third client sends nothing any more
				run(50 * time.Millisecond)
				if way == "the clock is set" {
					ahead = gap
				} else {
					stopped = true
					run(gap)
					stopped = false
				}
				run(timeout / 2)
				n, held := players()
				require.Equal(t, 3, n+held)
				require.GreaterOrEqual(t, n, 2)
				run(2 * timeout)
				n, held = players()
				require.Equal(t, 2, n, "those that are there")
				require.Equal(t, 1, held, "the one that is not")
				require.Zero(t, srv.Stats().Resumed)
			})
		}
	}
}
