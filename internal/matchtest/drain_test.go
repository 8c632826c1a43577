package matchtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// A draining server refuses new players. It accepts players that reconnect, whether it has noticed
// the loss of their connection or not. It closes itself when the last player is gone.
func TestDrain(t *testing.T) {
	h := newVenue(t, server.Config{Observe: func(server.Observer) (server.Grant, error) { return server.Public(), nil }})
	stays, sleeps, breaks := h.enters("1.0.0.1:1"), h.enters("1.0.0.2:1"), h.enters("1.0.0.3:1")
	h.run(10 * time.Second)
	sleeps.asleep = true
	h.run(6 * time.Second) // the server notices the loss of its connection
	h.srv.Drain("this server is replaced")
	h.srv.Drain("a later reason does not count")
	h.run(time.Second)

	refused := func(name string, hello func(*netcode.Packet)) {
		c := h.call("1.0.0.9:1")
		c.say(hello)
		h.run(200 * time.Millisecond)
		require.NotNil(t, c.gone, name)
		require.Equal(t, transport.Refused, c.gone.Code, name)
		require.Equal(t, "this server is replaced", c.gone.Reason, name)
	}
	refused("a newcomer", stays.hello([16]byte{}))
	refused("a token of elsewhere", stays.hello([16]byte{1}))
	refused("an observer", func(pk *netcode.Packet) {
		pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: h.hash, Role: netcode.RoleObserve}.Append(nil))
	})
	refused("an observer with a player's token", func(pk *netcode.Packet) {
		pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: h.hash, Role: netcode.RoleObserve, Resume: stays.welcome.Resume}.Append(nil))
	})

	returns := func(c *caller) *caller {
		again := h.call("1.0.0.8:1")
		again.plays, c.asleep = true, true
		again.say(again.hello(c.welcome.Resume))
		h.run(200 * time.Millisecond)
		require.Nil(t, again.gone)
		require.True(t, again.welcome.Resumed)
		require.Equal(t, c.welcome.Owner, again.welcome.Owner)
		return again
	}
	all := []*caller{stays, returns(sleeps), returns(breaks)}
	h.run(time.Second)
	require.Len(t, h.srv.Players(nil), 3)
	for i, c := range all {
		require.NoError(t, h.srv.Do("a test", func(*foretick.ServerFrame) {}), "the match goes on")
		require.NoError(t, c.e.Close(transport.Closed, ""))
		c.asleep = true
		h.run(500 * time.Millisecond)
		require.Len(t, h.srv.Players(nil), 2-i)
	}
	require.ErrorIs(t, h.srv.Close(""), transport.ErrClosed, "it has closed itself")
	require.EqualValues(t, 4, h.srv.Stats().Refused)
	require.Contains(t, h.heard, "leave 3")
}

// A draining server stays open as long as it holds a place for a player.
func TestDrainWaitsForHeldPlaces(t *testing.T) {
	h := newVenue(t, server.Config{ReconnectWindow: 8 * time.Second})
	c := h.enters("1.0.0.1:1")
	h.run(20 * time.Second)
	h.srv.Drain("")
	c.asleep = true
	h.run(12 * time.Second)
	require.Len(t, h.srv.Players(nil), 1, "it may still come back")
	h.run(2 * time.Second)
	require.ErrorIs(t, h.srv.Close(""), transport.ErrClosed)
}

// Server.Run returns when a draining server has no players left. Other goroutines may call Drain.
func TestDrainEndsRun(t *testing.T) {
	srv := newVenue(t, server.Config{}).srv
	go srv.Drain("the process ends")
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	require.NoError(t, srv.Run(ctx))
	require.NoError(t, ctx.Err())
}

// scored stores the messages that a client received.
type scored struct {
	Walk
	Score foretick.Message[thing]
	heard []uint32
}

func (g *scored) protocol() *foretick.Protocol {
	p := g.Protocol()
	g.Score.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, m thing) { g.heard = append(g.heard, m.N) })
	return p
}

// closed records when a server closes its endpoint.
type closed struct {
	*sim.Endpoint
	at func() time.Duration
	by time.Duration // time of the Close; 0: not closed yet
}

