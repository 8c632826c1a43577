//go:build unix

package proxytest

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// walk is the smallest game.
type walk struct {
	pos   ecs.Component[struct{ X int32 }]
	input ecs.Component[struct{ Step int8 }]
	body  ecs.Prefab
	names []string // of sessions
}

func (w *walk) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("walk", 1)
	p.Component(&w.pos, foretick.Predicted())
	p.Command(&w.input)
	p.Prefab(&w.body, "body", &w.pos, &w.input)
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, w.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X += int32(w.input.Slice(rows)[i].Step)
		}
	}, ecs.Read(&w.input), ecs.Write(&w.pos))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&w.body, player) })
	return p
}

// host runs a server on an endpoint until the end of the test.
func host(t *testing.T, e transport.Endpoint) *server.Server {
	var game walk
	srv, err := server.New(server.Config{Protocol: game.protocol(), Transport: e, MaxWaitingPerAddress: -1})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return srv
}

// page is the page of a server.
func page(t *testing.T, srv *server.Server) *web.Handler {
	in := inspect.New(inspect.Config{})
	require.NoError(t, in.AddServer("server", srv))
	h := web.New(in, web.Config{AllowEdit: true, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(h.Close)
	return h
}

// player is a client.
type player struct {
	*client.Client
	game  walk
	at    time.Time     // of the newest snapshot
	seen  uint64        // snapshots
	quiet time.Duration // the longest time without a snapshot
}

// join dials, and again where the connection is lost if redials.
func join(t *testing.T, redials bool, dial func() (transport.Endpoint, error)) *player {
	p := &player{}
	e, err := dial()
	require.NoError(t, err)
	cfg := client.Config{Protocol: p.game.protocol(), Transport: e,
		OnSession: func(s client.Session) { p.game.names = append(p.game.names, s.Kind.String()) },
		Sample:    client.Sample(&p.game.input, func(client.View) struct{ Step int8 } { return struct{ Step int8 }{1} })}
	if redials {
		cfg.Redial = dial
	}
	p.Client, err = client.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// play plays until something is so, or for a time, and reports whether it became so.
func (p *player) play(d time.Duration, so func() bool) bool {
	p.at, p.quiet = time.Now(), 0
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(4 * time.Millisecond) {
		now := time.Now()
		p.Step(now)
		p.quiet = max(p.quiet, now.Sub(p.at))
		if n := p.Stats().Snapshots; n != p.seen {
			p.seen, p.at = n, now
		}
		if so != nil && so() {
			return true
		}
	}
	return so == nil
}

func (p *player) plays() bool  { return p.View().State == client.Playing && p.seen > 5 }
func (p *player) closed() bool { return p.View().State == client.Closed }

// far is the address of a line to a server that takes 25 ms each way.
func far(t *testing.T, to string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go late(near, there)
			go late(there, near)
		}
	}()
	return l.Addr().String()
}

// late copies from one connection to another, 25 ms later. Its end too comes later.
func late(to, from net.Conn) {
	type piece struct {
		b  []byte
		at time.Time
	}
	line := make(chan piece, 4096)
	go func() {
		defer close(line)
		for {
			b := make([]byte, 4096)
			n, err := from.Read(b)
			if n > 0 {
				line <- piece{b[:n], time.Now().Add(25 * time.Millisecond)}
			}
			if err != nil {
				line <- piece{nil, time.Now().Add(25 * time.Millisecond)}
				return
			}
		}
	}()
	for p := range line {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.b); err != nil || p.b == nil {
			_ = to.Close()
		}
	}
	_ = from.Close()
}
