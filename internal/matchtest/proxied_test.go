package matchtest

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
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
	"github.com/foretick/foretick/transport/ws"
)

// proxy passes WebSockets on to a server, frame by frame, and can close them as proxies do.
type proxy struct {
	listener net.Listener
	to       string
	deny     atomic.Int32 // HTTP status with which the proxy refuses; 0: connections pass

	mu    sync.Mutex
	pairs map[*pair]struct{}
}

// pair is a connection on both sides of a proxy.
type pair struct {
	client, server net.Conn
	mu             sync.Mutex // held for writes, so that no frame begins inside of another
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, to: to, pairs: map[*pair]struct{}{}}
	t.Cleanup(func() { l.Close(); p.end(0, true, true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) url() string { return "ws://" + p.listener.Addr().String() }

func (p *proxy) serve(cl net.Conn) {
	defer cl.Close()
	in := bufio.NewReader(cl)
	if status := int(p.deny.Load()); status != 0 {
		if _, err := http.ReadRequest(in); err == nil {
			_, _ = io.WriteString(cl, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
		return
	}
	srv, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer srv.Close()
	from := bufio.NewReader(srv)
	head(in, srv)
	head(from, cl)
	c := &pair{client: cl, server: srv}
	p.mu.Lock()
	p.pairs[c] = struct{}{}
	p.mu.Unlock()
	done := make(chan struct{}, 2)
	pass := func(from *bufio.Reader, to net.Conn) {
		for c.frame(from, to) {
		}
		done <- struct{}{}
	}
	go pass(in, srv)
	go pass(from, cl)
	<-done
	p.mu.Lock()
	delete(p.pairs, c)
	p.mu.Unlock()
}

// head passes on the lines of a request or of its response, up to the empty line.
func head(from *bufio.Reader, to io.Writer) {
	for {
		line, err := from.ReadString('\n')
		if _, werr := io.WriteString(to, line); err != nil || werr != nil || line == "\r\n" {
			return
		}
	}
}

// frame passes on one frame (RFC 6455, section 5.2), and reports whether it did.
func (c *pair) frame(from *bufio.Reader, to net.Conn) bool {
	b := make([]byte, 2, 64)
	if _, err := io.ReadFull(from, b); err != nil {
		return false
	}
	more, n := 0, int(b[1]&0x7f)
	if n == 126 {
		more = 2
	}
	if b[1]&0x80 != 0 {
		more += 4
	}
	b = append(b, make([]byte, more)...)
	if _, err := io.ReadFull(from, b[2:]); err != nil || n == 127 {
		return false
	}
	if n == 126 {
		n = int(binary.BigEndian.Uint16(b[2:]))
	}
	at := len(b)
	b = append(b, make([]byte, n)...)
	if _, err := io.ReadFull(from, b[at:]); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := to.Write(b)
	return err == nil
}

// end closes all connections with a close frame that has this status. For 0 there is no close
// frame, and for 1005 the close frame has no status.
func (p *proxy) end(status int, cl, srv bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.mu.Lock()
		if code := binary.BigEndian.AppendUint16(nil, uint16(status)); status != 0 {
			if status == 1005 {
				code = nil
			}
			if cl {
				_, _ = c.client.Write(append([]byte{0x88, byte(len(code))}, code...))
			}
			if srv { // a client's frame is masked; the mask is zero
				_, _ = c.server.Write(append([]byte{0x88, 0x80 | byte(len(code)), 0, 0, 0, 0}, code...))
			}
		}
		c.mu.Unlock()
		c.client.Close()
		c.server.Close()
	}
}

// stroll is a minimal game, whose server records joins and leaves.
type stroll struct {
	pos   ecs.Component[struct{ X int32 }]
	input ecs.Component[struct{ Step int8 }]
	body  ecs.Prefab

	away, left, back atomic.Int32
}

func (w *stroll) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("stroll", 1)
	p.Component(&w.pos, foretick.Predicted())
	p.Command(&w.input)
	p.Prefab(&w.body, "body", &w.pos, &w.input)
	p.Shared("walk", func(_ *foretick.Frame, rows ecs.Rows) {
		for i, pos := 0, w.pos.Slice(rows); i < len(pos); i++ {
			pos[i].X += int32(w.input.Slice(rows)[i].Step)
		}
	}, ecs.Read(&w.input), ecs.Write(&w.pos))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&w.body, player) })
	p.OnDisconnect(func(*foretick.ServerFrame, foretick.PlayerID) { w.away.Add(1) })
	p.OnReconnect(func(*foretick.ServerFrame, foretick.PlayerID) { w.back.Add(1) })
	p.OnLeave(func(*foretick.ServerFrame, foretick.PlayerID) { w.left.Add(1) })
	return p
}

// proxied is a running server behind a proxy.
type proxied struct {
	*proxy
	game stroll
}