func (c *closed) Close(code transport.Code, detail string) error {
	c.by = c.at()
	return c.Endpoint.Close(code, detail)
}

// With Shutdown the last messages of a match arrive before it closes, over a link that loses more
// than half of all packets. Close loses them. A dead link delays the server for the given time.
func TestShutdownDeliversLastMessages(t *testing.T) {
	for _, c := range []struct {
		name   string
		linger time.Duration
		loss   float64
	}{{"lingers", 20 * time.Second, 0.6}, {"does not wait", 0, 0.6}, {"waits no longer", 2 * time.Second, 1}} {
		t.Run(c.name, func(t *testing.T) {
			net := sim.NewNetwork(3)
			end := &closed{net.Listen(), net.Now, 0}
			var g, mine scored
			srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: end})
			require.NoError(t, err)
			dialled := net.Dial(end.Endpoint, sim.Link{Latency: 80 * time.Millisecond}, sim.Link{Latency: 80 * time.Millisecond})
			cli, err := client.New(client.Config{Protocol: mine.protocol(), Transport: dialled})
			require.NoError(t, err)
			now := func() time.Time { return time.Unix(100, 0).Add(net.Now()) }
			run := func(d time.Duration) {
				for until := net.Now() + d; net.Now() < until; {
					net.Run(net.Now() + 10*time.Millisecond)
					srv.Step(now())
					cli.Step(now())
				}
			}
			run(3 * time.Second)
			require.Equal(t, client.Playing, cli.View().State)
			up, down := net.Paths(dialled)
			bad := sim.Link{Latency: 80 * time.Millisecond, Loss: c.loss}
			up.SetLink(bad)
			down.SetLink(bad)
			var over foretick.Tick
			require.NoError(t, srv.Do("the end", func(f *foretick.ServerFrame) {
				for i := range uint32(200) {
					g.Score.Broadcast(f, thing{i})
				}
				over = f.Tick
				require.NoError(t, srv.Shutdown("the match is over", c.linger))
				require.ErrorIs(t, srv.Shutdown("again", c.linger), transport.ErrClosed)
			}))
			begun := net.Now()
			run(100 * time.Millisecond)
			if c.linger > 0 {
				require.Zero(t, end.by)
				require.ErrorIs(t, srv.Do("too late", func(*foretick.ServerFrame) {}), transport.ErrClosed)
				require.ErrorIs(t, srv.Shutdown("", time.Second), transport.ErrClosed)
				require.Less(t, srv.Next().Sub(now()), 100*time.Millisecond)
				late := net.Dial(end.Endpoint, sim.Link{}, sim.Link{})
				other, err := client.New(client.Config{Protocol: (&scored{}).protocol(), Transport: late})
				require.NoError(t, err)
				for range 30 {
					run(10 * time.Millisecond)
					other.Step(now())
				}
				var why *client.ProtocolError
				require.NotErrorAs(t, other.View().Err, &why)
				require.ErrorContains(t, other.View().Err, "the match is over", "nobody else is let in")
			}
			run(25 * time.Second)
			require.Equal(t, over, srv.Tick(), "no tick more")
			require.NotZero(t, end.by)
			switch {
			case c.loss == 1:
				require.InDelta(t, c.linger, end.by-begun, float64(50*time.Millisecond))
			case c.linger > 0:
				require.Len(t, mine.heard, 200)
				require.Less(t, end.by-begun, 10*time.Second, "and no longer than that takes")
				var gone *transport.DisconnectError
				require.ErrorAs(t, cli.View().Err, &gone)
				require.Equal(t, "the match is over", gone.Reason)
			default:
				require.Less(t, len(mine.heard), 200, "or this test shows nothing")
			}
		})
	}
}

// Close ends a Shutdown that waits for deliveries.
func TestCloseEndsLingering(t *testing.T) {
	h := newVenue(t, server.Config{})
	h.enters("1.0.0.1:1")
	h.run(time.Second)
	require.NoError(t, h.srv.Shutdown("over", time.Hour))
	require.NoError(t, h.srv.Close("now"))
	require.ErrorIs(t, h.srv.Shutdown("over", time.Hour), transport.ErrClosed)
	require.Contains(t, h.heard, "leave 1")
}
