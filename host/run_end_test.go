package host

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ticket"
)

var errBroken = errors.New("the socket is broken")

// unclosable is an endpoint whose Close fails.
type unclosable struct{ transport.Endpoint }

func (u unclosable) Close(c transport.Code, reason string) error {
	_ = u.Endpoint.Close(c, reason)
	return errBroken
}

// TestRunEnds: Run returns nil after each end that the program asked for, and the endpoint's error if
// the endpoint cannot be closed.
func TestRunEnds(t *testing.T) {
	type way struct {
		before   func(h *Host, stop func()) // called before Run
		during   func(h *Host, stop func()) // called when a match runs
		deadline time.Duration
		breaks   bool
		want     error
	}
	stop := func(_ *Host, stop func()) { stop() }
	shutsDown := func(linger time.Duration) func(*Host, func()) {
		return func(h *Host, _ func()) { h.Shutdown("over", linger) }
	}
	drains := func(h *Host, _ func()) { h.Drain("over") }
	for name, c := range map[string]way{
		"context before Run":       {before: stop},
		"context":                  {during: stop},
		"context, broken endpoint": {during: stop, breaks: true, want: errBroken},
		"deadline":                 {deadline: 50 * time.Millisecond},
		"Drain without a match":    {before: drains},
		"Drain with a match":       {during: drains},
		"Shutdown before Run":      {before: shutsDown(time.Second)},
		"Shutdown":                 {during: shutsDown(time.Second)},
		"Shutdown at once":         {during: shutsDown(0)},
		"Close":                    {during: func(h *Host, _ func()) { _ = h.Close("over") }},
		"Close twice":              {during: func(h *Host, _ func()) { _, _ = h.Close("over"), h.Close("again") }},
		"Close without a match":    {before: func(h *Host, _ func()) { time.AfterFunc(200*time.Millisecond, func() { _ = h.Close("over") }) }},
		"Close before Run":         {before: func(h *Host, _ func()) { _ = h.Close("over") }},
		"endpoint closed before":   {before: func(h *Host, stop func()) { _ = h.endpoint.Close(transport.Closed, ""); stop() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := transport.Endpoint(sim.NewNetwork(1).Listen())
			if c.breaks {
				end = unclosable{end}
			}
			h, err := New(Config{Transport: end, NewMatch: func(_ string, end transport.Endpoint) (Match, error) {
				return server.New(server.Config{Protocol: new(game).protocol(), Transport: end})
			}})
			require.NoError(t, err)
			ctx, stop := context.WithTimeout(context.Background(), cmp.Or(c.deadline, time.Hour))
			defer stop()
			if c.before != nil {
				c.before(h, stop)
			}
			ran := make(chan error, 1)
			go func() { ran <- h.Run(ctx) }()
			if c.during != nil {
				require.NoError(t, h.Allocate("a"))
				require.Eventually(t, func() bool { return h.Stats().Matches == 1 }, 20*time.Second, time.Millisecond)
				c.during(h, stop)
			}
			select {
			case err := <-ran:
				require.Equal(t, c.want, err)
			case <-time.After(20 * time.Second):
				require.Fail(t, "Run does not return")
			}
			require.ErrorIs(t, h.Close(""), transport.ErrClosed, "Run has closed the host")
			require.NoError(t, h.Run(context.Background()), "it stays so")
		})
	}
}

// The last messages of a match arrive with Shutdown, over a link that loses more than half of all
// packets, if its linger is long enough. A link that is dead delays the host for the linger.
func TestShutdownDeliversLastMessages(t *testing.T) {
	type score struct{ N uint32 }
	for _, c := range []struct {
		name   string
		linger time.Duration
		loss   float64
	}{{"lingers", 20 * time.Second, 0.6}, {"does not wait", 0, 0.6}, {"waits no longer", 3 * time.Second, 1}} {
		t.Run(c.name, func(t *testing.T) {
			var sent, heard foretick.Message[score]
			var got []uint32
			rules := func(m *foretick.Message[score]) *foretick.Protocol {
				p := foretick.NewProtocol("last words", 1)
				m.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, s score) { got = append(got, s.N) })
				return p
			}
			net := sim.NewNetwork(3)
			end := &named{net.Listen(), map[string]string{}}
			var srv *server.Server
			h, err := New(Config{Transport: end, OnDemand: true, Linger: time.Hour, NewMatch: func(_ string, end transport.Endpoint) (_ Match, err error) {
				srv, err = server.New(server.Config{Protocol: rules(&sent), Transport: end})
				return srv, err
			}})
			require.NoError(t, err)
			dialled := net.Dial(end.Endpoint, sim.Link{Latency: 40 * time.Millisecond}, sim.Link{Latency: 40 * time.Millisecond})
			end.names[sim.Addr(dialled.ID())] = string(ticket.JoinIdentity("a", []byte("somebody")))
			cli, err := client.New(client.Config{Protocol: rules(&heard), Transport: dialled})
			require.NoError(t, err)
			now := func() time.Time { return time.Unix(5000, 0).Add(net.Now()) }
			run := func(d time.Duration, until func() bool) time.Duration {
				begun := net.Now()
				for net.Now() < begun+d && !until() {
					net.Run(net.Now() + 5*time.Millisecond)
					h.Step(now())
					cli.Step(now())
				}
				return net.Now() - begun
			}
			run(3*time.Second, func() bool { return cli.View().State == client.Playing })
			require.Equal(t, client.Playing, cli.View().State)
			up, down := net.Paths(dialled)
			bad := sim.Link{Latency: 40 * time.Millisecond, Loss: c.loss}
			up.SetLink(bad)
			down.SetLink(bad)
			require.NoError(t, srv.Do("the end", func(f *foretick.ServerFrame) {
				for i := range uint32(200) {
					sent.Broadcast(f, score{i})
				}
				h.Shutdown("the match is over", c.linger)
				h.Shutdown("a later linger does not count", time.Hour)
			}))
			took := run(30*time.Second, h.done)
			require.True(t, h.done())
			switch {
			case c.loss == 1:
				require.InDelta(t, c.linger, took, float64(200*time.Millisecond))
			case c.linger > 0:
				run(time.Second, func() bool { return cli.View().State == client.Closed })
				require.Len(t, got, 200)
				require.ErrorContains(t, cli.View().Err, "the match is over")
				require.Less(t, took, 15*time.Second, "and no longer than that takes")
			default:
				run(time.Second, func() bool { return false })
				require.Less(t, len(got), 200, "or this test shows nothing")
			}
		})
	}
}