func newProxied(t *testing.T) *proxied {
	e, err := ws.Listen("127.0.0.1:0", ws.Config{})
	require.NoError(t, err)
	m := &proxied{}
	srv, err := server.New(server.Config{Protocol: m.game.protocol(), Transport: e})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Run(ctx) }()
	m.proxy = newProxy(t, e.LocalAddr().String())
	t.Cleanup(func() { stop(); <-done })
	return m
}

// visitor is a client of a proxied server.
type visitor struct {
	*client.Client
	game     stroll
	sessions []string
}

func (m *proxied) join(t *testing.T, redials bool, token []byte) *visitor {
	v := &visitor{}
	dial := func() (transport.Endpoint, error) { return ws.Dial(m.url(), ws.Config{}) }
	e, err := dial()
	require.NoError(t, err)
	cfg := client.Config{Protocol: v.game.protocol(), Transport: e, ResumeToken: token,
		OnSession: func(s client.Session) { v.sessions = append(v.sessions, s.Kind.String()) },
		Sample:    client.Sample(&v.game.input, func(client.View) struct{ Step int8 } { return struct{ Step int8 }{1} })}
	if redials {
		cfg.Redial = dial
	}
	v.Client, err = client.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// until plays until so returns true for each visitor, or for 10 s.
func until(so func(v *visitor) bool, vs ...*visitor) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		missing := 0
		for _, v := range vs {
			if v.Step(time.Now()); !so(v) {
				missing++
			}
		}
		if missing == 0 {
			return true
		}
	}
	return false
}

func (v *visitor) plays() bool { return v.View().State == client.Playing }

// pass plays for this long.
func pass(d time.Duration, vs ...*visitor) {
	begun := time.Now()
	until(func(*visitor) bool { return time.Since(begun) > d }, vs...)
}

// interrupted is a way in which a connection ends that neither end wants to end.
type interrupted struct {
	name           string
	status         int    // status of the close frame, see proxy.end
	client, server bool   // ends that get the close frame
	deny           int    // HTTP status with which the proxy refuses in the half second after; 0: none
	page           bool   // the client ends with its page, and the next page has its token
	ends           string // text of the client's error; empty: it gets its place back
}

// TestInterruptedConnections: if a proxy closes a connection, with whatever status, the client
// reconnects to its place. So does a browser's page that is loaded again. While a proxy without a
// server refuses with a temporary status, the client continues to try. A permanent status ends the
// client, and its error names the status.
func TestInterruptedConnections(t *testing.T) {
	costtest.Sockets(t)
	var cases []interrupted
	for _, status := range []int{0, 1000, 1001, 1005, 1011, 1012, 1013, 1014} {
		cases = append(cases, interrupted{name: "proxy closes", status: status, client: true, server: true})
	}
	for _, status := range []int{0, 1001, 1005} {
		cases = append(cases, interrupted{name: "page goes", status: status, server: true, page: true})
	}
	for _, status := range []int{200, 404, 408, 425, 429, 500, 502, 503, 504} {
		cases = append(cases, interrupted{name: "proxy answers", client: true, server: true, deny: status})
	}
	for _, status := range []int{400, 401, 403, 426} {
		cases = append(cases, interrupted{name: "proxy refuses", client: true, server: true, deny: status,
			ends: "HTTP status " + strconv.Itoa(status) + " " + http.StatusText(status)})
	}
	var ms []*proxied
	var vs []*visitor
	for _, c := range cases {
		m := newProxied(t)
		ms, vs = append(ms, m), append(vs, m.join(t, !c.page, nil))
	}
	require.True(t, until((*visitor).plays, vs...))
	pass(3*time.Second, vs...) // places are held no longer than their players have played
	for i, m := range ms {
		m.deny.Store(int32(cases[i].deny))
		m.end(cases[i].status, cases[i].client, cases[i].server)
	}
	for i, m := range ms {
		if cases[i].page {
			vs[i] = m.join(t, false, vs[i].ResumeToken())
			vs[i].sessions = []string{"joined"} // the session of the page before
		}
	}
	pass(time.Second/2, vs...)
	for _, m := range ms {
		m.deny.Store(0)
	}
	require.True(t, until(func(v *visitor) bool { return len(v.sessions) == 2 || v.View().State == client.Closed }, vs...))
	for i, c := range cases {
		name := fmt.Sprintf("%s, status %d, HTTP status %d", c.name, c.status, c.deny)
		if c.ends != "" {
			require.ErrorContains(t, vs[i].View().Err, c.ends, name)
			continue
		}
		require.Equal(t, []string{"joined", "resumed"}, vs[i].sessions, "%s: %v", name, vs[i].View().Err)
		g := &ms[i].game
		require.Equal(t, []int32{1, 1, 0}, []int32{g.away.Load(), g.back.Load(), g.left.Load()}, name)
	}
	require.NoError(t, vs[0].Close())
	require.Eventually(t, func() bool { return ms[0].game.left.Load() == 1 }, 5*time.Second, 5*time.Millisecond, "who says goodbye leaves at once")
}
