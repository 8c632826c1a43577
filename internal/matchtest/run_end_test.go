package matchtest

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/local"
)

// runner runs a server and a client of it in real time.
type runner struct {
	*testing.T
	host     *local.Endpoint
	srv      *server.Server
	cli      *client.Client
	inDraw   atomic.Pointer[func()] // the client's draw calls it once
	over     context.Context        // ends with the test
	end      context.CancelFunc
	inSystem atomic.Pointer[func()] // a system of the server calls it once
	inRender atomic.Pointer[func()] // a render system of the client calls it once
}

var errBroken = errors.New("the socket is broken")

// broken is an endpoint whose Close fails.
type broken struct{ transport.Endpoint }

func (b broken) Close(c transport.Code, reason string) error {
	_ = b.Endpoint.Close(c, reason)
	return errBroken
}

// once calls the function that is stored, and forgets it.
func once(fn *atomic.Pointer[func()]) {
	if do := fn.Swap(nil); do != nil {
		(*do)()
	}
}

func newRunner(t *testing.T, breaks bool, most int, timeout time.Duration) *runner {
	r := &runner{T: t, host: local.New(nil)}
	r.over, r.end = context.WithCancel(context.Background())
	var served, played Walk
	sp, cp := served.Protocol(), played.Protocol()
	sp.Server("end", func(*foretick.ServerFrame, ecs.Rows) { once(&r.inSystem) }, ecs.Once())
	cp.Render("end", func(*foretick.Frame, ecs.Rows) { once(&r.inRender) }, ecs.Once())
	listen, dialled := transport.Endpoint(r.host), r.host.Dial(nil)
	if breaks {
		listen, dialled = broken{listen}, broken{dialled}
	}
	var err error
	r.srv, err = server.New(server.Config{Protocol: sp, Transport: listen, MaxClients: most, ReconnectWindow: -1})
	require.NoError(t, err)
	r.cli, err = client.New(client.Config{Protocol: cp, Transport: dialled, Timeout: timeout})
	require.NoError(t, err)
	return r
}

// serve runs the server, and play the client.
func (r *runner) serve(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- r.srv.Run(ctx) }()
	return ended
}

func (r *runner) play(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() {
		ended <- r.cli.Run(ctx, time.Second/60, func(client.View) { once(&r.inDraw) })
	}()
	return ended
}

// joins waits until the server has the client as a player.
func (r *runner) joins() {
	require.Eventually(r, func() bool { return len(r.srv.Players(nil)) == 1 }, 20*time.Second, time.Millisecond)
}

// held adds another player, who stays until the test ends.
func (r *runner) held() {
	other, err := client.New(client.Config{Protocol: new(Walk).Protocol(), Transport: r.host.Dial(nil)})
	require.NoError(r, err)
	go func() { _ = other.Run(r.over, time.Second/60, nil) }()
	r.joins()
}

// returns waits for the result of a Run.
func (r *runner) returns(ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		require.Fail(r, "Run does not return")
		return nil
	}
}

// TestServerRunEnds: Server.Run returns nil after each end that the program asked for, and an error
// after the others.
func TestServerRunEnds(t *testing.T) {
	costtest.Concurrent(t)
	type way struct {
		before   func(r *runner, stop func()) // called before Run
		during   func(r *runner, stop func()) // called when the client plays; nil: without a client
		deadline time.Duration
		breaks   bool // the endpoints cannot be closed without an error
		want     error
	}
	stop := func(_ *runner, stop func()) { stop() }
	at := func(end func(s *server.Server)) func(*runner, func()) {
		return func(r *runner, _ func()) { end(r.srv) }
	}
	byDo := func(end func(s *server.Server)) func(*runner, func()) {
		return func(r *runner, _ func()) {
			require.NoError(r, r.srv.Do("a test", func(*foretick.ServerFrame) { end(r.srv) }))
		}
	}
	closes := func(s *server.Server) { _ = s.Close("over") }
	lingers := func(s *server.Server) { _ = s.Shutdown("over", time.Second) }
	for name, c := range map[string]way{
		"context before Run":       {before: stop},
		"context":                  {during: stop},
		"context, broken endpoint": {during: stop, breaks: true, want: errBroken},
		"deadline":                 {deadline: 50 * time.Millisecond},
		"endpoint closed before":   {before: func(r *runner, stop func()) { _ = r.host.Close(transport.Closed, ""); stop() }},
		"Drain without a player":   {before: at(func(s *server.Server) { s.Drain("enough") })},
		"Drain with a player": {during: func(r *runner, _ func()) {
			r.srv.Drain("enough")
			time.Sleep(200 * time.Millisecond)
			require.Len(r, r.srv.Players(nil), 1, "the match goes on")
			r.inDraw.Store(new(func() { _ = r.cli.Close() }))
		}},
		"Shutdown":               {during: byDo(lingers)},
		"Shutdown before Run":    {before: at(lingers)},
		"Shutdown at once":       {during: byDo(func(s *server.Server) { _ = s.Shutdown("over", 0) })},
		"Close":                  {during: byDo(closes)},
		"Close before Run":       {before: at(closes)},
		"Close in a system":      {during: func(r *runner, _ func()) { r.inSystem.Store(new(func() { closes(r.srv) })) }},
		"Close, broken endpoint": {during: byDo(closes), breaks: true, want: errBroken},
		"CloseForRestart":        {during: byDo(func(s *server.Server) { _ = s.CloseForRestart("a new build") })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, c.breaks, 1, 0)
			defer r.end()
			ctx, stop := context.WithTimeout(context.Background(), cmp.Or(c.deadline, time.Hour))
			defer stop()
			if c.before != nil {
				c.before(r, stop)
			}
			served := r.serve(ctx)
			if c.during != nil {
				played := r.play(context.Background())
				r.joins()
				c.during(r, stop)
				_ = r.returns(played)
			}
			require.Equal(t, c.want, r.returns(served))
			require.ErrorIs(t, r.srv.Close(""), transport.ErrClosed, "Run has closed the server")
			require.Equal(t, c.want, r.srv.Run(context.Background()), "it stays so")
		})
	}
}

// TestClientRunEnds: Client.Run returns nil after each end that the program asked for. If the
// connection ends otherwise, it returns the reason that the server or the transport gave.
func TestClientRunEnds(t *testing.T) {
	costtest.Concurrent(t)
	type way struct {
		before   func(r *runner, stop func()) // called before Run
		during   func(r *runner, stop func()) // called when the client plays; nil: at once
		deadline time.Duration
		timeout  time.Duration
		breaks   bool
		most     int // how many players the server takes; 0: 1
		want     error
	}
	ends := func(code transport.Code, reason string) error {
		return &transport.DisconnectError{Code: code, Reason: reason}
	}
	stop := func(_ *runner, stop func()) { stop() }
	closes := func(r *runner, _ func()) { _ = r.cli.Close() }
	in := func(where func(r *runner) *atomic.Pointer[func()]) func(*runner, func()) {
		return func(r *runner, _ func()) { where(r).Store(new(func() { _ = r.cli.Close() })) }
	}
	draw := func(r *runner) *atomic.Pointer[func()] { return &r.inDraw }
	byDo := func(end func(r *runner, f *foretick.ServerFrame)) func(*runner, func()) {
		return func(r *runner, _ func()) {
			require.NoError(r, r.srv.Do("a test", func(f *foretick.ServerFrame) { end(r, f) }))
		}
	}
	for name, c := range map[string]way{
		"context before Run":       {before: stop},
		"context":                  {during: stop},
		"context, broken endpoint": {during: stop, breaks: true, want: errBroken},
		"deadline":                 {deadline: 50 * time.Millisecond},
		"Close before Run":         {before: closes},
		"Close in draw":            {during: in(draw)},
		"Close in a render system": {during: in(func(r *runner) *atomic.Pointer[func()] { return &r.inRender })},
		"Close, broken endpoint":   {during: in(draw), breaks: true, want: errBroken},
		"context, in the frame of the server's Close": {during: func(r *runner, stop func()) {
			var look func()
			look = func() {
				if r.cli.View().State == client.Closed {
					stop()
				}
				r.inDraw.Store(&look)
			}
			r.inDraw.Store(&look)
			require.NoError(r, r.srv.Do("a test", func(*foretick.ServerFrame) { _ = r.srv.Close("over") }))
		}},
		"Server.Close":           {during: byDo(func(r *runner, _ *foretick.ServerFrame) { _ = r.srv.Close("over") }), want: ends(transport.Closed, "over")},
		"Server.Shutdown":        {during: byDo(func(r *runner, _ *foretick.ServerFrame) { _ = r.srv.Shutdown("over", time.Second) }), want: ends(transport.Closed, "over")},
		"Server.CloseForRestart": {during: byDo(func(r *runner, _ *foretick.ServerFrame) { _ = r.srv.CloseForRestart("soon back") }), want: ends(transport.Restart, "soon back")},
		"kicked":                 {during: byDo(func(_ *runner, f *foretick.ServerFrame) { f.Kick(1, transport.Kicked, "idle") }), want: ends(transport.Kicked, "idle")},
		"banned":                 {during: byDo(func(_ *runner, f *foretick.ServerFrame) { f.Ban(1, time.Time{}, "cheats") }), want: ends(transport.Kicked, "cheats")},
		"refused":                {before: func(r *runner, _ func()) { r.held(); r.srv.Drain("another server") }, most: 2, want: ends(transport.Refused, "another server")},
		"full":                   {before: func(r *runner, _ func()) { r.held() }, want: ends(transport.Full, "the server is full")},
		"the server is gone":     {during: func(r *runner, _ func()) { _ = r.host.Close(transport.Gone, "no memory") }, want: ends(transport.Gone, "no memory")},
		"the server hangs":       {during: byDo(func(r *runner, _ *foretick.ServerFrame) { <-r.over.Done() }), timeout: time.Second, want: ends(transport.Timeout, "the server is silent")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, c.breaks, max(c.most, 1), c.timeout)
			defer r.end()
			served := r.serve(r.over)
			ctx, stop := context.WithTimeout(context.Background(), cmp.Or(c.deadline, time.Hour))
			defer stop()
			if c.before != nil {
				c.before(r, stop)
			}
			played := r.play(ctx)
			if c.during != nil {
				r.joins()
				c.during(r, stop)
			}
			require.Equal(t, c.want, r.returns(played))
			require.ErrorIs(t, r.cli.Close(), transport.ErrClosed, "Run has closed the client")
			r.end()
			_ = r.returns(served)
		})
	}
}
